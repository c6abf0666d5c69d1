//! Sessions as rows, leases by the clock the store was given.

use async_trait::async_trait;
use compass_domain::{AccountId, LifecycleState, MessageId, NodeId, SessionId, TenantId, UnixMillis};
use compass_hub::ports::{Ledger, LiveSession, OpenSession, StoredSession};
use compass_ports::StorageError;

use crate::{
    MemoryStorage,
    rows::{TenantRows, World},
};

/// How long a lease lasts without a renewal.
const LEASE_MS: i64 = 15_000;

#[async_trait]
impl Ledger for MemoryStorage {
    async fn renew_lease(&self, node: NodeId) -> Result<(), StorageError> {
        let mut turn = self.turn().await;
        let until = UnixMillis(self.clock.now().0.saturating_add(LEASE_MS));
        turn.world.leases.insert_mut(node, until);
        turn.keep();
        Ok(())
    }

    async fn release(&self, node: NodeId) -> Result<(), StorageError> {
        let mut turn = self.turn().await;
        turn.world.leases.remove_mut(&node);
        for rows in turn.world.tenants.values_mut() {
            let sessions = &mut rows.deliveries.sessions;
            let held = sessions.values().filter(|session| session.node == node);
            let held: Vec<SessionId> = held.map(|session| session.session).collect();
            for session in held {
                sessions.remove_mut(&session);
            }
        }
        turn.keep();
        Ok(())
    }

    async fn open_session(
        &self,
        tenant: &TenantId,
        node: NodeId,
        session: &OpenSession,
    ) -> Result<(), StorageError> {
        let OpenSession { session: id, account, ref runner, mode } = *session;
        let row = LiveSession {
            session: id,
            account,
            runner: runner.clone(),
            node,
            mode,
            state: LifecycleState::default(),
            state_number: 0,
        };
        let mut turn = self.turn().await;
        let stored = StoredSession { session: id, account, runner: runner.clone(), mode };
        let deliveries = &mut turn.world.tenant_mut(tenant).deliveries;
        deliveries.sessions.insert_mut(id, row);
        deliveries.opened.insert_mut(id, stored);
        turn.keep();
        Ok(())
    }

    async fn record_state(
        &self,
        tenant: &TenantId,
        session: SessionId,
        state: LifecycleState,
        number: u64,
    ) -> Result<bool, StorageError> {
        let mut turn = self.turn().await;
        let row = turn.world.tenant_mut(tenant).deliveries.sessions.get_mut(&session);
        let Some(row) = row.filter(|row| row.state_number < number) else { return Ok(false) };
        row.state = state;
        row.state_number = number;
        turn.keep();
        Ok(true)
    }

    async fn find_sessions(
        &self,
        tenant: &TenantId,
        sessions: &[SessionId],
    ) -> Result<Vec<StoredSession>, StorageError> {
        let world = self.world();
        let rows = world.tenant(tenant);
        let mut asked = sessions.to_vec();
        asked.sort_unstable();
        asked.dedup();
        Ok(asked.iter().filter_map(|session| rows.deliveries.opened.get(session).cloned()).collect())
    }

    async fn close_session(&self, tenant: &TenantId, session: SessionId) -> Result<(), StorageError> {
        let mut turn = self.turn().await;
        turn.world.tenant_mut(tenant).deliveries.sessions.remove_mut(&session);
        turn.keep();
        Ok(())
    }

    async fn live_sessions(
        &self,
        tenant: &TenantId,
        accounts: Option<&[AccountId]>,
    ) -> Result<Vec<LiveSession>, StorageError> {
        let world = self.world();
        let rows = world.tenant(tenant);
        let asked = |session: &&LiveSession| accounts.is_none_or(|some| some.contains(&session.account));
        let mut live: Vec<LiveSession> =
            live(&world, &rows, self.clock.now()).filter(asked).cloned().collect();
        live.sort_by_key(|session| session.session);
        Ok(live)
    }

    async fn unrouted(
        &self,
        node: NodeId,
        age_ms: u32,
        limit: u32,
    ) -> Result<Vec<(TenantId, MessageId, AccountId)>, StorageError> {
        let world = self.world();
        let now = self.clock.now();
        let until = UnixMillis(now.0.saturating_sub(i64::from(age_ms)));
        let mut found = Vec::new();
        for (tenant, rows) in &world.tenants {
            // A message of an agent that another node holds is that node's.
            let is_elsewhere = |author| {
                let mut nodes =
                    live(&world, rows, now).filter(|session| session.account == author).peekable();
                nodes.peek().is_some() && nodes.all(|session| session.node != node)
            };
            let waiting = rows.deliveries.unrouted().filter_map(|(position, id)| {
                let author = rows.messages.find(id).filter(|row| row.message.at() <= until)?.message.author();
                (!is_elsewhere(author)).then(|| (position, tenant.clone(), id, author))
            });
            found.extend(waiting.take(limit as usize));
        }
        found.sort_by_key(|(position, ..)| *position);
        found.truncate(limit as usize);
        Ok(found.into_iter().map(|(_, tenant, id, author)| (tenant, id, author)).collect())
    }
}

pub(crate) fn live<'a>(
    world: &'a World,
    rows: &'a TenantRows,
    now: UnixMillis,
) -> impl Iterator<Item = &'a LiveSession> {
    let sessions = rows.deliveries.sessions.values();
    sessions.filter(move |session| world.leases.get(&session.node).is_some_and(|until| now < *until))
}
