//! What failures of a driver mean for callers of storage. What may cure one in the writer is in `writer/fault.rs`.

use compass_ports::StorageError;
use sqlx::error::{DatabaseError, ErrorKind};

/// What a driver answered instead of a result.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct DbError(#[from] pub(crate) sqlx::Error);

/// Kinds of failures, for both databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A unique index refused a row.
    Duplicate,
    /// A statement's own condition on its rows did not hold: it divided by zero.
    Condition,
    /// The same again may work: a deadlock, a busy database, a timeout.
    Passing,
    /// The connection is broken, or the database ends or refuses it.
    Unreachable,
    /// The database has no room, or may not write.
    Exhausted,
    /// Anything else is a fault of ours.
    Other,
}

impl DbError {
    /// True if a unique index refused a row.
    pub(crate) fn is_unique_violation(&self) -> bool {
        failure(&self.0) == Failure::Duplicate
    }

    fn code(&self) -> Option<String> {
        self.0.as_database_error()?.code().map(std::borrow::Cow::into_owned)
    }
}

impl From<DbError> for StorageError {
    fn from(error: DbError) -> Self {
        let text = error.to_string();
        match failure(&error.0) {
            Failure::Duplicate => Self::Conflict(text),
            Failure::Passing | Failure::Unreachable | Failure::Exhausted => Self::Unavailable(text),
            Failure::Condition | Failure::Other => Self::Internal(text),
        }
    }
}

/// The kind of a failure.
pub(crate) fn failure(error: &sqlx::Error) -> Failure {
    use sqlx::Error as E;
    match error {
        E::Database(refused) if matches!(refused.kind(), ErrorKind::UniqueViolation) => Failure::Duplicate,
        E::Database(refused) => {
            let code = refused.code().unwrap_or_default();
            match sqlite_code(refused.as_ref(), &code) {
                Some(code) => of_sqlite(code),
                None => of_postgres(&code),
            }
        }
        E::Io(_)
        | E::Tls(_)
        | E::Protocol(_)
        | E::PoolTimedOut
        | E::PoolClosed
        | E::BeginFailed
        | E::WorkerCrashed => Failure::Unreachable,
        _ => Failure::Other,
    }
}

fn of_postgres(code: &str) -> Failure {
    match code {
        "22012" => Failure::Condition,
        // Lock not available, cancelled by a timeout.
        "55P03" | "57014" => Failure::Passing,
        // Too many connections.
        "53300" => Failure::Unreachable,
        code => match code.get(..2) {
            // Serialization failures and deadlocks.
            Some("40") => Failure::Passing,
            // Connection exceptions; shutdown, crash, starting up.
            Some("08" | "57") => Failure::Unreachable,
            Some("53") => Failure::Exhausted,
            _ => Failure::Other,
        },
    }
}

fn sqlite_code(error: &dyn DatabaseError, code: &str) -> Option<i32> {
    error.try_downcast_ref::<sqlx::sqlite::SqliteError>()?;
    code.parse().ok()
}

/// The lowest byte says what failed, the others say where.
fn of_sqlite(code: i32) -> Failure {
    const BUSY: i32 = 5;
    const LOCKED: i32 = 6;
    const READ_ONLY: i32 = 8;
    const IO_ERROR: i32 = 10;
    const FULL: i32 = 13;
    const CANNOT_OPEN: i32 = 14;
    match code & 0xff {
        BUSY | LOCKED => Failure::Passing,
        READ_ONLY | IO_ERROR | FULL | CANNOT_OPEN => Failure::Exhausted,
        _ => Failure::Other,
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
