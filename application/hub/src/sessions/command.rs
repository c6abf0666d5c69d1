//! Commands to runners within their deadlines.

use std::{sync::Arc, time::Duration};

use compass_domain::SessionId;
use tokio::time::timeout;

use crate::{
    Hub,
    ports::{Address, Command, LaunchError, Outcome},
};

/// How long the end of a session that nobody wants is waited for.
const UNWANTED: Duration = Duration::from_secs(10);

impl Hub {
    /// Sends a command and waits for its result within the command's deadline.
    ///
    /// # Errors
    ///
    /// [`LaunchError`]; after [`LaunchError::TimedOut`] the command is still in flight.
    pub(crate) async fn command(
        &self,
        address: &Address,
        request_id: &str,
        command: Command,
    ) -> Result<Outcome, LaunchError> {
        let deadline = command.deadline();
        let sent = timeout(deadline, self.ports.launcher.send(address, request_id, command)).await;
        sent.unwrap_or(Err(LaunchError::TimedOut { seconds: deadline.as_secs() }))
    }

    /// An id for a command that no other one joins.
    pub(crate) fn request_id(&self) -> String {
        self.ports.ids.session().to_string()
    }

    /// Ends a session on its runner that must not run, within a bound.
    ///
    /// # Errors
    ///
    /// [`LaunchError`] if it may still run; a status of the runner's shows it then.
    pub(crate) async fn stop_unwanted(
        &self,
        address: &Address,
        session: SessionId,
    ) -> Result<(), LaunchError> {
        let request_id = self.request_id();
        let stop = self.ports.launcher.send(address, &request_id, Command::Stop { session });
        let stopped = timeout(UNWANTED, stop).await;
        let stopped = stopped.unwrap_or(Err(LaunchError::TimedOut { seconds: UNWANTED.as_secs() }));
        if let Err(error) = &stopped {
            tracing::warn!(session.id = %session, %error, "a session that must not run was not stopped");
        }
        stopped.map(drop)
    }

    /// The same, with nobody waiting for it.
    pub(crate) fn stop_unwanted_later(&self, address: Address, session: SessionId) {
        let Some(hub) = self.me.upgrade() else { return };
        self.ports.tasks.spawn(async move {
            // Logged where it failed; there is nobody else to tell.
            drop(hub.stop_unwanted(&address, session).await);
        });
    }

    /// Runs `work` on a task of the hub's own, so that a caller that hangs up cancels nothing; none if the hub is
    /// gone or the work panicked.
    pub(crate) async fn detached_from_caller<T: Send + 'static, F>(
        &self,
        work: impl FnOnce(Arc<Self>) -> F,
    ) -> Option<T>
    where
        F: Future<Output = T> + Send + 'static,
    {
        let hub = self.me.upgrade()?;
        let working = self.ports.tasks.spawn(work(hub));
        match working.await {
            Ok(done) => Some(done),
            Err(failed) => {
                tracing::error!(error = %failed, "a task of the hub failed");
                None
            }
        }
    }
}
