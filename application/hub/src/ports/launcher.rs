//! The way from the hub to runners: commands that wait for a result.

use std::time::Duration;

use async_trait::async_trait;
use compass_domain::{AccountId, Classified, ErrorKind, LifecycleState, SessionId, TenantId};

use crate::sessions::RunnerKey;

/// Who is to obey a command.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Address {
    /// A runner with a token of its own.
    Runner(RunnerKey),
    /// Whichever stream leads to this session.
    Session(SessionId),
}

/// What a runner is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Make a place for an agent.
    Provision {
        /// Whose.
        account: AccountId,
    },
    /// Start the agent of a container.
    Start {
        /// Which.
        container: String,
        /// The session it is to run.
        session: SessionId,
        /// True if the session ran before.
        resume: bool,
    },
    /// End a session.
    Stop {
        /// Which.
        session: SessionId,
    },
    /// Read a session's configuration again.
    Reload {
        /// Which.
        session: SessionId,
    },
    /// Tell what runs.
    Status {
        /// Which session; all if none.
        session: Option<SessionId>,
    },
    /// Take a container away.
    Remove {
        /// Which.
        container: String,
    },
}

impl Command {
    /// How long its sender waits; the command stays in flight after that.
    pub fn deadline(&self) -> Duration {
        match self {
            Self::Status { .. } => Duration::from_secs(10),
            Self::Provision { .. }
            | Self::Start { .. }
            | Self::Stop { .. }
            | Self::Reload { .. }
            | Self::Remove { .. } => Duration::from_mins(1),
        }
    }
}

/// What a runner did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The container it made.
    Provisioned {
        /// Its name.
        container: String,
    },
    /// The session that runs.
    Started {
        /// Which; none if the runner named something else.
        session: Option<SessionId>,
    },
    /// The session is over.
    Stopped,
    /// The session read its configuration again.
    Reloaded,
    /// What runs.
    Status(Vec<Reported>),
    /// The container is gone.
    Removed,
}

/// One session as its runner tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reported {
    /// Which; none if the runner did not name it.
    pub session: Option<SessionId>,
    /// Its state.
    pub state: LifecycleState,
}

/// Why a command came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// No stream leads there.
    #[error("the runner is not attached")]
    NotAttached,
    /// Too much waits for the runner already.
    #[error("the runner does not keep up with its commands")]
    Busy,
    /// The stream ended before the result.
    #[error("the runner went away before it answered")]
    Detached,
    /// The result did not come in time; the command may still be obeyed.
    #[error("the runner did not answer within {seconds} s")]
    TimedOut {
        /// How long was waited.
        seconds: u64,
    },
    /// The runner refused.
    #[error("the runner refused: {message}")]
    Refused {
        /// What a caller can do about it.
        kind: ErrorKind,
        /// The runner's words.
        message: String,
    },
    /// The runner answered something else than was asked.
    #[error("the runner's answer does not fit its command")]
    Mismatch,
    /// A command without a request id cannot be answered.
    #[error("a command needs a request id")]
    NoRequestId,
}

impl Classified for LaunchError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAttached | Self::Busy | Self::Detached => ErrorKind::Unavailable,
            Self::TimedOut { .. } => ErrorKind::OutcomeUnknown,
            Self::Refused { kind, .. } => *kind,
            Self::Mismatch | Self::NoRequestId => ErrorKind::Internal,
        }
    }
}

/// Sends commands to runners whose streams lead to this node.
#[async_trait]
pub trait Launcher: Send + Sync {
    /// Sends a command and waits for its result, for as long as the stream lasts. A second command with a request
    /// id that is in flight joins the first. Dropping the wait leaves the command in flight.
    ///
    /// # Errors
    ///
    /// [`LaunchError`]; all but [`LaunchError::TimedOut`], which is the caller's.
    async fn send(
        &self,
        address: &Address,
        request_id: &str,
        command: Command,
    ) -> Result<Outcome, LaunchError>;

    /// The names of a tenant's runners that have a stream here, sorted.
    fn attached(&self, tenant: &TenantId) -> Vec<String>;

    /// Leads a session through its runner's stream; without one nothing happens.
    fn lead(&self, runner: &RunnerKey, session: SessionId);

    /// Leads a session nowhere.
    fn leave(&self, session: SessionId);
}
