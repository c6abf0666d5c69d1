//! A hot write as data plus a pure decision, with its outcome on the way back.

use std::fmt;

use tokio::sync::oneshot;

use crate::{Loaded, Locks, StorageError, Writes};

/// What a decision comes to.
pub type Decision<Outcome, Error> = Result<(Writes, Outcome), Error>;

/// One hot write. It may be decided more than once, so it borrows; a failed decision writes nothing.
pub trait WriteJob: Send + Sync + 'static {
    /// What the caller gets once the writes are committed.
    type Outcome: Send + 'static;
    /// Why it was refused; also what storage failures become.
    type Error: From<StorageError> + Send + 'static;

    /// What must be locked and loaded first.
    fn locks(&self) -> Locks;

    /// Decides on locked rows; reads nothing else and does no I/O.
    ///
    /// # Errors
    ///
    /// The rule that refuses it.
    fn decide(&self, loaded: &Loaded) -> Decision<Self::Outcome, Self::Error>;
}

/// A job whose outcome type the writer does not know.
pub trait ErasedJob: Send {
    /// What must be locked and loaded first.
    fn locks(&self) -> Locks;

    /// Decides and keeps the outcome; `None` if the job was refused and writes nothing.
    fn decide(&mut self, loaded: &Loaded) -> Option<Writes>;

    /// Hands the kept outcome, or the failure of its batch, to the caller.
    fn complete(self: Box<Self>, stored: Result<(), StorageError>);
}

type Outcome<J> = Result<<J as WriteJob>::Outcome, <J as WriteJob>::Error>;

pub(crate) struct Pending<J: WriteJob> {
    job: J,
    decided: Option<Outcome<J>>,
    reply: oneshot::Sender<Outcome<J>>,
}

impl<J: WriteJob> Pending<J> {
    pub(crate) fn new(job: J) -> (Self, oneshot::Receiver<Outcome<J>>) {
        let (reply, receiver) = oneshot::channel();
        (Self { job, decided: None, reply }, receiver)
    }
}

impl<J: WriteJob> ErasedJob for Pending<J> {
    fn locks(&self) -> Locks {
        self.job.locks()
    }

    fn decide(&mut self, loaded: &Loaded) -> Option<Writes> {
        match self.job.decide(loaded) {
            Ok((writes, outcome)) => {
                self.decided = Some(Ok(outcome));
                Some(writes)
            }
            Err(error) => {
                self.decided = Some(Err(error));
                None
            }
        }
    }

    fn complete(self: Box<Self>, stored: Result<(), StorageError>) {
        let result = match (stored, self.decided) {
            // A refusal may rest on writes of its own batch, so it falls with them.
            (Err(failed), _) => Err(failed.into()),
            (Ok(()), Some(Err(refused))) => Err(refused),
            (Ok(()), Some(Ok(outcome))) => Ok(outcome),
            (Ok(()), None) => Err(StorageError::Internal("a job was completed undecided".into()).into()),
        };
        // A caller that hung up does not undo a commit.
        drop(self.reply.send(result));
    }
}

impl<J: WriteJob> fmt::Debug for Pending<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("locks", &self.job.locks()).finish_non_exhaustive()
    }
}
