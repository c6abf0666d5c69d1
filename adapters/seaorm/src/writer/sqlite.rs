//! The writer on SQLite: the one write connection, held from begin to commit.
//!
//! Each hand-over to the driver's thread costs more than most statements, so all that a batch reads is one script,
//! and all that it writes another.

use compass_domain::TenantId;
use compass_ports::StorageError;
use futures::TryStreamExt;
use sqlx::{AssertSqlSafe, Either, Executor as _, Row as _, Sqlite, SqlitePool, Transaction};

use super::{
    fault::{Cure, Fault},
    needs::Call,
    script,
    session::Row,
    table::Change,
};

#[derive(Debug)]
pub(super) struct SqliteSession {
    pool: SqlitePool,
    tenant: TenantId,
    open: Option<Transaction<'static, Sqlite>>,
}

/// What one statement of a script came to.
struct Done {
    rows: Vec<Row>,
    changed: u64,
}

impl SqliteSession {
    pub(super) fn new(pool: &SqlitePool, tenant: &TenantId) -> Self {
        Self { pool: pool.clone(), tenant: tenant.clone(), open: None }
    }

    pub(super) async fn read(&mut self, calls: &[Call]) -> Result<Vec<Vec<Row>>, Fault> {
        let mut transaction =
            self.pool.begin_with("BEGIN IMMEDIATE").await.map_err(|error| Fault::of(&error))?;
        let statements: Vec<_> =
            calls.iter().map(|call| (call.read.statement().sqlite.as_ref(), call.payload.as_str())).collect();
        let done = run(&mut transaction, &self.tenant, &statements).await?;
        self.open = Some(transaction);
        Ok(done.into_iter().map(|done| done.rows).collect())
    }

    /// Makes the changes, each of which must change the rows it names, and commits.
    pub(super) async fn write(&mut self, changes: &[Change]) -> Result<(), Fault> {
        let Some(mut transaction) = self.open.take() else {
            return Err(Fault::unreachable(&sqlx::Error::WorkerCrashed));
        };
        if let Err(fault) = make(&mut transaction, &self.tenant, changes).await {
            self.open = Some(transaction);
            self.abandon().await;
            return Err(fault);
        }
        transaction.commit().await.map_err(|error| Fault::of_commit(&error))
    }

    pub(super) async fn abandon(&mut self) {
        let Some(transaction) = self.open.take() else { return };
        if let Err(error) = transaction.rollback().await {
            tracing::warn!(%error, "a rollback failed");
        }
    }
}

async fn make(
    transaction: &mut Transaction<'static, Sqlite>,
    tenant: &TenantId,
    changes: &[Change],
) -> Result<(), Fault> {
    let statements =
        changes.iter().map(Change::sqlite).collect::<Result<Vec<_>, _>>().map_err(Fault::hopeless)?;
    let done = run(transaction, tenant, &statements).await?;
    for (change, done) in changes.iter().zip(done) {
        if change.rows.is_some_and(|rows| rows != done.changed) {
            let what = format!("{} changed {} rows", change.name(), done.changed);
            return Err(Fault { error: StorageError::Conflict(what), cure: Cure::Again });
        }
    }
    Ok(())
}

/// Runs statements with their JSON parameters as one script.
async fn run(
    transaction: &mut Transaction<'static, Sqlite>,
    tenant: &TenantId,
    statements: &[(&str, &str)],
) -> Result<Vec<Done>, Fault> {
    let script = script::sequence(statements.iter().map(|(sql, _)| *sql));
    let mut query = sqlx::query(AssertSqlSafe(script)).bind(tenant.as_str());
    for (_, payload) in statements {
        query = query.bind(*payload);
    }
    let mut all = Vec::with_capacity(statements.len());
    let mut stream = (&mut **transaction).fetch_many(query);
    let mut rows = Vec::new();
    while let Some(next) = stream.try_next().await.map_err(|error| Fault::of(&error))? {
        match next {
            Either::Left(done) => {
                all.push(Done { rows: std::mem::take(&mut rows), changed: done.rows_affected() });
            }
            Either::Right(row) => rows.push(row_of(&row).map_err(|error| Fault::of(&error))?),
        }
    }
    if all.len() == statements.len() {
        return Ok(all);
    }
    let what = format!("{} results for {} statements", all.len(), statements.len());
    Err(Fault::hopeless(StorageError::Internal(what)))
}

fn row_of(row: &sqlx::sqlite::SqliteRow) -> Result<Row, sqlx::Error> {
    Ok(Row {
        columns: row.try_get(0)?,
        blocks: if row.len() > 1 { row.try_get(1)? } else { None },
        load: None,
    })
}
