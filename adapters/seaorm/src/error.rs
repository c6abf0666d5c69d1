//! What failures of a driver mean for callers of storage. What may cure one in the writer is in `writer/fault.rs`.

use compass_ports::StorageError;
use sqlx::error::{DatabaseError, ErrorKind};

/// What a driver answered instead of a result.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct DbError(#[from] pub(crate) sqlx::Error);

impl DbError {
    /// True if a unique index refused a row.
    pub(crate) fn is_unique_violation(&self) -> bool {
        self.database().is_some_and(|error| matches!(error.kind(), ErrorKind::UniqueViolation))
    }

    fn database(&self) -> Option<&dyn DatabaseError> {
        self.0.as_database_error()
    }

    fn code(&self) -> Option<String> {
        self.database()?.code().map(std::borrow::Cow::into_owned)
    }
}

impl From<DbError> for StorageError {
    fn from(error: DbError) -> Self {
        let text = error.to_string();
        if error.is_unique_violation() {
            return Self::Conflict(text);
        }
        match &error.0 {
            sqlx::Error::Database(_) if error.is_passing() => Self::Unavailable(text),
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::BeginFailed
            | sqlx::Error::WorkerCrashed => Self::Unavailable(text),
            _ => Self::Internal(text),
        }
    }
}

impl DbError {
    /// True if the database refused for a reason that passes.
    fn is_passing(&self) -> bool {
        let Some(code) = self.code() else { return false };
        // Postgres: connection, resources, operator, lock and rollback classes. SQLite: busy, locked, disk full.
        let passing = ["08", "53", "57", "55P03", "40"];
        if code.len() == 5 {
            return passing.iter().any(|class| code.starts_with(class));
        }
        code.parse::<u32>().is_ok_and(|code| matches!(code & 0xff, 5 | 6 | 13))
    }
}

/// What a failed commit says about what was kept.
pub(crate) fn of_commit(error: DbError) -> StorageError {
    match &error.0 {
        // The database answered: it kept nothing. An answer that it is shutting down may come after the commit.
        sqlx::Error::Database(_)
            if !error.code().is_some_and(|code| code.len() == 5 && code.starts_with("57")) =>
        {
            error.into()
        }
        _ => StorageError::OutcomeUnknown(error.to_string()),
    }
}

/// A column that does not have the type its statement gave it.
pub(crate) fn column(column: &str, error: &sea_orm::DbErr) -> StorageError {
    StorageError::Internal(format!("column {column}: {error}"))
}
