//! Commit and publish as one step that no caller can interrupt.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
};

use compass_domain::{Event, TenantId};
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use crate::{EventBus, StorageError};

/// The order of a tenant's commits that publish: each begins once the one before it has published, so that nobody is
/// told of two changes of one row in the wrong order. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Turns {
    /// Ends when the last one that was taken is over.
    last: Arc<Mutex<HashMap<TenantId, oneshot::Receiver<()>>>>,
}

impl Turns {
    /// The end of the turn before, which is an error if its holder is gone, and what ends this one when it is dropped.
    fn take(&self, tenant: &TenantId) -> (Option<oneshot::Receiver<()>>, oneshot::Sender<()>) {
        let (end, ended) = oneshot::channel();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        (last.insert(tenant.clone(), ended), end)
    }
}

/// Runs `commit` on a task of the server's own when it is its turn, then publishes the events as one list.
///
/// # Errors
///
/// What the commit failed with; nothing is published then.
pub async fn commit_then_publish(
    tasks: &TaskTracker,
    turns: &Turns,
    bus: Arc<dyn EventBus>,
    tenant: TenantId,
    commit: impl Future<Output = Result<(), StorageError>> + Send + 'static,
    events: Vec<Event>,
) -> Result<(), StorageError> {
    let (told, of) = (Arc::clone(&bus), tenant.clone());
    let (before, end) = turns.take(&tenant);
    let task = tasks.spawn(async move {
        let _end = end;
        if let Some(before) = before {
            // Both of its ends mean the same: it is over.
            let _ = before.await;
        }
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
