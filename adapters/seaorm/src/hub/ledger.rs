//! Sessions and node leases as rows, by the database's clock.

use async_trait::async_trait;
use compass_domain::{AccountId, LifecycleState, MessageId, NodeId, SessionId, TenantId};
use compass_hub::ports::{AttachMode, Ledger, LiveSession, OpenSession, StoredSession};
use compass_ports::StorageError;
use sea_orm::QueryResult;

use crate::{
    connection::SeaStorage,
    dialect::Dialect,
    ids::{id, tenant as tenant_value},
    rows::Columns as _,
    transaction::Access,
};

/// How long a lease lasts.
const LEASE_MS: i64 = 15_000;

#[async_trait]
impl Ledger for SeaStorage {
    async fn renew_lease(&self, node: NodeId) -> Result<(), StorageError> {
        let mut tx = self.pools.system(Access::Write).await?;
        let sql = match tx.dialect() {
            Dialect::Postgres => "SELECT compass_renew_lease($1, $2)".to_owned(),
            Dialect::Sqlite => format!(
                "INSERT INTO nodes (id, lease_until_ms) VALUES ($1, {now} + $2)
                 ON CONFLICT (id) DO UPDATE SET lease_until_ms = excluded.lease_until_ms",
                now = Dialect::Sqlite.now_ms()
            ),
        };
        tx.execute(&sql, vec![id(node), LEASE_MS.into()]).await?;
        tx.commit().await
    }

    async fn release(&self, node: NodeId) -> Result<(), StorageError> {
        let mut tx = self.pools.system(Access::Write).await?;
        match tx.dialect() {
            Dialect::Postgres => {
                tx.execute("SELECT compass_release($1)", vec![id(node)]).await?;
            }
            Dialect::Sqlite => {
                let close = format!(
                    "UPDATE sessions SET closed_at_ms = {now} WHERE node = $1 AND closed_at_ms IS NULL",
                    now = Dialect::Sqlite.now_ms()
                );
                tx.execute(&close, vec![id(node)]).await?;
                tx.execute("UPDATE nodes SET lease_until_ms = 0 WHERE id = $1", vec![id(node)]).await?;
            }
        }
        tx.commit().await
    }

    async fn open_session(
        &self,
        tenant: &TenantId,
        node: NodeId,
        session: &OpenSession,
    ) -> Result<(), StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Write).await?;
        let sql = format!(
            "INSERT INTO sessions (id, tenant, account, runner, node, attach_mode)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (id) DO UPDATE SET account = excluded.account, runner = excluded.runner,
                 node = excluded.node, attach_mode = excluded.attach_mode, lifecycle = 0, state_number = 0,
                 opened_at_ms = {now}, closed_at_ms = NULL
             WHERE sessions.tenant = excluded.tenant",
            now = tx.dialect().now_ms()
        );
        let values = vec![
            id(session.session),
            tenant_value(tenant),
            id(session.account),
            session.runner.as_str().into(),
            id(node),
            attach_mode(session.mode).into(),
        ];
        if tx.execute(&sql, values).await? == 0 {
            return Err(StorageError::Conflict(format!("session {} is taken", session.session)));
        }
        tx.commit().await
    }

    async fn record_state(
        &self,
        tenant: &TenantId,
        session: SessionId,
        state: LifecycleState,
        number: u64,
    ) -> Result<bool, StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Write).await?;
        let sql = "UPDATE sessions SET lifecycle = $1, state_number = $2
                   WHERE id = $3 AND tenant = $4 AND closed_at_ms IS NULL AND state_number < $2";
        let values = vec![lifecycle(state).into(), stored(number)?.into(), id(session), tenant_value(tenant)];
        let recorded = tx.execute(sql, values).await? == 1;
        tx.commit().await?;
        Ok(recorded)
    }

    async fn find_sessions(
        &self,
        tenant: &TenantId,
        sessions: &[SessionId],
    ) -> Result<Vec<StoredSession>, StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Snapshot).await?;
        let sql = format!(
            "SELECT id, account, runner, attach_mode FROM sessions
             WHERE tenant || '' = $1 AND id {} ORDER BY id",
            tx.dialect().any_id(2)
        );
        let ids = tx.dialect().id_list(sessions.iter().copied());
        let rows = tx.all(&sql, vec![tenant_value(tenant), ids]).await?;
        let stored = rows.iter().map(|row| {
            Ok(StoredSession {
                session: row.id("id")?,
                account: row.id("account")?,
                runner: row.get("runner")?,
                mode: restore_mode(row.get("attach_mode")?),
            })
        });
        stored.collect()
    }

    async fn close_session(&self, tenant: &TenantId, session: SessionId) -> Result<(), StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Write).await?;
        let sql = format!(
            "UPDATE sessions SET closed_at_ms = {now} WHERE id = $1 AND tenant = $2 AND closed_at_ms IS NULL",
            now = tx.dialect().now_ms()
        );
        tx.execute(&sql, vec![id(session), tenant_value(tenant)]).await?;
        tx.commit().await
    }

    async fn live_sessions(
        &self,
        tenant: &TenantId,
        accounts: Option<&[AccountId]>,
    ) -> Result<Vec<LiveSession>, StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Snapshot).await?;
        let dialect = tx.dialect();
        let mut values = vec![tenant_value(tenant)];
        let (mut of, mut only) = ("s.tenant", String::new());
        if let Some(accounts) = accounts {
            // The tenant's index is no choice where the accounts are named.
            of = "s.tenant || ''";
            only = format!("AND s.account {}", dialect.any_id(2));
            values.push(dialect.id_list(accounts.iter().copied()));
        }
        let sql = format!(
            "SELECT s.id, s.account, s.runner, s.node, s.attach_mode, s.lifecycle, s.state_number
             FROM sessions s JOIN nodes n ON n.id = s.node
             WHERE {of} = $1 AND s.closed_at_ms IS NULL AND n.lease_until_ms > {now} {only}
             ORDER BY s.opened_at_ms, s.id",
            now = dialect.now_ms()
        );
        tx.all(&sql, values).await?.iter().map(live_session).collect()
    }

    async fn unrouted(
        &self,
        node: NodeId,
        age_ms: u32,
        limit: u32,
    ) -> Result<Vec<(TenantId, MessageId, AccountId)>, StorageError> {
        let mut tx = self.pools.system(Access::Snapshot).await?;
        let sql = match tx.dialect() {
            Dialect::Postgres => {
                "SELECT tenant, message, author FROM compass_unrouted($1, $2, $3)".to_owned()
            }
            Dialect::Sqlite => format!(
                "SELECT u.tenant, u.message, u.author FROM unrouted u
                 WHERE u.recorded_at_ms <= {now} - $2 AND (
                     NOT EXISTS (
                         SELECT 1 FROM sessions s JOIN nodes n ON n.id = s.node
                         WHERE s.account = u.author AND s.closed_at_ms IS NULL AND n.lease_until_ms > {now})
                     OR EXISTS (
                         SELECT 1 FROM sessions s
                         WHERE s.account = u.author AND s.closed_at_ms IS NULL AND s.node = $1))
                 ORDER BY u.recorded_at_ms, u.message LIMIT $3",
                now = Dialect::Sqlite.now_ms()
            ),
        };
        let values = vec![id(node), i64::from(age_ms).into(), i64::from(limit).into()];
        let rows = tx.all(&sql, values).await?;
        let found = rows.iter().map(|row| {
            let tenant: String = row.get("tenant")?;
            Ok((TenantId::new(&tenant), row.id("message")?, row.id("author")?))
        });
        found.collect()
    }
}

fn live_session(row: &QueryResult) -> Result<LiveSession, StorageError> {
    Ok(LiveSession {
        session: row.id("id")?,
        account: row.id("account")?,
        runner: row.get("runner")?,
        node: row.id("node")?,
        mode: restore_mode(row.get("attach_mode")?),
        state: restore_lifecycle(row.get("lifecycle")?),
        state_number: row.count("state_number")?,
    })
}

fn attach_mode(mode: AttachMode) -> i16 {
    match mode {
        AttachMode::Deliveries => 0,
        AttachMode::PresenceOnly => 1,
    }
}

fn restore_mode(number: i16) -> AttachMode {
    if number == 0 { AttachMode::Deliveries } else { AttachMode::PresenceOnly }
}

fn lifecycle(state: LifecycleState) -> i16 {
    use LifecycleState as S;
    match state {
        S::Unspecified => 0,
        S::Starting => 1,
        S::Ready => 2,
        S::Working => 3,
        S::Stopped => 4,
        S::Errored => 5,
        S::Disconnected => 6,
    }
}

/// A number that no state has is a later program's; nothing is known of it here.
fn restore_lifecycle(number: i16) -> LifecycleState {
    use LifecycleState as S;
    match number {
        1 => S::Starting,
        2 => S::Ready,
        3 => S::Working,
        4 => S::Stopped,
        5 => S::Errored,
        6 => S::Disconnected,
        _ => S::Unspecified,
    }
}

fn stored(number: u64) -> Result<i64, StorageError> {
    i64::try_from(number).map_err(|_| StorageError::Internal(format!("state number {number} is too large")))
}
