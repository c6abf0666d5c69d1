//! The writer of the hot paths: takes what waits, decides job after job in one turn, publishes, completes.

use std::sync::Arc;

use async_trait::async_trait;
use compass_domain::{Event, TenantId};
use compass_ports::{ErasedJob, EventBus, StorageError, Writer, Writes};
use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    MemoryStorage,
    rows::{World, load},
};

/// Jobs that may wait.
const QUEUE: usize = 1024;
/// Jobs that share one turn.
const BATCH: usize = 64;

type Queued = (TenantId, Box<dyn ErasedJob>);

/// A writer over a memory store. Several over one store take turns.
pub struct MemoryWriter {
    queue: mpsc::Sender<Queued>,
}

impl MemoryWriter {
    /// Starts the writer's task; it ends when `stop` is cancelled and every queued job is done.
    pub fn start(
        storage: MemoryStorage,
        bus: Arc<dyn EventBus>,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        let (queue, jobs) = mpsc::channel(QUEUE);
        tasks.spawn(run(storage, bus, jobs, stop));
        Self { queue }
    }
}

#[async_trait]
impl Writer for MemoryWriter {
    async fn enqueue(&self, tenant: &TenantId, job: Box<dyn ErasedJob>) -> Result<(), StorageError> {
        let sent = self.queue.send((tenant.clone(), job)).await;
        sent.map_err(|_| StorageError::Unavailable("the writer has stopped".into()))
    }
}

async fn run(
    storage: MemoryStorage,
    bus: Arc<dyn EventBus>,
    mut jobs: mpsc::Receiver<Queued>,
    stop: CancellationToken,
) {
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        let taken = tokio::select! {
            biased;
            taken = jobs.recv_many(&mut batch, BATCH) => taken,
            () = stop.cancelled(), if !jobs.is_closed() => {
                // Nothing new comes in; what is queued is still done.
                jobs.close();
                continue;
            }
        };
        if taken == 0 {
            return;
        }
        write(&storage, bus.as_ref(), batch.drain(..)).await;
        tokio::task::yield_now().await;
    }
}

/// Decides and stores a batch, then publishes and completes in the same order.
async fn write(storage: &MemoryStorage, bus: &dyn EventBus, batch: impl Iterator<Item = Queued>) {
    let mut turn = storage.turn().await;
    let done: Vec<Done> = batch.map(|(tenant, job)| step(&mut turn.world, tenant, job)).collect();
    turn.keep();
    let mut completed = Vec::with_capacity(done.len());
    for Done { tenant, job, events, stored } in done {
        // Still in the turn, so that events leave in the order of commits.
        bus.publish(&tenant, events);
        completed.push((job, stored));
    }
    drop(turn);
    for (job, stored) in completed {
        job.complete(stored);
    }
}

struct Done {
    tenant: TenantId,
    job: Box<dyn ErasedJob>,
    events: Vec<Event>,
    stored: Result<(), StorageError>,
}

/// Decides one job on the rows as the jobs before it left them; one that fails leaves them as they were.
fn step(world: &mut World, tenant: TenantId, mut job: Box<dyn ErasedJob>) -> Done {
    let loaded = load(&world.tenant(&tenant), &job.locks());
    let mut writes = job.decide(&loaded).unwrap_or_else(Writes::none);
    let stored = store(world, &tenant, &writes);
    let events = if stored.is_ok() { writes.take_events() } else { Vec::new() };
    Done { tenant, job, events, stored }
}

fn store(world: &mut World, tenant: &TenantId, writes: &Writes) -> Result<(), StorageError> {
    if writes.is_empty() {
        return Ok(());
    }
    let mut changed = world.clone();
    changed.apply(tenant, writes)?;
    *world = changed;
    Ok(())
}
