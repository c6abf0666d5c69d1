//! The writer on Postgres: two round trips per batch.
//!
//! A batch is two scripts of prepared statements: begin, lock and load; then write and commit. Each lock is a
//! statement of its own, in the order of the locks. All loads are one statement, whose snapshot is taken under the
//! locks, and all writes another. Parameters are JSON texts as quoted literals; see [`literal`].

use std::{collections::HashMap, sync::Arc};

use compass_domain::TenantId;
use compass_ports::StorageError;
use futures::TryStreamExt;
use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, Either, PgConnection, PgPool, Row as _,
    postgres::PgConnectOptions,
};

use super::{
    fault::{Cure, Fault},
    needs::Call,
    script,
    session::{CONNECT_TIMEOUT, Row},
    table::Change,
};

/// Sent once on a new connection. Plans are generic, because one made while a table was small stays when it grows, and
/// look up by index each row that a text names: the other ways of reading pass by rows that nobody asked for, dead
/// ones included.
pub(super) const SETTINGS: &str = "SET standard_conforming_strings = on; SET plan_cache_mode = force_generic_plan; \
    SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; \
    SET jit = off";

#[derive(Debug)]
pub(super) struct PostgresSession {
    options: Arc<PgConnectOptions>,
    tenant: TenantId,
    live: Option<Live>,
}

#[derive(Debug)]
struct Live {
    connection: PgConnection,
    /// Names of prepared statements, by what they were joined of.
    prepared: HashMap<Key, String>,
}

/// What a prepared statement was joined of.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Reads(Vec<&'static str>),
    Changes(Vec<(&'static str, bool, bool)>),
}

impl PostgresSession {
    pub(super) fn new(pool: &PgPool, tenant: &TenantId) -> Self {
        Self { options: pool.connect_options(), tenant: tenant.clone(), live: None }
    }

    pub(super) async fn read(&mut self, calls: &[Call]) -> Result<Vec<Vec<Row>>, Fault> {
        let mut script = String::from("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
        let (locks, loads): (Vec<_>, Vec<_>) =
            calls.iter().enumerate().partition(|(_, call)| call.read.locks());
        for (_, call) in &locks {
            let statement = call.read.statement();
            let name = self.prepare(Key::Reads(vec![statement.name]), || {
                let mut sql = String::new();
                script::append(&mut sql, &statement.postgres, '$', 0);
                (sql, types(1))
            });
            let name = name.await?;
            self.execute(&mut script, &name, [Some(call.payload.as_str())])?;
        }
        if !loads.is_empty() {
            let statements = || loads.iter().map(|(_, call)| (call.read, call.read.statement()));
            let key = Key::Reads(statements().map(|(_, statement)| statement.name).collect());
            let name = self.prepare(key, || {
                let reads =
                    statements().map(|(read, statement)| (statement.postgres.as_ref(), read.has_blocks()));
                (script::union(reads), types(loads.len()))
            });
            let name = name.await?;
            self.execute(&mut script, &name, loads.iter().map(|(_, call)| Some(call.payload.as_str())))?;
        }
        let results = self.run(script).await?;
        let sent = 1 + locks.len() + usize::from(!loads.is_empty());
        let found = results.len();
        let sorted = if found == sent { sort(calls.len(), &locks, &loads, results) } else { None };
        let Some(sorted) = sorted else {
            self.abandon().await;
            let what = format!("{found} results for {sent} statements, or a row of none of them");
            return Err(Fault::hopeless(StorageError::Internal(what)));
        };
        Ok(sorted)
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
        let mut script = self.changes(changes).await?;
        script.push_str("; COMMIT");
        self.send(script).await?.map_err(|error| Fault::of_commit(&error))
    }

    /// Makes the changes of a job that was decided from what was known, as one statement that is a transaction of its
    /// own; after a failure nothing was kept, unless the outcome is unknown.
    pub(super) async fn write_known(&mut self, changes: &[Change]) -> Result<(), Fault> {
        let script = self.changes(changes).await?;
        let done = self.send(script).await?.map_err(|error| Fault::of_statement(&error));
        if let Err(fault) = &done
            && (fault.cure == Cure::Reconnect || matches!(fault.error, StorageError::OutcomeUnknown(_)))
        {
            self.live = None;
        }
        done
    }

    /// The script that makes the changes.
    async fn changes(&mut self, changes: &[Change]) -> Result<String, Fault> {
        let key = Key::Changes(changes.iter().map(Change::key).collect());
        let name = self.prepare(key, || script::modify(changes)).await?;
        let expected: Vec<String> =
            changes.iter().filter_map(|change| change.rows).map(|rows| rows.to_string()).collect();
        let expected = format!("{{{}}}", expected.join(","));
        let values = changes.iter().flat_map(Change::values);
        let mut script = String::new();
        self.execute(&mut script, &name, values.chain([Some(expected.as_str())]))?;
        Ok(script)
    }

    /// Runs a script that ends with the commit.
    async fn send(&mut self, script: String) -> Result<Result<(), sqlx::Error>, Fault> {
        let live = self.live.as_mut().ok_or_else(lost)?;
        Ok(sqlx::raw_sql(AssertSqlSafe(script)).execute(&mut live.connection).await.map(drop))
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

    /// The name of a prepared statement; connects, and prepares it from its text and the types of its parameters, if
    /// need be.
    async fn prepare(&mut self, key: Key, text: impl FnOnce() -> (String, String)) -> Result<String, Fault> {
        if self.live.is_none() {
            self.live = Some(self.connect().await?);
        }
        let live = self.live.as_ref().ok_or_else(lost)?;
        if let Some(name) = live.prepared.get(&key) {
            return Ok(name.clone());
        }
        let name = format!("compass_{}", live.prepared.len());
        let (sql, types) = text();
        self.run(format!("PREPARE {name} ({types}) AS {sql}")).await?;
        if let Some(live) = &mut self.live {
            live.prepared.insert(key, name.clone());
        }
        Ok(name)
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
        Ok(Live { connection, prepared: HashMap::new() })
    }

    /// Adds one `EXECUTE` to a script.
    fn execute<'a>(
        &self,
        script: &mut String,
        name: &str,
        values: impl IntoIterator<Item = Option<&'a str>>,
    ) -> Result<(), Fault> {
        if !script.is_empty() {
            script.push_str("; ");
        }
        script.push_str("EXECUTE ");
        script.push_str(name);
        script.push('(');
        script.push_str(&literal(self.tenant.as_str())?);
        for value in values {
            script.push_str(", ");
            match value {
                Some(text) => script.push_str(&literal(text)?),
                None => script.push_str("NULL"),
            }
        }
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

/// The types of the parameters of joined reads with so many JSON texts.
pub(super) fn types(texts: usize) -> String {
    format!("text{}", ", jsonb".repeat(texts))
}

/// The rows of each call, in the order of the calls; none if a row is of no call.
fn sort(
    calls: usize,
    locks: &[(usize, &Call)],
    loads: &[(usize, &Call)],
    results: Vec<Vec<Row>>,
) -> Option<Vec<Vec<Row>>> {
    let mut sorted: Vec<Vec<Row>> = (0..calls).map(|_| Vec::new()).collect();
    // The first result is that of BEGIN.
    let mut results = results.into_iter().skip(1);
    for ((index, _), rows) in locks.iter().zip(&mut results) {
        *sorted.get_mut(*index)? = rows;
    }
    for row in results.flatten() {
        let (index, _) = loads.get(row.load?)?;
        sorted.get_mut(*index)?.push(row);
    }
    Some(sorted)
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
            Either::Right(row) => rows.push(if row.len() == 3 {
                let load: i32 = row.try_get(2)?;
                Row { columns: row.try_get(0)?, blocks: row.try_get(1)?, load: usize::try_from(load).ok() }
            } else {
                Row { columns: row.try_get(0)?, blocks: None, load: None }
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
