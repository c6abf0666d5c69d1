//! Storage, writer and hub ports on SQLite against the contract suites.

mod common;

use common::sqlite as fixture;

compass_testkit::storage_contract!(fixture);
compass_testkit::writer_contract!(fixture);
compass_testkit::hub_ports_contract!(fixture);
compass_testkit::events_contract!(fixture);
compass_testkit::asks_contract!(fixture);
compass_testkit::channels_contract!(fixture);
compass_testkit::topics_contract!(fixture);
