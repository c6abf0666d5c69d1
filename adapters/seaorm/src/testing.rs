//! Databases for this crate's own tests.

use std::{
    any::Any,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use compass_domain::{Event, TenantId};
use compass_ports::{EventBus, Next, Since, Subscription, Underflow};
use compass_testkit::postgres::{Cluster, TestDatabase};
use sea_orm::Value;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{Options, SeaStorage, SeaWriter, transaction::Access};

/// An empty database and what removes it.
pub(crate) struct Db {
    pub(crate) storage: SeaStorage,
    pub(crate) url: String,
    _guard: Box<dyn Any + Send + Sync>,
}

impl Db {
    /// A SQLite file.
    pub(crate) async fn sqlite() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let url = format!("sqlite:{}", dir.path().join("compass.db").display());
        Self::open(url, Box::new(dir)).await
    }

    /// A database of a Postgres server, where there is one.
    pub(crate) async fn postgres() -> Option<Self> {
        let database = TestDatabase::fresh(Cluster::Fast).await?;
        let url = database.url().to_owned();
        Some(Self::open(url, Box::new(database)).await)
    }

    /// One of each.
    pub(crate) async fn both() -> Vec<Self> {
        let mut all = vec![Self::sqlite().await];
        all.extend(Self::postgres().await);
        all
    }

    async fn open(url: String, guard: Box<dyn Any + Send + Sync>) -> Self {
        let options = Options { allow_unsafe_durability: true, ..Options::new(url.clone()) };
        let storage = SeaStorage::connect(options).await.expect("the database opens");
        Self { storage, url, _guard: guard }
    }

    /// A writer that publishes on `bus`.
    pub(crate) fn writer(&self, bus: &Arc<Recorder>) -> SeaWriter {
        let bus: Arc<dyn EventBus> = Arc::clone(bus) as Arc<dyn EventBus>;
        SeaWriter::start(&self.storage, bus, &TaskTracker::new(), CancellationToken::new())
    }

    /// Runs a statement over the default tenant's rows; how many it changed.
    pub(crate) async fn execute(&self, sql: &str, values: Vec<Value>) -> u64 {
        let tenant = TenantId::default_tenant();
        let mut tx = self.storage.pools.tenant(&tenant, Access::Write).await.expect("a transaction");
        let changed = tx.execute(sql, values).await.expect("the statement runs");
        tx.commit().await.expect("it is kept");
        changed
    }

    /// Runs statements in one transaction.
    pub(crate) async fn execute_all<const N: usize>(&self, statements: [(&str, Vec<Value>); N]) {
        let tenant = TenantId::default_tenant();
        let mut tx = self.storage.pools.tenant(&tenant, Access::Write).await.expect("a transaction");
        for (sql, values) in statements {
            tx.execute(sql, values).await.expect("the statement runs");
        }
        tx.commit().await.expect("it is kept");
    }

    /// The first column of the first row, a number.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        let tenant = TenantId::default_tenant();
        let mut tx = self.storage.pools.tenant(&tenant, Access::Snapshot).await.expect("a transaction");
        let row = tx.one(sql, Vec::new()).await.expect("the statement runs").expect("a row");
        row.try_get_by_index(0).expect("a number")
    }
}

/// A bus that only remembers.
#[derive(Debug, Default)]
pub(crate) struct Recorder(Mutex<Vec<Vec<Event>>>);

impl Recorder {
    /// The lists that were published, in order.
    pub(crate) fn lists(&self) -> Vec<Vec<Event>> {
        self.0.lock().expect("no test panicked with it").clone()
    }
}

impl EventBus for Recorder {
    fn publish(&self, _tenant: &TenantId, events: Vec<Event>) {
        self.0.lock().expect("no test panicked with it").push(events);
    }

    fn subscribe(&self, _tenant: &TenantId, _since: Since) -> Result<Box<dyn Subscription>, Underflow> {
        Err(Underflow)
    }

    fn tap(&self) -> Box<dyn Subscription> {
        Box::new(Nothing)
    }

    fn access_version(&self, _tenant: &TenantId) -> u64 {
        0
    }

    fn raise_access(&self, _tenant: &TenantId) {}

    fn epoch(&self) -> u64 {
        1
    }

    fn close(&self) {}
}

struct Nothing;

#[async_trait]
impl Subscription for Nothing {
    async fn next(&mut self) -> Next {
        Next::Closed
    }
}
