//! Storage, writer and hub ports on SQLite against the contract suites.

mod common;

use common::sqlite as with_tenants;
use compass_testkit::Fixture;

/// Sequences of a short run of the model: about five seconds.
const SEQUENCES: u32 = 10;

async fn fixture() -> Fixture {
    with_tenants(Vec::new()).await
}

compass_testkit::storage_contract!(fixture);
compass_testkit::writer_contract!(fixture);
compass_testkit::hub_ports_contract!(fixture);
compass_testkit::events_contract!(fixture);
compass_testkit::asks_contract!(fixture);
compass_testkit::channels_contract!(fixture);
compass_testkit::topics_contract!(fixture);
compass_testkit::model_contract!(with_tenants, SEQUENCES);
