//! The writer of the five hot paths: post, answer, cancel, acknowledge, route.

use async_trait::async_trait;
use compass_domain::TenantId;

use crate::{ErasedJob, StorageError, WriteJob, job::Pending};

/// Takes jobs, commits them in small batches, publishes their events in commit order, completes their callers.
///
/// Jobs run on a task of the writer's own: a caller that hangs up cancels nothing. A batch locks in one order,
/// loads after the locks, decides each job, writes one statement per table and commits once. An SQL error
/// re-runs the batch one job at a time.
#[async_trait]
pub trait Writer: Send + Sync {
    /// Queues a job; waits while the queue is full.
    ///
    /// # Errors
    ///
    /// [`StorageError::Unavailable`] if the writer has stopped; nothing was kept.
    async fn enqueue(&self, tenant: &TenantId, job: Box<dyn ErasedJob>) -> Result<(), StorageError>;
}

/// Submits a job and waits for its own outcome.
///
/// # Errors
///
/// The job's refusal, or what became of its batch.
pub async fn submit<J: WriteJob>(
    writer: &dyn Writer,
    tenant: &TenantId,
    job: J,
) -> Result<J::Outcome, J::Error> {
    let (pending, reply) = Pending::new(job);
    writer.enqueue(tenant, Box::new(pending)).await?;
    match reply.await {
        Ok(result) => result,
        Err(_) => Err(StorageError::OutcomeUnknown("the writer stopped".into()).into()),
    }
}
