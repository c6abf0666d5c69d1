//! The writer's connection: begins and reads, then writes and commits.

use std::time::Duration;

use compass_domain::TenantId;

use super::{fault::Fault, needs::Call, postgres::PostgresSession, sqlite::SqliteSession, table::Change};
use crate::transaction::Pools;

/// How long a connection may take to be made.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// One row of a read: its columns as a JSON object, and the `blocks` column beside it where a message is read.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) columns: String,
    pub(super) blocks: Option<String>,
    /// Which of several joined reads it is of.
    pub(super) load: Option<usize>,
}

/// A tenant's writer connection.
#[derive(Debug)]
pub(super) enum Session {
    Postgres(Box<PostgresSession>),
    Sqlite(SqliteSession),
}

impl Session {
    pub(super) fn new(pools: &Pools, tenant: &TenantId) -> Self {
        match pools {
            Pools::Postgres { pool, .. } => Self::Postgres(Box::new(PostgresSession::new(pool, tenant))),
            Pools::Sqlite { write, .. } => Self::Sqlite(SqliteSession::new(write, tenant)),
        }
    }

    /// True if a job may be decided from what is known. On SQLite a read costs too little to be saved.
    pub(super) fn can_guess(&self) -> bool {
        matches!(self, Self::Postgres(_))
    }

    /// Begins a transaction and runs the calls; the rows of each, in order.
    pub(super) async fn read(&mut self, calls: &[Call]) -> Result<Vec<Vec<Row>>, Fault> {
        match self {
            Self::Postgres(session) => session.read(calls).await,
            Self::Sqlite(session) => session.read(calls).await,
        }
    }

    /// Makes the changes and commits; after a failure the transaction is over and nothing was kept, unless the
    /// outcome is unknown.
    pub(super) async fn write(&mut self, changes: &[Change]) -> Result<(), Fault> {
        match self {
            Self::Postgres(session) => session.write(changes).await,
            Self::Sqlite(session) => session.write(changes).await,
        }
    }

    /// Ends the transaction without keeping anything.
    pub(super) async fn abandon(&mut self) {
        match self {
            Self::Postgres(session) => session.abandon().await,
            Self::Sqlite(session) => session.abandon().await,
        }
    }

    /// Closes the connection.
    pub(super) async fn close(self) {
        match self {
            Self::Postgres(session) => session.close().await,
            Self::Sqlite(_) => {}
        }
    }
}
