//! Storage, writer and hub ports on Postgres against the contract suites.

mod common;

use compass_testkit::{
    Fixture,
    postgres::{Cluster, TestDatabase},
};

async fn fixture() -> Fixture {
    match TestDatabase::fresh(Cluster::Fast).await {
        Some(database) => common::open(database.url().to_owned(), Box::new(database)).await,
        // Allowed, and announced, where a machine has no server; the suites then only repeat themselves.
        None => common::sqlite().await,
    }
}

compass_testkit::storage_contract!(fixture);
compass_testkit::writer_contract!(fixture);
compass_testkit::hub_ports_contract!(fixture);
compass_testkit::events_contract!(fixture);
compass_testkit::asks_contract!(fixture);
compass_testkit::channels_contract!(fixture);
compass_testkit::topics_contract!(fixture);
