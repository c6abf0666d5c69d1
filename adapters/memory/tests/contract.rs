//! The memory adapter against the contract suites.

use std::{num::NonZeroU64, sync::Arc};

use compass_domain::TenantId;
use compass_memory::{MemoryBus, MemoryStorage, MemoryWriter};
use compass_ports::{Clock, EventBus, Writer};
use compass_testkit::{FixedClock, Fixture};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

#[expect(clippy::unused_async, reason = "the suites await the fixture of every adapter")]
async fn fixture() -> Fixture {
    let clock: Arc<dyn Clock> = Arc::new(FixedClock::default());
    let bus: Arc<dyn EventBus> = Arc::new(MemoryBus::new(NonZeroU64::MAX, Arc::clone(&clock)));
    let storage = Arc::new(MemoryStorage::new(Arc::clone(&clock)));
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let writer = || -> Arc<dyn Writer> {
        let store = MemoryStorage::clone(&storage);
        Arc::new(MemoryWriter::start(store, Arc::clone(&bus), &tasks, stop.clone()))
    };
    Fixture {
        writer: writer(),
        second: writer(),
        storage: Arc::<MemoryStorage>::clone(&storage),
        ledger: Arc::<MemoryStorage>::clone(&storage),
        audience: Arc::<MemoryStorage>::clone(&storage),
        placements: Arc::<MemoryStorage>::clone(&storage),
        overview: storage,
        bus,
        clock,
        guard: Box::new(stop.drop_guard()),
    }
}

/// Sequences of a short run of the model: about five seconds.
const SEQUENCES: u32 = 200;

/// A tenant begins to exist when it is written to.
async fn with_tenants(_tenants: Vec<TenantId>) -> Fixture {
    fixture().await
}

compass_testkit::store_contracts!(fixture, with_tenants, SEQUENCES);
compass_testkit::bus_contract!(fixture);
