//! Starts an agent on its placement: mints the session, has the runner start it, and binds it.

use compass_domain::{AccountId, Classified, ErrorKind, SessionId, TenantId};
use compass_ports::StorageError;

use super::{OpenRequest, RunnerKey, Source};
use crate::{
    Hub,
    notes::NoteKind,
    ports::{Address, AttachMode, Command, LaunchError, Outcome, Placement},
};

/// Why an agent was not started.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StartError {
    /// It has no place to start at.
    #[error("the agent has no placement on a runner")]
    NotPlaced,
    /// It runs already.
    #[error("the agent is live already, in session {session}")]
    AlreadyLive {
        /// Where.
        session: SessionId,
    },
    /// The runner did not start it.
    #[error("runner {runner}: {error}")]
    Runner {
        /// Which runner.
        runner: String,
        /// What it said.
        error: LaunchError,
    },
    /// It was started and could not be bound; it was ended again.
    #[error("session {session} was started and could not be recorded")]
    NotRecorded {
        /// Which.
        session: SessionId,
        /// Why not.
        #[source]
        error: StorageError,
    },
    /// The placement or the live sessions could not be read.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The server stops.
    #[error("the server is stopping")]
    Stopping,
}

impl Classified for StartError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotPlaced => ErrorKind::FailedPrecondition,
            Self::AlreadyLive { .. } => ErrorKind::Conflict,
            Self::Runner { error, .. } => error.kind(),
            Self::NotRecorded { .. } => ErrorKind::Internal,
            Self::Storage(error) => error.kind(),
            Self::Stopping => ErrorKind::Unavailable,
        }
    }
}

impl Hub {
    /// Starts an agent on its placement and binds the session; its sweep begins.
    ///
    /// Hanging up cancels nothing. A start whose outcome is unknown is followed by a stop of the same session.
    ///
    /// # Errors
    ///
    /// [`StartError`]; the agent was not started, or was ended again.
    pub async fn start_placed(&self, tenant: &TenantId, account: AccountId) -> Result<SessionId, StartError> {
        self.start_apart(tenant, account, None).await
    }

    /// The same because somebody asked for it, in a session of before if one is given. A failure is noted.
    ///
    /// # Errors
    ///
    /// As [`Hub::start_placed`].
    pub async fn start(
        &self,
        tenant: &TenantId,
        account: AccountId,
        resume: Option<SessionId>,
    ) -> Result<SessionId, StartError> {
        let began = self.ports.clock.now();
        let started = self.start_apart(tenant, account, resume).await;
        match &started {
            Ok(_) => self.notes.works(&(tenant.clone(), account), began),
            Err(error) => self.note(tenant, account, NoteKind::Failed, &format!("not started: {error}")),
        }
        started
    }

    async fn start_apart(
        &self,
        tenant: &TenantId,
        account: AccountId,
        resume: Option<SessionId>,
    ) -> Result<SessionId, StartError> {
        let tenant = tenant.clone();
        let started =
            self.detached_from_caller(|hub| async move { hub.start_now(&tenant, account, resume).await });
        started.await.unwrap_or(Err(StartError::Stopping))
    }

    async fn start_now(
        &self,
        tenant: &TenantId,
        account: AccountId,
        resume: Option<SessionId>,
    ) -> Result<SessionId, StartError> {
        let placement = self.ports.placements.find(tenant, account).await?.ok_or(StartError::NotPlaced)?;
        if let Some(session) = self.live_delivering(tenant, account).await? {
            return Err(StartError::AlreadyLive { session });
        }
        let session = resume.unwrap_or_else(|| self.ports.ids.session());
        let runner = RunnerKey::Named { tenant: tenant.clone(), name: placement.runner.clone() };
        self.enrollments.mint(&runner, account, session);
        let started = self.start_on(&runner, placement, session, resume.is_some()).await;
        // From here on the registry knows it, or nobody does.
        self.enrollments.forget_session(session);
        if let Err(error) = &started {
            tracing::warn!(account.id = %account, session.id = %session, %error, "an agent was not started");
        }
        started
    }

    async fn start_on(
        &self,
        runner: &RunnerKey,
        placement: Placement,
        session: SessionId,
        resume: bool,
    ) -> Result<SessionId, StartError> {
        let Placement { account, container, .. } = placement;
        let address = Address::Runner(runner.clone());
        let command = Command::Start { container, session, resume };
        let sent = match self.command(&address, &self.request_id(), command).await {
            Ok(Outcome::Started { session: Some(found) }) if found == session => Ok(()),
            Ok(Outcome::Started { session: Some(found) }) => {
                self.stop_unwanted_later(address.clone(), found);
                Err(LaunchError::Mismatch)
            }
            Ok(_) => Err(LaunchError::Mismatch),
            Err(error) => Err(error),
        };
        if let Err(error) = sent {
            if is_unclear(&error) {
                self.stop_unwanted_later(address, session);
            }
            return Err(StartError::Runner { runner: runner.name(), error });
        }
        let request = OpenRequest { runner: runner.clone(), account, mode: AttachMode::Deliveries, session };
        if let Err(error) = self.open(request).await {
            // Whether it ended is logged; the caller is told that it is not bound.
            drop(self.stop_unwanted(&address, session).await);
            return Err(StartError::NotRecorded { session, error });
        }
        if let Some(state) = self.enrollments.take_early(session)
            && let Err(error) = self.report_bound(session, state, Source::Early).await
        {
            tracing::warn!(session.id = %session, %error, "an early state of a session was not recorded");
        }
        Ok(session)
    }

    /// The account's session that takes deliveries and is up, on any node.
    pub(crate) async fn live_delivering(
        &self,
        tenant: &TenantId,
        account: AccountId,
    ) -> Result<Option<SessionId>, StorageError> {
        let live = self.ports.ledger.live_sessions(tenant, Some(&[account])).await?;
        let up = live.iter().find(|row| row.mode == AttachMode::Deliveries && row.state.is_live());
        Ok(up.map(|row| row.session))
    }
}

/// True if the runner may have started the session all the same.
fn is_unclear(error: &LaunchError) -> bool {
    match error {
        LaunchError::TimedOut { .. } | LaunchError::Detached | LaunchError::Mismatch => true,
        LaunchError::NotAttached
        | LaunchError::Busy
        | LaunchError::Refused { .. }
        | LaunchError::NoRequestId => false,
    }
}
