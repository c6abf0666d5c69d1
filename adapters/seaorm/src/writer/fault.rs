//! What a failed statement means for the jobs behind it.

use compass_ports::StorageError;

use crate::error::{Failure, failure};

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
        let text = || match error {
            sqlx::Error::Database(refused) => refused.message().to_owned(),
            other => other.to_string(),
        };
        match failure(error) {
            Failure::Duplicate => Self::conflict(&text()),
            Failure::Condition => Self::conflict("a row to change is not as it was read"),
            Failure::Passing => Self { error: StorageError::Unavailable(text()), cure: Cure::Again },
            Failure::Unreachable => Self::unreachable(error),
            Failure::Exhausted => Self::hopeless(StorageError::Unavailable(text())),
            Failure::Other => Self::hopeless(StorageError::Internal(text())),
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
