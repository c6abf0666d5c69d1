//! The writer on SQLite: the one write connection, held from begin to commit.

use compass_domain::TenantId;
use compass_ports::StorageError;
use sqlx::{Row as _, Sqlite, SqlitePool, Transaction};

use super::{
    changes::Change,
    fault::{Cure, Fault},
    needs::Call,
    session::Row,
};

#[derive(Debug)]
pub(super) struct SqliteSession {
    pool: SqlitePool,
    tenant: TenantId,
    open: Option<Transaction<'static, Sqlite>>,
}

impl SqliteSession {
    pub(super) fn new(pool: &SqlitePool, tenant: &TenantId) -> Self {
        Self { pool: pool.clone(), tenant: tenant.clone(), open: None }
    }

    pub(super) async fn read(&mut self, calls: &[Call]) -> Result<Vec<Vec<Row>>, Fault> {
        let mut transaction =
            self.pool.begin_with("BEGIN IMMEDIATE").await.map_err(|error| Fault::of(&error))?;
        let mut results = Vec::with_capacity(calls.len());
        for call in calls {
            let query = sqlx::query(call.read.statement().sqlite.as_ref())
                .bind(call.payload.as_str())
                .bind(self.tenant.as_str());
            let rows = query.fetch_all(&mut *transaction).await.map_err(|error| Fault::of(&error))?;
            let rows = rows.into_iter().map(|row| {
                Ok(Row {
                    columns: row.try_get(0)?,
                    blocks: if row.len() > 1 { row.try_get(1)? } else { None },
                })
            });
            results.push(rows.collect::<Result<_, sqlx::Error>>().map_err(|error| Fault::of(&error))?);
        }
        self.open = Some(transaction);
        Ok(results)
    }

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

/// Makes the changes; each must change the rows it names.
pub(crate) async fn make(
    transaction: &mut Transaction<'static, Sqlite>,
    tenant: &TenantId,
    changes: &[Change],
) -> Result<(), Fault> {
    for change in changes {
        let query = sqlx::query(change.sql).bind(change.payload.as_str()).bind(tenant.as_str());
        let done = query.execute(&mut **transaction).await.map_err(|error| Fault::of(&error))?;
        if change.rows.is_some_and(|rows| rows != done.rows_affected()) {
            let what = format!("{} changed {} rows", change.name, done.rows_affected());
            return Err(Fault { error: StorageError::Conflict(what), cure: Cure::Again });
        }
    }
    Ok(())
}
