//! The writer on Postgres: two round trips per batch.
//!
//! The statements are prepared once by name. A batch is two scripts of `EXECUTE`s: begin, lock and load; then
//! write and commit. Each statement of a script has a snapshot of its own, so that what is loaded is not older
//! than the locks. Parameters are JSON texts as quoted literals; see [`literal`].

use std::{collections::HashSet, sync::Arc};

use compass_domain::TenantId;
use compass_ports::StorageError;
use futures::TryStreamExt;
use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, Either, PgConnection, PgPool, Row as _,
    postgres::PgConnectOptions,
};

use super::{
    changes::Change,
    fault::{Cure, Fault},
    needs::Call,
    session::{CONNECT_TIMEOUT, Row},
};

/// Sent once on a new connection. Plans are generic and by index, because a plan made while a table was small
/// stays when it grows.
pub(super) const SETTINGS: &str = "SET standard_conforming_strings = on; SET plan_cache_mode = force_generic_plan; \
    SET enable_seqscan = off; SET jit = off";

#[derive(Debug)]
pub(super) struct PostgresSession {
    options: Arc<PgConnectOptions>,
    tenant: TenantId,
    live: Option<Live>,
}

#[derive(Debug)]
struct Live {
    connection: PgConnection,
    prepared: HashSet<&'static str>,
}

impl PostgresSession {
    pub(super) fn new(pool: &PgPool, tenant: &TenantId) -> Self {
        Self { options: pool.connect_options(), tenant: tenant.clone(), live: None }
    }

    pub(super) async fn read(&mut self, calls: &[Call]) -> Result<Vec<Vec<Row>>, Fault> {
        let statements = calls.iter().map(|call| call.read.statement());
        self.prepare(statements.map(|statement| (statement.name, statement.postgres.as_ref()))).await?;
        let mut script = String::from("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
        for call in calls {
            self.execute(&mut script, call.read.statement().name, &call.payload)?;
        }
        let mut results = self.run(script).await?;
        if results.len() != calls.len() + 1 {
            self.abandon().await;
            let what = format!("{} results for {} statements", results.len(), calls.len() + 1);
            return Err(Fault::hopeless(StorageError::Internal(what)));
        }
        results.remove(0);
        Ok(results)
    }

    pub(super) async fn write(&mut self, changes: &[Change]) -> Result<(), Fault> {
        let written = self.write_script(changes).await;
        if let Err(fault) = &written {
            // After a lost connection there is nothing to end; otherwise a failed script never committed.
            if fault.cure == Cure::Reconnect || matches!(fault.error, StorageError::OutcomeUnknown(_)) {
                self.live = None;
            } else {
                self.abandon().await;
            }
        }
        written
    }

    async fn write_script(&mut self, changes: &[Change]) -> Result<(), Fault> {
        if self.live.is_none() {
            return Err(lost());
        }
        self.prepare(changes.iter().map(|change| (change.name, change.sql))).await?;
        let mut script = String::new();
        for change in changes {
            self.execute(&mut script, change.name, &change.payload)?;
        }
        script.push_str("; COMMIT");
        let script = script.trim_start_matches("; ").to_owned();
        let live = self.live.as_mut().ok_or_else(lost)?;
        let done = sqlx::raw_sql(AssertSqlSafe(script)).execute(&mut live.connection).await;
        done.map(|_| ()).map_err(|error| Fault::of_commit(&error))
    }

    pub(super) async fn abandon(&mut self) {
        let Some(live) = &mut self.live else { return };
        if sqlx::raw_sql("ROLLBACK").execute(&mut live.connection).await.is_err() {
            self.live = None;
        }
    }

    pub(super) async fn close(self) {
        let Some(live) = self.live else { return };
        if let Err(error) = live.connection.close().await {
            tracing::debug!(%error, "the writer's connection did not close cleanly");
        }
    }

    /// Connects if need be, and prepares the statements that are not prepared yet.
    async fn prepare(
        &mut self,
        statements: impl Iterator<Item = (&'static str, &'static str)>,
    ) -> Result<(), Fault> {
        if self.live.is_none() {
            self.live = Some(self.connect().await?);
        }
        let live = self.live.as_mut().ok_or_else(lost)?;
        let mut missing: Vec<(&'static str, &'static str)> = Vec::new();
        for (name, sql) in statements {
            if !live.prepared.contains(name) && missing.iter().all(|(other, _)| *other != name) {
                missing.push((name, sql));
            }
        }
        for (name, sql) in missing {
            let script = format!("PREPARE {name} (jsonb, text) AS {sql}");
            self.run(script).await?;
            if let Some(live) = &mut self.live {
                live.prepared.insert(name);
            }
        }
        Ok(())
    }

    async fn connect(&self) -> Result<Live, Fault> {
        // A script holds what people wrote, so this connection logs no statement.
        let options = (*self.options).clone().disable_statement_logging();
        let connecting = tokio::time::timeout(CONNECT_TIMEOUT, PgConnection::connect_with(&options)).await;
        let mut connection = match connecting {
            Ok(Ok(connection)) => connection,
            Ok(Err(error)) => return Err(Fault::unreachable(&error)),
            Err(_) => return Err(Fault::unreachable(&sqlx::Error::PoolTimedOut)),
        };
        let tenant = literal(self.tenant.as_str())?;
        let settings = format!("{SETTINGS}; SELECT set_config('compass.tenant', {tenant}, false)");
        results(&mut connection, settings).await.map_err(|error| Fault::of(&error))?;
        Ok(Live { connection, prepared: HashSet::new() })
    }

    /// Adds one `EXECUTE` to a script.
    fn execute(&self, script: &mut String, name: &str, payload: &str) -> Result<(), Fault> {
        script.push_str("; EXECUTE ");
        script.push_str(name);
        script.push('(');
        script.push_str(&literal(payload)?);
        script.push_str(", ");
        script.push_str(&literal(self.tenant.as_str())?);
        script.push(')');
        Ok(())
    }

    /// Runs a script that does not commit; after a failure no transaction is open.
    async fn run(&mut self, script: String) -> Result<Vec<Vec<Row>>, Fault> {
        let live = self.live.as_mut().ok_or_else(lost)?;
        match results(&mut live.connection, script).await {
            Ok(results) => Ok(results),
            Err(error) => {
                let fault = Fault::of(&error);
                if fault.cure == Cure::Reconnect {
                    self.live = None;
                } else {
                    self.abandon().await;
                }
                Err(fault)
            }
        }
    }
}

fn lost() -> Fault {
    Fault::unreachable(&sqlx::Error::WorkerCrashed)
}

/// Quotes a text for a script. With standard strings on, doubling the quote is all a literal needs; a NUL would
/// end the script, so it is refused.
fn literal(text: &str) -> Result<String, Fault> {
    if text.contains('\0') {
        return Err(Fault::hopeless(StorageError::Internal("a parameter contains a NUL".into())));
    }
    Ok(format!("'{}'", text.replace('\'', "''")))
}

/// Runs a script; the rows of each of its statements.
async fn results(connection: &mut PgConnection, script: String) -> Result<Vec<Vec<Row>>, sqlx::Error> {
    let mut stream = sqlx::raw_sql(AssertSqlSafe(script)).fetch_many(connection);
    let mut results = Vec::new();
    let mut rows = Vec::new();
    while let Some(next) = stream.try_next().await? {
        match next {
            Either::Left(_) => results.push(std::mem::take(&mut rows)),
            Either::Right(row) => rows.push(Row {
                columns: row.try_get(0)?,
                blocks: if row.len() > 1 { row.try_get(1)? } else { None },
            }),
        }
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn a_literal_cannot_be_left() {
        let quoted = literal(r"it's \' ''; DROP TABLE messages; --").expect("no NUL");
        assert_eq!(quoted, r"'it''s \'' ''''; DROP TABLE messages; --'");
    }

    #[test]
    fn a_literal_with_a_nul_is_refused() {
        assert!(literal("a\0b").is_err());
    }
}
