//! Placements of agents, by the clock the store was given.

use std::sync::Arc;

use async_trait::async_trait;
use compass_domain::{
    Account, AccountId, AccountKind, TenantId, UnixMillis, WakePolicy,
    channel::ChannelKind,
    delivery::{Lane, Target},
    mention, wake,
};
use compass_hub::ports::{NewPlacement, Placement, Placements};
use compass_ports::StorageError;

use crate::{
    MemoryStorage,
    audience::owing,
    ledger::live,
    rows::{MessageRow, TenantRows},
};

#[async_trait]
impl Placements for MemoryStorage {
    async fn upsert(&self, tenant: &TenantId, placement: &NewPlacement) -> Result<(), StorageError> {
        let NewPlacement { account, runner, container, wake } = placement.clone();
        let now = self.clock.now();
        let mut turn = self.turn().await;
        let rows = turn.world.tenant_mut(tenant);
        let is_taken =
            rows.placements.values().any(|row| row.container == container && row.account != account);
        if is_taken {
            return Err(StorageError::Conflict(format!("container {container:?} belongs to another agent")));
        }
        let before = rows.placements.get(&account).map(|row| row.wake);
        let row = Placement {
            account,
            runner,
            container,
            wake: wake.or(before).unwrap_or_default(),
            wake_until: None,
            wake_failures: 0,
            wake_not_before: None,
            wake_error: None,
            placed_at: now,
        };
        rows.placements.insert_mut(account, row);
        turn.keep();
        Ok(())
    }

    async fn find(&self, tenant: &TenantId, account: AccountId) -> Result<Option<Placement>, StorageError> {
        Ok(self.world().tenant(tenant).placements.get(&account).cloned())
    }

    async fn find_container(
        &self,
        tenant: &TenantId,
        container: &str,
    ) -> Result<Option<Placement>, StorageError> {
        let rows = self.world().tenant(tenant);
        Ok(rows.placements.values().find(|row| row.container == container).cloned())
    }

    async fn of_runner(&self, tenant: &TenantId, runner: &str) -> Result<Vec<Placement>, StorageError> {
        Ok(sorted(&self.world().tenant(tenant), |row| row.runner == runner))
    }

    async fn list(&self, tenant: &TenantId) -> Result<Vec<Placement>, StorageError> {
        Ok(sorted(&self.world().tenant(tenant), |_| true))
    }

    async fn remove(&self, tenant: &TenantId, account: AccountId) -> Result<(), StorageError> {
        let mut turn = self.turn().await;
        turn.world.tenant_mut(tenant).placements.remove_mut(&account);
        turn.keep();
        Ok(())
    }

    async fn set_wake_policies(
        &self,
        tenant: &TenantId,
        runner: &str,
        policies: &[(AccountId, WakePolicy)],
    ) -> Result<(), StorageError> {
        let mut turn = self.turn().await;
        let placements = &mut turn.world.tenant_mut(tenant).placements;
        for (account, policy) in policies {
            if let Some(row) = placements.get_mut(account).filter(|row| row.runner == runner) {
                row.wake = *policy;
            }
        }
        turn.keep();
        Ok(())
    }

    async fn due_wakes(&self, tenant: &TenantId, runners: &[String]) -> Result<Vec<AccountId>, StorageError> {
        let world = self.world();
        let (rows, now) = (world.tenant(tenant), self.clock.now());
        let is_over = |at: Option<UnixMillis>| at.is_none_or(|at| at <= now);
        let sleeps = |row: &Placement| {
            is_over(row.wake_until)
                && is_over(row.wake_not_before)
                && live(&world, &rows, now).all(|session| session.account != row.account)
        };
        let wakes = |row: &Placement| {
            let agent = rows.accounts.find(row.account);
            agent.is_some_and(|agent| owing(&rows, agent).iter().any(|owed| wakes(&rows, agent, row, owed)))
        };
        let found = sorted(&rows, |row| runners.contains(&row.runner) && sleeps(row) && wakes(row));
        Ok(found.into_iter().map(|row| row.account).collect())
    }

    async fn claim_wake(
        &self,
        tenant: &TenantId,
        account: AccountId,
        for_ms: u32,
    ) -> Result<bool, StorageError> {
        let mut turn = self.turn().await;
        let now = self.clock.now();
        let rows = turn.world.tenant(tenant);
        if live(&turn.world, &rows, now).any(|session| session.account == account) {
            return Ok(false);
        }
        let is_over = |at: Option<UnixMillis>| at.is_none_or(|at| at <= now);
        let row = turn.world.tenant_mut(tenant).placements.get_mut(&account).filter(|row| {
            row.wake != WakePolicy::Never && is_over(row.wake_until) && is_over(row.wake_not_before)
        });
        let Some(row) = row else { return Ok(false) };
        row.wake_until = Some(UnixMillis(now.0.saturating_add(i64::from(for_ms))));
        turn.keep();
        Ok(true)
    }

    async fn wake_done(
        &self,
        tenant: &TenantId,
        account: AccountId,
        outcome: Result<(), &str>,
    ) -> Result<(), StorageError> {
        let mut turn = self.turn().await;
        let now = self.clock.now();
        let Some(row) = turn.world.tenant_mut(tenant).placements.get_mut(&account) else { return Ok(()) };
        row.wake_until = None;
        match outcome {
            Ok(()) => {
                row.wake_failures = 0;
                row.wake_not_before = None;
                row.wake_error = None;
            }
            Err(text) => {
                row.wake_not_before = Some(wake::not_before(now, row.wake_failures));
                row.wake_failures = row.wake_failures.saturating_add(1);
                row.wake_error = Some(wake::shown_error(text));
            }
        }
        turn.keep();
        Ok(())
    }
}

/// True if a message that an agent is owed starts it.
fn wakes(
    rows: &TenantRows,
    agent: &Account,
    placement: &Placement,
    (lane, row): &(Lane, Arc<MessageRow>),
) -> bool {
    let AccountKind::Agent { home_channel, .. } = agent.kind else { return false };
    let (message, channel) = (&row.message, row.message.channel());
    let is_mentioned = mention::names(&message.mentions(), agent.handle.as_str());
    let lane = if is_mentioned { Lane::Steer } else { *lane };
    let answers_it = message.answer().is_some_and(|answer| answer.asker() == agent.id);
    let is_dm = rows.channels.find(channel).is_some_and(|row| row.kind == ChannelKind::Dm);
    let target = Target { account: agent.id, lane, owed: false };
    placement.wake.wakes(&target, answers_it, channel == home_channel || is_dm)
}

fn sorted(rows: &TenantRows, wanted: impl Fn(&Placement) -> bool) -> Vec<Placement> {
    let mut found: Vec<Placement> = rows.placements.values().filter(|row| wanted(row)).cloned().collect();
    found.sort_by_key(|row| row.account);
    found
}
