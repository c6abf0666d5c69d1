//! The end of a rare write: commit, then tell.

use std::sync::Arc;

use compass_domain::{Event, TenantId};
use compass_ports::{StorageError, commit_then_publish};

use crate::{Comms, ports::UnitOfWork};

impl Comms {
    /// Commits `unit` on a task of the server's own and publishes `events` once it is kept.
    pub(crate) async fn finish(
        &self,
        tenant: &TenantId,
        unit: Box<dyn UnitOfWork>,
        events: Vec<Event>,
    ) -> Result<(), StorageError> {
        let commit = async move { unit.commit().await };
        commit_then_publish(&self.tasks, &self.turns, Arc::clone(&self.bus), tenant.clone(), commit, events)
            .await
    }
}
