//! Commit and publish as one step that no caller can interrupt.

use std::{future::Future, sync::Arc};

use compass_domain::{Event, TenantId};
use tokio_util::task::TaskTracker;

use crate::{EventBus, StorageError};

/// Runs `commit` on a task of the server's own, then publishes the events as one list.
///
/// # Errors
///
/// What the commit failed with; nothing is published then.
pub async fn commit_then_publish(
    tasks: &TaskTracker,
    bus: Arc<dyn EventBus>,
    tenant: TenantId,
    commit: impl Future<Output = Result<(), StorageError>> + Send + 'static,
    events: Vec<Event>,
) -> Result<(), StorageError> {
    let task = tasks.spawn(async move {
        commit.await?;
        bus.publish(&tenant, events);
        Ok(())
    });
    match task.await {
        Ok(result) => result,
        Err(stopped) => Err(StorageError::OutcomeUnknown(stopped.to_string())),
    }
}
