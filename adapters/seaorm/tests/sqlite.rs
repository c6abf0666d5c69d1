//! Storage, writer and hub ports on SQLite against the contract suites.

mod common;

use common::sqlite as with_tenants;
use compass_testkit::Fixture;

/// Sequences of a short run of the model: about five seconds.
const SEQUENCES: u32 = 10;

async fn fixture() -> Fixture {
    with_tenants(Vec::new()).await
}

compass_testkit::store_contracts!(fixture, with_tenants, SEQUENCES);
