//! The SQL adapter against the contract suites, on both databases.

use std::{any::Any, num::NonZeroU64, sync::Arc};

use compass_memory::MemoryBus;
use compass_ports::{Clock, EventBus, Writer};
use compass_seaorm::{Options, SeaStorage, SeaWriter};
use compass_testkit::{
    Fixture, SystemClock,
    postgres::{Cluster, TestDatabase},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

async fn fixture(url: String, database: Box<dyn Any + Send + Sync>) -> Fixture {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let bus: Arc<dyn EventBus> = Arc::new(MemoryBus::new(NonZeroU64::MAX, Arc::clone(&clock)));
    let options = Options { allow_unsafe_durability: true, ..Options::new(url) };
    let storage = Arc::new(SeaStorage::connect(options).await.expect("the database opens"));
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let writer = || -> Arc<dyn Writer> {
        Arc::new(SeaWriter::start(&storage, Arc::clone(&bus), &tasks, stop.clone()))
    };
    Fixture {
        writer: writer(),
        second: writer(),
        storage: Arc::<SeaStorage>::clone(&storage),
        ledger: Arc::<SeaStorage>::clone(&storage),
        audience: storage,
        bus,
        clock,
        guard: Box::new((stop.drop_guard(), database)),
    }
}

async fn sqlite_file() -> Fixture {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let url = format!("sqlite:{}", directory.path().join("compass.db").display());
    fixture(url, Box::new(directory)).await
}

async fn postgres_database() -> Fixture {
    // Left out only on request; the notice says so, and the suite then proves SQLite twice.
    let Some(database) = TestDatabase::fresh(Cluster::Fast).await else { return sqlite_file().await };
    fixture(database.url().to_owned(), Box::new(database)).await
}

mod sqlite {
    use super::sqlite_file;

    compass_testkit::storage_contract!(sqlite_file);
    compass_testkit::writer_contract!(sqlite_file);
    compass_testkit::hub_ports_contract!(sqlite_file);
}

mod postgres {
    use super::postgres_database;

    compass_testkit::storage_contract!(postgres_database);
    compass_testkit::writer_contract!(postgres_database);
    compass_testkit::hub_ports_contract!(postgres_database);
}
