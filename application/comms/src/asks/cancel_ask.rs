//! Withdraws an open ask for its author; a repeat changes nothing.

use std::sync::Arc;

use compass_domain::{AccountId, AskId, Classified, Corrupt, ErrorKind, Event, LockedAsk, UnixMillis};
use compass_ports::{Decision, Loaded, Locks, StorageError, WriteJob, Writes, submit};

use super::check_digest;
use crate::{Caller, Comms};

/// A cancel as a client sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CancelAsk {
    /// Which ask; none if the sent text is no id.
    pub ask: Option<AskId>,
}

/// When the ask was withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdrawn {
    /// By this call.
    Now,
    /// By an earlier one; nothing changed.
    Before,
}

/// Why a cancel is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The ask does not exist, or the caller may not see it.
    #[error("ask not found")]
    NotFound,
    /// The caller sees the ask and did not post it.
    #[error("only its author may cancel an ask")]
    NotTheAuthor,
    /// A person answered it before.
    #[error("ask \"{0}\" is already answered")]
    AlreadyAnswered(AskId),
    /// The stored ask contradicts itself; nothing was written.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotFound => ErrorKind::NotFound,
            Self::NotTheAuthor => ErrorKind::PermissionDenied,
            Self::AlreadyAnswered(_) => ErrorKind::Conflict,
            Self::Corrupt(_) => ErrorKind::Internal,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Withdraws an ask that the caller posted. No message is posted and nothing is delivered.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it; nothing is stored then.
pub async fn cancel_ask(comms: &Comms, caller: &Caller, cancel: CancelAsk) -> Result<Withdrawn, Error> {
    let ask = cancel.ask.ok_or(Error::NotFound)?;
    let job = Job { actor: caller.actor.id, ask, now: comms.clock.now() };
    submit(&*comms.writer, &caller.tenant, job).await
}

struct Job {
    actor: AccountId,
    ask: AskId,
    now: UnixMillis,
}

impl WriteJob for Job {
    type Outcome = Withdrawn;
    type Error = Error;

    fn locks(&self) -> Locks {
        Locks::Cancel { ask: self.ask, actor: self.actor }
    }

    fn decide(&self, loaded: &Loaded) -> Decision<Withdrawn, Error> {
        let found = loaded.ask_for(self.ask, self.actor)?.ok_or(Error::NotFound)?;
        if found.author != self.actor {
            return Err(Error::NotTheAuthor);
        }
        let open = match loaded.lock_ask(self.ask, &found)? {
            LockedAsk::Open(open) => open,
            LockedAsk::Answered => return Err(Error::AlreadyAnswered(self.ask)),
            LockedAsk::Cancelled => return Ok((Writes::none(), Withdrawn::Before)),
        };
        let closed = open.cancel(self.now);
        check_digest(&closed, &found)?;
        let mut writes = Writes::none();
        writes.tell(Event::MessageUpdated(Arc::clone(closed.message())));
        writes.close(closed);
        Ok((writes, Withdrawn::Now))
    }
}
