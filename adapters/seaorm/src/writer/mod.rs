//! The batching writer: one task and one connection per tenant.

mod attempt;
mod changes;
mod fault;
mod known;
mod lane;
mod needs;
mod postgres;
mod rows;
mod script;
mod session;
mod sql;
mod sqlite;
mod table;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use compass_domain::TenantId;
use compass_ports::{ErasedJob, EventBus, StorageError, Writer};
use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub(crate) use table::{Change, Shape, Table};

use self::{known::Known, lane::Lane, session::Session};
use crate::{connection::SeaStorage, transaction::Pools};

/// Jobs that wait in one tenant's queue at the most; the next caller waits for a place.
const QUEUE: usize = 1024;

type Jobs = mpsc::Sender<Box<dyn ErasedJob>>;

/// The writer of the hot paths. Each tenant has a task and a connection of its own, made when they are first
/// needed. Clones share them.
#[derive(Clone)]
pub struct SeaWriter {
    inner: Arc<Inner>,
}

struct Inner {
    pools: Pools,
    bus: Arc<dyn EventBus>,
    tasks: TaskTracker,
    stop: CancellationToken,
    lanes: Mutex<HashMap<TenantId, Jobs>>,
}

impl SeaWriter {
    /// A writer on `storage` that publishes on `bus`. Its tasks run on `tasks` until `stop`; what is queued by then
    /// is still done.
    pub fn start(
        storage: &SeaStorage,
        bus: Arc<dyn EventBus>,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        let inner =
            Inner { pools: storage.pools.clone(), bus, tasks: tasks.clone(), stop, lanes: Mutex::default() };
        Self { inner: Arc::new(inner) }
    }
}

impl Inner {
    fn lane(&self, tenant: &TenantId) -> Jobs {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(jobs) = lanes.get(tenant).filter(|jobs| !jobs.is_closed()) {
            return jobs.clone();
        }
        let (sender, receiver) = mpsc::channel(QUEUE);
        let lane = Lane {
            tenant: tenant.clone(),
            session: Session::new(&self.pools, tenant),
            known: Known::default(),
            bus: Arc::clone(&self.bus),
            jobs: receiver,
            stop: self.stop.clone(),
        };
        self.tasks.spawn(lane.run());
        lanes.insert(tenant.clone(), sender.clone());
        sender
    }
}

#[async_trait]
impl Writer for SeaWriter {
    async fn enqueue(&self, tenant: &TenantId, job: Box<dyn ErasedJob>) -> Result<(), StorageError> {
        if self.inner.stop.is_cancelled() {
            return Err(stopped());
        }
        self.inner.lane(tenant).send(job).await.map_err(|_| stopped())
    }
}

fn stopped() -> StorageError {
    StorageError::Unavailable("the writer has stopped".into())
}

impl fmt::Debug for SeaWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeaWriter").finish_non_exhaustive()
    }
}
