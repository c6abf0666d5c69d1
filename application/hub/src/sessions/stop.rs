//! Ends, reloads and tells of sessions, and takes containers away, through their runners.

use std::sync::atomic::Ordering;

use compass_domain::{AccountId, Classified, ErrorKind, LifecycleState, SessionId, TenantId};
use compass_ports::StorageError;

use super::RunnerKey;
use crate::{
    Hub,
    ports::{Address, Command, LaunchError, LiveSession, Outcome, Placement, Reported, StoredSession},
};

/// Why a command about a session or a container came to nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CommandError {
    /// The runner did not obey.
    #[error("runner {runner}: {error}")]
    Runner {
        /// Which runner.
        runner: String,
        /// What it said.
        error: LaunchError,
    },
    /// What the ledger keeps could not be read or changed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The server stops.
    #[error("the server is stopping")]
    Stopping,
}

impl Classified for CommandError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Runner { error, .. } => error.kind(),
            Self::Storage(error) => error.kind(),
            Self::Stopping => ErrorKind::Unavailable,
        }
    }
}

impl Hub {
    /// A session that was ever opened in a tenant.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if the ledger cannot be read.
    pub async fn find_session(
        &self,
        tenant: &TenantId,
        session: SessionId,
    ) -> Result<Option<StoredSession>, StorageError> {
        Ok(self.ports.ledger.find_sessions(tenant, &[session]).await?.pop())
    }

    /// The placement that holds a container.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if the placements cannot be read.
    pub async fn find_container(
        &self,
        tenant: &TenantId,
        container: &str,
    ) -> Result<Option<Placement>, StorageError> {
        self.ports.placements.find_container(tenant, container).await
    }

    /// Stops a session at its runner and unbinds it. One that is over on both sides is left as it is.
    ///
    /// # Errors
    ///
    /// [`CommandError`]; the session is bound as before.
    pub async fn stop(&self, tenant: &TenantId, row: StoredSession) -> Result<(), CommandError> {
        let tenant = tenant.clone();
        let stopped = self.detached_from_caller(|hub| async move { hub.stop_now(&tenant, row).await });
        stopped.await.unwrap_or(Err(CommandError::Stopping))
    }

    async fn stop_now(&self, tenant: &TenantId, row: StoredSession) -> Result<(), CommandError> {
        let session = row.session;
        let (address, request_id) = (self.address(tenant, &row), self.request_id());
        // Before it is asked for: the runner's word on the end may overtake the result.
        self.unwanted([session]);
        match self.command(&address, &request_id, Command::Stop { session }).await {
            Ok(Outcome::Stopped) | Err(LaunchError::Refused { kind: ErrorKind::NotFound, .. }) => {}
            Ok(_) => return Err(refused(row.runner, LaunchError::Mismatch)),
            // A runner that is away and runs nothing has nothing to stop.
            Err(LaunchError::NotAttached) if self.live_row(tenant, &row).await?.is_none() => {}
            Err(error) => return Err(refused(row.runner, error)),
        }
        Ok(self.close(session).await?)
    }

    /// Has a session read its configuration again; it stays bound and is not swept.
    ///
    /// # Errors
    ///
    /// [`CommandError`]; nothing changed.
    pub async fn reload(&self, tenant: &TenantId, row: &StoredSession) -> Result<(), CommandError> {
        let session = row.session;
        let (address, request_id) = (self.address(tenant, row), self.request_id());
        match self.command(&address, &request_id, Command::Reload { session }).await {
            Ok(Outcome::Reloaded) => Ok(()),
            Ok(_) => Err(refused(row.runner.clone(), LaunchError::Mismatch)),
            Err(error) => Err(refused(row.runner.clone(), error)),
        }
    }

    /// Takes a container and the placement away; a session in it ends. One that the runner does not know is gone
    /// already, and so is one of a runner that is away where no session of the agent is live.
    ///
    /// # Errors
    ///
    /// [`CommandError`]; the placement is as it was.
    pub async fn remove(&self, tenant: &TenantId, placement: Placement) -> Result<(), CommandError> {
        let tenant = tenant.clone();
        let removed =
            self.detached_from_caller(|hub| async move { hub.remove_now(&tenant, placement).await });
        removed.await.unwrap_or(Err(CommandError::Stopping))
    }

    async fn remove_now(&self, tenant: &TenantId, placement: Placement) -> Result<(), CommandError> {
        let Placement { account, runner, container, .. } = placement;
        let key = RunnerKey::Named { tenant: tenant.clone(), name: runner.clone() };
        let address = Address::Runner(key.clone());
        self.unwanted(self.sessions_on(&key, account));
        match self.command(&address, &self.request_id(), Command::Remove { container }).await {
            Ok(Outcome::Removed) | Err(LaunchError::Refused { kind: ErrorKind::NotFound, .. }) => {}
            Ok(_) => return Err(refused(runner, LaunchError::Mismatch)),
            // A runner that is away may never come back. If it does, it is told to stop what has no place on it.
            Err(LaunchError::NotAttached) if !self.is_live_on(tenant, account, &runner).await? => {}
            Err(error) => return Err(refused(runner, error)),
        }
        for session in self.sessions_on(&key, account) {
            self.close(session).await?;
        }
        Ok(self.ports.placements.remove(tenant, account).await?)
    }

    /// The state of one session: its runner's word, and what was recorded last if the runner does not answer.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if the ledger cannot be read.
    pub async fn status(
        &self,
        tenant: &TenantId,
        row: &StoredSession,
    ) -> Result<LifecycleState, StorageError> {
        let session = row.session;
        let Some(recorded) = self.live_row(tenant, row).await? else { return Ok(LifecycleState::Stopped) };
        let status = Command::Status { session: Some(session) };
        let asked = self.command(&Address::Session(session), &self.request_id(), status).await;
        let told = match asked {
            Ok(Outcome::Status(told)) => of_session(&told, session),
            _ => None,
        };
        Ok(told.unwrap_or(recorded.state))
    }

    /// The live sessions of the accounts, on any node.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if the ledger cannot be read.
    pub async fn live_sessions(
        &self,
        tenant: &TenantId,
        accounts: &[AccountId],
    ) -> Result<Vec<LiveSession>, StorageError> {
        self.ports.ledger.live_sessions(tenant, Some(accounts)).await
    }

    /// The live row of a session.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if the ledger cannot be read.
    pub async fn live_row(
        &self,
        tenant: &TenantId,
        row: &StoredSession,
    ) -> Result<Option<LiveSession>, StorageError> {
        let live = self.ports.ledger.live_sessions(tenant, Some(&[row.account])).await?;
        Ok(live.into_iter().find(|live| live.session == row.session))
    }

    /// True if an agent has a live session on a runner, on any node.
    async fn is_live_on(
        &self,
        tenant: &TenantId,
        account: AccountId,
        runner: &str,
    ) -> Result<bool, StorageError> {
        let live = self.ports.ledger.live_sessions(tenant, Some(&[account])).await?;
        Ok(live.iter().any(|row| row.runner == runner))
    }

    /// An agent's sessions on a runner, on this node.
    fn sessions_on(&self, runner: &RunnerKey, account: AccountId) -> Vec<SessionId> {
        let mut sessions: Vec<SessionId> = self.registry.of_runner(runner).into_keys().collect();
        sessions.retain(|session| self.account_of(*session).is_some_and(|(_, owner)| owner == account));
        sessions
    }

    /// Notes that somebody asked for the end of sessions, which is no failure of theirs then.
    fn unwanted(&self, sessions: impl IntoIterator<Item = SessionId>) {
        for entry in sessions.into_iter().filter_map(|session| self.registry.get(session)) {
            entry.is_unwanted.store(true, Ordering::Relaxed);
        }
    }

    /// The stream that leads to a session; its runner's if it is not bound here.
    fn address(&self, tenant: &TenantId, row: &StoredSession) -> Address {
        if self.registry.get(row.session).is_some() || row.runner == row.account.to_string() {
            return Address::Session(row.session);
        }
        Address::Runner(RunnerKey::Named { tenant: tenant.clone(), name: row.runner.clone() })
    }
}

/// What a status says of a session: the one with its id, or the only one if it has none.
fn of_session(told: &[Reported], session: SessionId) -> Option<LifecycleState> {
    let named = told.iter().find(|reported| reported.session == Some(session));
    let only = match told {
        [one] if one.session.is_none() => Some(one),
        _ => None,
    };
    named.or(only).map(|reported| reported.state)
}

fn refused(runner: String, error: LaunchError) -> CommandError {
    CommandError::Runner { runner, error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_matched_by_session_and_a_single_one_without_a_name_counts() {
        use LifecycleState::{Ready, Working};
        let session = |byte| SessionId::from_bytes([byte; 16]);
        let told = |session, state| Reported { session, state };
        let asked = session(1);
        assert_eq!(
            of_session(&[told(Some(session(2)), Ready), told(Some(asked), Working)], asked),
            Some(Working)
        );
        assert_eq!(of_session(&[told(None, Ready)], asked), Some(Ready));
        assert_eq!(of_session(&[told(Some(session(2)), Ready)], asked), None);
        assert_eq!(of_session(&[told(None, Ready), told(None, Working)], asked), None);
        assert_eq!(of_session(&[], asked), None);
    }
}
