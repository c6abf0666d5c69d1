//! Transactions, and the only two helpers that open them.

use std::sync::Arc;

use compass_domain::TenantId;
use compass_ports::StorageError;
use sea_orm::{QueryResult, Value, sea_query::Values};
use sea_query_sqlx::SqlxValues;
use sqlx::{AssertSqlSafe, PgPool, Postgres, Sqlite, Transaction, sqlite::SqlitePool};
use tokio_util::task::TaskTracker;

use crate::{
    dialect::Dialect,
    error::{self, DbError},
};

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// One snapshot for all its statements; writes are refused.
    Snapshot,
    /// Reads what is committed; holds the write lock on SQLite.
    Write,
}

/// Begins and takes the snapshot, which a transaction alone does with its first read.
const SQLITE_SNAPSHOT: &str = "BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1";

/// Where transactions come from.
#[derive(Debug, Clone)]
pub(crate) enum Pools {
    /// Connections that act as `compass_app`.
    Postgres {
        /// The connections.
        pool: PgPool,
        /// Where transactions begin: a caller that goes away in the middle must not leave one open behind the
        /// driver's back.
        begins: TaskTracker,
    },
    /// One connection that writes, several that read.
    Sqlite {
        /// The one that writes.
        write: SqlitePool,
        /// Those that read.
        read: SqlitePool,
    },
}

impl Pools {
    /// Opens a transaction over one tenant's rows.
    pub(crate) async fn tenant(&self, tenant: &TenantId, access: Access) -> Result<Tx, DbError> {
        self.begin(Some(tenant), access).await
    }

    /// Opens a transaction that sees no tenant's rows, for the functions that ask across tenants: a token by its
    /// hash, the tenants, leases, unrouted messages, tenants with live sessions on a node.
    pub(crate) async fn system(&self, access: Access) -> Result<Tx, DbError> {
        self.begin(None, access).await
    }

    async fn begin(&self, tenant: Option<&TenantId>, access: Access) -> Result<Tx, DbError> {
        let inner = match (self, access) {
            (Self::Postgres { pool, begins }, _) => {
                let (pool, begin) = (pool.clone(), AssertSqlSafe(postgres_begin(tenant, access)));
                let begun = begins.spawn(async move { pool.begin_with(begin).await }).await;
                Inner::Postgres(begun.map_err(|_| sqlx::Error::WorkerCrashed)??)
            }
            (Self::Sqlite { read, .. }, Access::Snapshot) => {
                Inner::Sqlite(read.begin_with(SQLITE_SNAPSHOT).await?)
            }
            (Self::Sqlite { write, .. }, Access::Write) => {
                Inner::Sqlite(write.begin_with("BEGIN IMMEDIATE").await?)
            }
        };
        Ok(Tx { inner })
    }
}

#[cfg(test)]
tokio::task_local! {
    /// The plan of every statement that ran in a task which asked for them, whoever opened the transaction.
    pub(crate) static PLANS: std::cell::RefCell<Vec<Plan>>;
}

/// How a database runs a statement.
#[cfg(test)]
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) sql: String,
    pub(crate) lines: Vec<String>,
}

/// An open transaction; dropping it keeps nothing.
#[derive(Debug)]
pub(crate) struct Tx {
    inner: Inner,
}

#[derive(Debug)]
enum Inner {
    Postgres(Transaction<'static, Postgres>),
    Sqlite(Transaction<'static, Sqlite>),
}

impl Tx {
    /// Which database it is.
    pub(crate) fn dialect(&self) -> Dialect {
        match self.inner {
            Inner::Postgres(_) => Dialect::Postgres,
            Inner::Sqlite(_) => Dialect::Sqlite,
        }
    }

    /// Runs a statement and returns its rows. Bind numbers as `i64` or `i16` as the column has them: a prepared
    /// statement keeps the types of its first use.
    pub(crate) async fn all(&mut self, sql: &str, values: Vec<Value>) -> Result<Vec<QueryResult>, DbError> {
        #[cfg(test)]
        self.explain(sql, &values).await?;
        let query = AssertSqlSafe(sql.to_owned());
        let values = SqlxValues(Values(values));
        Ok(match &mut self.inner {
            Inner::Postgres(tx) => {
                let rows = sqlx::query_with(query, values).fetch_all(&mut **tx).await?;
                rows.into_iter().map(QueryResult::from).collect()
            }
            Inner::Sqlite(tx) => {
                let rows = sqlx::query_with(query, values).fetch_all(&mut **tx).await?;
                rows.into_iter().map(QueryResult::from).collect()
            }
        })
    }

    /// Runs a statement and returns its first row.
    pub(crate) async fn one(
        &mut self,
        sql: &str,
        values: Vec<Value>,
    ) -> Result<Option<QueryResult>, DbError> {
        Ok(self.all(sql, values).await?.into_iter().next())
    }

    /// Runs a statement and returns how many rows it changed.
    pub(crate) async fn execute(&mut self, sql: &str, values: Vec<Value>) -> Result<u64, DbError> {
        #[cfg(test)]
        self.explain(sql, &values).await?;
        let query = AssertSqlSafe(sql.to_owned());
        let values = SqlxValues(Values(values));
        Ok(match &mut self.inner {
            Inner::Postgres(tx) => sqlx::query_with(query, values).execute(&mut **tx).await?.rows_affected(),
            Inner::Sqlite(tx) => sqlx::query_with(query, values).execute(&mut **tx).await?.rows_affected(),
        })
    }

    #[cfg(test)]
    async fn explain(&mut self, sql: &str, values: &[Value]) -> Result<(), DbError> {
        use sqlx::Row as _;
        if PLANS.try_with(|_| ()).is_err() {
            return Ok(());
        }
        let values = SqlxValues(Values(values.to_vec()));
        let lines: Vec<String> = match &mut self.inner {
            Inner::Postgres(tx) => {
                let query = AssertSqlSafe(format!("EXPLAIN {sql}"));
                let rows = sqlx::query_with(query, values).fetch_all(&mut **tx).await?;
                rows.iter().map(|row| row.get(0)).collect()
            }
            Inner::Sqlite(tx) => {
                let query = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
                let rows = sqlx::query_with(query, values).fetch_all(&mut **tx).await?;
                rows.iter().map(|row| row.get("detail")).collect()
            }
        };
        let plan = Plan { sql: sql.to_owned(), lines };
        PLANS.with(|plans| plans.borrow_mut().push(plan));
        Ok(())
    }

    /// Keeps everything.
    ///
    /// # Errors
    ///
    /// [`StorageError::OutcomeUnknown`] if the connection broke while committing; otherwise nothing was kept.
    pub(crate) async fn commit(self) -> Result<(), StorageError> {
        let committed = match self.inner {
            Inner::Postgres(tx) => tx.commit().await,
            Inner::Sqlite(tx) => tx.commit().await,
        };
        committed.map_err(|failed| error::of_commit(failed.into()))
    }
}

/// Begins and names the tenant in one round trip.
fn postgres_begin(tenant: Option<&TenantId>, access: Access) -> Arc<str> {
    let mode = match access {
        Access::Snapshot => "ISOLATION LEVEL REPEATABLE READ READ ONLY",
        Access::Write => "ISOLATION LEVEL READ COMMITTED READ WRITE",
    };
    let begin = format!("BEGIN {mode}");
    match tenant {
        None => begin.into(),
        Some(tenant) => {
            let name = tenant.as_str().replace('\'', "''");
            format!("{begin}; SELECT set_config('compass.tenant', '{name}', true)").into()
        }
    }
}
