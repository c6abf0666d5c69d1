//! What a failed statement means for the jobs behind it.

use compass_ports::StorageError;

/// A failed attempt: what callers are told if nothing else helps, and what may help.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) error: StorageError,
    pub(super) cure: Cure,
}

/// What may help after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cure {
    /// The same again: a deadlock, a busy database, a row that another transaction wrote meanwhile.
    Again,
    /// The same again on a new connection; nothing was kept.
    Reconnect,
    /// Nothing.
    None,
}

/// A division by zero, by which a statement refuses to go on when a condition on its rows does not hold.
const CONDITION: &str = "22012";

impl Fault {
    pub(super) fn hopeless(error: StorageError) -> Self {
        Self { error, cure: Cure::None }
    }

    pub(super) fn conflict(what: &str) -> Self {
        Self { error: StorageError::Conflict(what.into()), cure: Cure::Again }
    }

    pub(super) fn unreachable(error: &sqlx::Error) -> Self {
        Self { error: StorageError::Unavailable(error.to_string()), cure: Cure::Reconnect }
    }

    /// The meaning of an error of a statement that is not a commit.
    pub(super) fn of(error: &sqlx::Error) -> Self {
        let sqlx::Error::Database(database) = error else {
            return if is_broken(error) {
                Self::unreachable(error)
            } else {
                Self::hopeless(StorageError::Internal(error.to_string()))
            };
        };
        let code = database.code().unwrap_or_default();
        let text = database.message();
        let passing = || Self { error: StorageError::Unavailable(text.into()), cure: Cure::Again };
        if database.is_unique_violation() {
            return Self::conflict(text);
        }
        if let Some(code) = sqlite_code(database.as_ref(), &code) {
            return match code & 0xff {
                sqlite::BUSY | sqlite::LOCKED => passing(),
                sqlite::FULL | sqlite::IO_ERROR | sqlite::CANNOT_OPEN | sqlite::READ_ONLY => {
                    Self::hopeless(StorageError::Unavailable(text.into()))
                }
                _ => Self::hopeless(StorageError::Internal(text.into())),
            };
        }
        match code.as_ref() {
            CONDITION => Self::conflict("a row to change is not as it was read"),
            // Serialization failure, deadlock, lock not available, cancelled by a timeout.
            "40001" | "40P01" | "55P03" | "57014" => passing(),
            // Connection exceptions, shutdown, crash, starting up, too many connections.
            "57P01" | "57P02" | "57P03" | "53300" => Self::unreachable(error),
            code if code.starts_with("08") => Self::unreachable(error),
            code if code.starts_with("53") => Self::hopeless(StorageError::Unavailable(text.into())),
            _ => Self::hopeless(StorageError::Internal(text.into())),
        }
    }

    /// The meaning of an error of statements that end with the commit.
    pub(super) fn of_commit(error: &sqlx::Error) -> Self {
        let fault = Self::of(error);
        if fault.cure == Cure::Reconnect {
            return Self::hopeless(StorageError::OutcomeUnknown(error.to_string()));
        }
        fault
    }

    /// The meaning of an error of one statement that is a transaction of its own. What could not be sent, or was
    /// refused because the connection is ended, was not kept.
    pub(super) fn of_statement(error: &sqlx::Error) -> Self {
        let not_kept = match error {
            sqlx::Error::Database(database) => database.code().is_some_and(|code| code == ENDED),
            sqlx::Error::Io(failed) => failed.kind() == std::io::ErrorKind::BrokenPipe,
            _ => false,
        };
        if not_kept { Self::unreachable(error) } else { Self::of_commit(error) }
    }
}

/// "The administrator ends this connection", which Postgres says instead of completing a statement, never after its
/// commit.
const ENDED: &str = "57P01";

mod sqlite {
    pub(super) const BUSY: i32 = 5;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const READ_ONLY: i32 = 8;
    pub(super) const IO_ERROR: i32 = 10;
    pub(super) const FULL: i32 = 13;
    pub(super) const CANNOT_OPEN: i32 = 14;
}

fn sqlite_code(error: &dyn sqlx::error::DatabaseError, code: &str) -> Option<i32> {
    error.try_downcast_ref::<sqlx::sqlite::SqliteError>()?;
    code.parse().ok()
}

fn is_broken(error: &sqlx::Error) -> bool {
    use sqlx::Error as E;
    matches!(
        error,
        E::Io(_) | E::Tls(_) | E::Protocol(_) | E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed
    )
}
