//! What both databases hand to the contract suites.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::{any::Any, num::NonZeroU64, sync::Arc};

use compass_domain::TenantId;
use compass_memory::MemoryBus;
use compass_ports::{Clock, EventBus, Writer};
use compass_seaorm::{Options, SeaStorage, SeaWriter};
use compass_testkit::{Fixture, SystemClock};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// An empty SQLite file with these tenants besides the default one.
pub(crate) async fn sqlite(tenants: Vec<TenantId>) -> Fixture {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let url = format!("sqlite:{}", dir.path().join("compass.db").display());
    open(url, tenants, Box::new(dir)).await
}

/// The database at `url`, kept by `database`, with these tenants besides the default one.
pub(crate) async fn open(
    url: String,
    tenants: Vec<TenantId>,
    database: Box<dyn Any + Send + Sync>,
) -> Fixture {
    let options = Options { allow_unsafe_durability: true, max_connections: 8, tenants, ..Options::new(url) };
    let storage = Arc::new(SeaStorage::connect(options).await.expect("the database opens"));
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let bus: Arc<dyn EventBus> = Arc::new(MemoryBus::new(NonZeroU64::MAX, Arc::clone(&clock)));
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let writer = || -> Arc<dyn Writer> {
        Arc::new(SeaWriter::start(&storage, Arc::clone(&bus), &tasks, stop.clone()))
    };
    Fixture {
        writer: writer(),
        second: writer(),
        storage: Arc::<SeaStorage>::clone(&storage),
        ledger: Arc::<SeaStorage>::clone(&storage),
        audience: Arc::<SeaStorage>::clone(&storage),
        placements: Arc::<SeaStorage>::clone(&storage),
        overview: storage,
        bus,
        clock,
        guard: Box::new((stop.drop_guard(), database)),
    }
}
