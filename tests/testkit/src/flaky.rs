//! A writer whose jobs fail when a test says so.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use compass_domain::TenantId;
use compass_ports::{ErasedJob, Locks, StorageError, Writer};
use tokio::sync::Notify;

type Fails = Box<dyn FnMut(&Locks) -> bool + Send>;

/// A writer of which some jobs fail as if the database could not be reached; the others are its inner one's.
pub struct FlakyWriter {
    inner: Arc<dyn Writer>,
    fails: Mutex<Fails>,
    failed: Notify,
}

impl FlakyWriter {
    /// A writer that fails nothing yet.
    pub fn over(inner: Arc<dyn Writer>) -> Self {
        Self { inner, fails: Mutex::new(Box::new(|_| false)), failed: Notify::new() }
    }

    /// Fails the jobs for which this is true, from now on.
    pub fn fail_if(&self, fails: impl FnMut(&Locks) -> bool + Send + 'static) {
        *self.fails.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(fails);
    }

    /// Waits until a job has failed that nobody waited for before.
    pub async fn failed(&self) {
        self.failed.notified().await;
    }
}

impl fmt::Debug for FlakyWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FlakyWriter(..)")
    }
}

#[async_trait]
impl Writer for FlakyWriter {
    async fn enqueue(&self, tenant: &TenantId, job: Box<dyn ErasedJob>) -> Result<(), StorageError> {
        let fails = (self.fails.lock().unwrap_or_else(PoisonError::into_inner))(&job.locks());
        if !fails {
            return self.inner.enqueue(tenant, job).await;
        }
        job.complete(Err(StorageError::Unavailable("no route".into())));
        self.failed.notify_one();
        Ok(())
    }
}
