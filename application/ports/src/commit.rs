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
    let (told, of) = (Arc::clone(&bus), tenant.clone());
    let task = tasks.spawn(async move {
        let kept = commit.await;
        match &kept {
            Ok(()) => told.publish(&of, events),
            // Who sees what may have changed, and no event says so.
            Err(StorageError::OutcomeUnknown(_)) => told.raise_access(&of),
            Err(_) => {}
        }
        kept
    });
    match task.await {
        Ok(result) => result,
        Err(stopped) => {
            bus.raise_access(&tenant);
            Err(StorageError::OutcomeUnknown(stopped.to_string()))
        }
    }
}
