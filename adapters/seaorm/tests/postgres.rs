//! Storage, writer and hub ports on Postgres against the contract suites.

mod common;

use compass_domain::TenantId;
use compass_testkit::{
    Fixture,
    postgres::{Cluster, TestDatabase},
};

/// Sequences of a short run of the model: about five seconds.
const SEQUENCES: u32 = 10;

async fn fixture() -> Fixture {
    with_tenants(Vec::new()).await
}

async fn with_tenants(tenants: Vec<TenantId>) -> Fixture {
    match TestDatabase::fresh(Cluster::Fast).await {
        Some(database) => common::open(database.url().to_owned(), tenants, Box::new(database)).await,
        // Allowed, and announced, where a machine has no server; the suites then only repeat themselves.
        None => common::sqlite(tenants).await,
    }
}

compass_testkit::store_contracts!(fixture, with_tenants, SEQUENCES);
