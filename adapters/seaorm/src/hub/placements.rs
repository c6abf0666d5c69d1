//! Placements of agents and the claims on their starts, by the database's clock.

use async_trait::async_trait;
use compass_domain::{AccountId, Corrupt, TenantId, WakePolicy, wake};
use compass_hub::ports::{NewPlacement, Placement, Placements};
use compass_ports::StorageError;
use sea_orm::{QueryResult, Value};

use super::owing;
use crate::{
    connection::SeaStorage,
    dialect::Dialect,
    ids::{id, tenant as tenant_value},
    rows::Columns as _,
    transaction::Access,
};

const COLUMNS: &str = "p.account, p.runner, p.container, p.wake, p.wake_until_ms, p.wake_failures,
    p.wake_not_before_ms, p.wake_error, p.placed_at_ms";

#[async_trait]
impl Placements for SeaStorage {
    async fn upsert(&self, tenant: &TenantId, placement: &NewPlacement) -> Result<(), StorageError> {
        let NewPlacement { account, runner, container, wake } = placement;
        let mut tx = self.pools.tenant(tenant, Access::Write).await?;
        let sql = format!(
            "INSERT INTO placements (account, tenant, runner, container, wake)
             VALUES ($1, $2, $3, $4, coalesce($5, 0))
             ON CONFLICT (account) DO UPDATE SET runner = excluded.runner, container = excluded.container,
                 wake = coalesce($5, placements.wake), wake_until_ms = NULL, wake_failures = 0,
                 wake_not_before_ms = NULL, wake_error = NULL, placed_at_ms = {now}
             WHERE placements.tenant = excluded.tenant",
            now = tx.dialect().now_ms()
        );
        let wake: Option<i16> = wake.map(stored_policy);
        let values = vec![
            id(*account),
            tenant_value(tenant),
            runner.as_str().into(),
            container.as_str().into(),
            wake.into(),
        ];
        match tx.execute(&sql, values).await {
            Ok(1) => tx.commit().await,
            Ok(_) => Err(StorageError::Conflict(format!("agent {account} is placed elsewhere"))),
            Err(error) if error.is_unique_violation() => {
                Err(StorageError::Conflict(format!("container {container:?} belongs to another agent")))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn find(&self, tenant: &TenantId, account: AccountId) -> Result<Option<Placement>, StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Snapshot).await?;
        let sql = format!("SELECT {COLUMNS} FROM placements p WHERE p.account = $1 AND p.tenant = $2");
        let row = tx.one(&sql, vec![id(account), tenant_value(tenant)]).await?;
        row.as_ref().map(placement).transpose()
    }

    async fn find_container(
        &self,
        tenant: &TenantId,
        container: &str,
    ) -> Result<Option<Placement>, StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Snapshot).await?;
        let sql = format!("SELECT {COLUMNS} FROM placements p WHERE p.container = $1 AND p.tenant = $2");
        let row = tx.one(&sql, vec![container.into(), tenant_value(tenant)]).await?;
        row.as_ref().map(placement).transpose()
    }

    async fn of_runner(&self, tenant: &TenantId, runner: &str) -> Result<Vec<Placement>, StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Snapshot).await?;
        // The tenant's index is no choice where the runner is named.
        let sql = format!(
            "SELECT {COLUMNS} FROM placements p
             WHERE p.runner = $1 AND (p.tenant || '') = $2 ORDER BY p.account"
        );
        tx.all(&sql, vec![runner.into(), tenant_value(tenant)]).await?.iter().map(placement).collect()
    }

    async fn list(&self, tenant: &TenantId) -> Result<Vec<Placement>, StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Snapshot).await?;
        let sql = format!("SELECT {COLUMNS} FROM placements p WHERE p.tenant = $1 ORDER BY p.account");
        tx.all(&sql, vec![tenant_value(tenant)]).await?.iter().map(placement).collect()
    }

    async fn remove(&self, tenant: &TenantId, account: AccountId) -> Result<(), StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Write).await?;
        let sql = "DELETE FROM placements WHERE account = $1 AND tenant = $2";
        tx.execute(sql, vec![id(account), tenant_value(tenant)]).await?;
        tx.commit().await
    }

    async fn set_wake_policies(
        &self,
        tenant: &TenantId,
        runner: &str,
        policies: &[(AccountId, WakePolicy)],
    ) -> Result<(), StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Write).await?;
        // One statement for each of the three policies, however many agents there are; rows in order of their ids.
        for policy in [WakePolicy::Mention, WakePolicy::Any, WakePolicy::Never] {
            let mut agents: Vec<AccountId> =
                policies.iter().filter(|(_, of)| *of == policy).map(|(account, _)| *account).collect();
            if agents.is_empty() {
                continue;
            }
            agents.sort_unstable();
            let sql = format!(
                "UPDATE placements SET wake = $1 WHERE runner = $2 AND tenant = $3 AND account {agents}",
                agents = tx.dialect().any_id(4)
            );
            let values: Vec<Value> = vec![
                stored_policy(policy).into(),
                runner.into(),
                tenant_value(tenant),
                tx.dialect().id_list(agents),
            ];
            tx.execute(&sql, values).await?;
        }
        tx.commit().await
    }

    async fn due_wakes(&self, tenant: &TenantId, runners: &[String]) -> Result<Vec<AccountId>, StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Snapshot).await?;
        let dialect = tx.dialect();
        let sql = format!(
            "SELECT p.account FROM placements p CROSS JOIN {agent}
             WHERE p.runner {runners} AND (p.tenant || '') = $1 AND a.id = p.account AND p.wake <> $3
                 AND (p.wake_until_ms IS NULL OR p.wake_until_ms <= {now})
                 AND (p.wake_not_before_ms IS NULL OR p.wake_not_before_ms <= {now})
                 AND NOT coalesce((
                     SELECT true FROM sessions s CROSS JOIN nodes n
                     WHERE s.account = p.account AND n.id = s.node AND s.closed_at_ms IS NULL
                         AND n.lease_until_ms > {now} LIMIT 1), false)
                 AND ({owed} OR {direct} OR (p.wake = $4 AND {called}))
             ORDER BY p.account",
            agent = match dialect {
                Dialect::Postgres => "LATERAL (SELECT * FROM accounts x WHERE x.id = p.account LIMIT 1) a",
                Dialect::Sqlite => "accounts a",
            },
            runners = dialect.any_text(2),
            now = dialect.now_ms(),
            owed = owing::has_owed_row(),
            direct = owing::is_behind(dialect, "p.wake = $5 OR c.kind = 1 OR c.id = a.home_channel", "true"),
            called = owing::is_behind(dialect, "true", &owing::calls(dialect)),
        );
        let values = vec![
            tenant_value(tenant),
            dialect.text_list(runners.iter().map(String::as_str)),
            stored_policy(WakePolicy::Never).into(),
            stored_policy(WakePolicy::Mention).into(),
            stored_policy(WakePolicy::Any).into(),
        ];
        tx.all(&sql, values).await?.iter().map(|row| row.id("account")).collect()
    }

    async fn claim_wake(
        &self,
        tenant: &TenantId,
        account: AccountId,
        for_ms: u32,
    ) -> Result<bool, StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Write).await?;
        let sql = format!(
            "UPDATE placements SET wake_until_ms = {now} + $3
             WHERE account = $1 AND tenant = $2 AND wake <> $4
                 AND (wake_until_ms IS NULL OR wake_until_ms <= {now})
                 AND (wake_not_before_ms IS NULL OR wake_not_before_ms <= {now})
                 AND NOT EXISTS (
                     SELECT 1 FROM sessions s JOIN nodes n ON n.id = s.node
                     WHERE s.account = $1 AND s.closed_at_ms IS NULL AND n.lease_until_ms > {now})",
            now = tx.dialect().now_ms()
        );
        let values = vec![
            id(account),
            tenant_value(tenant),
            i64::from(for_ms).into(),
            stored_policy(WakePolicy::Never).into(),
        ];
        let claimed = tx.execute(&sql, values).await? == 1;
        tx.commit().await?;
        Ok(claimed)
    }

    async fn wake_done(
        &self,
        tenant: &TenantId,
        account: AccountId,
        outcome: Result<(), &str>,
    ) -> Result<(), StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Write).await?;
        let mut values = vec![id(account), tenant_value(tenant)];
        let sql = match outcome {
            Ok(()) => {
                "UPDATE placements SET wake_until_ms = NULL, wake_failures = 0, wake_not_before_ms = NULL,
                           wake_error = NULL
                       WHERE account = $1 AND tenant = $2"
                    .to_owned()
            }
            Err(text) => {
                values.push(wake::shown_error(text).into());
                format!(
                    "UPDATE placements SET wake_until_ms = NULL, wake_failures = wake_failures + 1,
                         wake_not_before_ms = {now} + {backoff}, wake_error = $3
                     WHERE account = $1 AND tenant = $2",
                    now = tx.dialect().now_ms(),
                    backoff = backoff(tx.dialect())
                )
            }
        };
        tx.execute(&sql, values).await?;
        tx.commit().await
    }
}

/// The pause after a failure that follows `wake_failures` earlier ones, in milliseconds.
fn backoff(dialect: Dialect) -> String {
    let steps = wake::BACKOFF_MINUTES.len() as u32;
    let whens: Vec<String> =
        (0..steps).map(|failures| format!("WHEN {failures} THEN {}", wake::backoff_ms(failures))).collect();
    let (whens, last) = (whens.join(" "), wake::backoff_ms(steps));
    match dialect {
        Dialect::Postgres => format!("(CASE wake_failures {whens} ELSE {last} END)::bigint"),
        Dialect::Sqlite => format!("(CASE wake_failures {whens} ELSE {last} END)"),
    }
}

fn placement(row: &QueryResult) -> Result<Placement, StorageError> {
    Ok(Placement {
        account: row.id("account")?,
        runner: row.get("runner")?,
        container: row.get("container")?,
        wake: restore_policy(row.get("wake")?)?,
        wake_until: row.optional_millis("wake_until_ms")?,
        wake_failures: u32::try_from(row.count("wake_failures")?).unwrap_or(u32::MAX),
        wake_not_before: row.optional_millis("wake_not_before_ms")?,
        wake_error: row.get("wake_error")?,
        placed_at: row.millis("placed_at_ms")?,
    })
}

fn stored_policy(policy: WakePolicy) -> i16 {
    match policy {
        WakePolicy::Mention => 0,
        WakePolicy::Any => 1,
        WakePolicy::Never => 2,
    }
}

fn restore_policy(number: i16) -> Result<WakePolicy, StorageError> {
    match number {
        0 => Ok(WakePolicy::Mention),
        1 => Ok(WakePolicy::Any),
        2 => Ok(WakePolicy::Never),
        other => Err(Corrupt::new(format!("wake is {other}")).into()),
    }
}
