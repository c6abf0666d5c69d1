//! What is measured beside the product: the least that the same work can cost on this machine.

mod echo;
mod facts;
mod postgres;
mod sqlite;

use std::{path::Path, time::Duration};

use serde::Serialize;
use tokio::time::Instant;

use self::{echo::Echo, postgres::PostgresFloor, sqlite::SqliteFloor};
use crate::{BenchError, stats::Samples};

pub(crate) use echo::Streams;
pub use echo::serve_echo;
pub(crate) use facts::Fact;

/// A setting of the database, as it says itself.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) value: String,
}

/// The floors of one database.
pub(crate) struct Floors {
    store: Store,
    echo: Echo,
}

enum Store {
    Postgres(PostgresFloor),
    Sqlite(SqliteFloor),
}

impl Floors {
    /// Prepares floors with `clients` connections at the most: on the named Postgres database, or in a SQLite file
    /// of the directory.
    pub(crate) async fn open(database: Option<&str>, dir: &Path, clients: usize) -> Result<Self, BenchError> {
        let store = match database {
            Some(url) => Store::Postgres(PostgresFloor::open(url, clients).await?),
            None => Store::Sqlite(SqliteFloor::open(dir).await?),
        };
        Ok(Self { store, echo: Echo::start().await? })
    }

    /// What the database promises of a commit.
    pub(crate) async fn settings(&mut self) -> Result<Vec<Setting>, BenchError> {
        match &mut self.store {
            Store::Postgres(store) => store.settings().await,
            Store::Sqlite(store) => store.settings().await,
        }
    }

    /// Stores one fact after another for about `time`, each in one commit and one round trip.
    pub(crate) async fn commits(&mut self, fact: Fact, time: Duration) -> Result<Samples, BenchError> {
        let until = Instant::now() + time;
        let mut samples = Samples::default();
        while Instant::now() < until {
            match &mut self.store {
                Store::Postgres(store) => samples.push(store.commit(fact).await?),
                Store::Sqlite(store) => samples.push(store.commit(fact).await?),
            }
        }
        Ok(samples)
    }

    /// Stores posts for about `time`, each with five statements and a commit; returns posts by second.
    pub(crate) async fn posts(&mut self, clients: usize, time: Duration) -> Result<f64, BenchError> {
        match &mut self.store {
            Store::Postgres(store) => store.posts(clients, time).await,
            Store::Sqlite(store) => store.posts(time).await,
        }
    }

    /// A call and its reply of 256 bytes each, one after another for about `time`.
    pub(crate) async fn hops(&mut self, time: Duration) -> Result<Samples, BenchError> {
        self.echo.hops(Instant::now() + time).await
    }

    /// Half of there and back on an open stream, again and again for about `time`.
    pub(crate) async fn pushes(&mut self, time: Duration) -> Result<Samples, BenchError> {
        self.echo.pushes(Instant::now() + time).await
    }
}
