//! Builders, fixed clock and ids, contract suites, a temporary Postgres.
//!
//! Each suite is a macro that lists its cases once; an adapter names an async function that makes a fresh
//! [`Fixture`] and gets every case as a test of its own.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a case that fails panics; that is what it is for"
)]

pub mod clock;
pub mod contract;
pub mod counted;
pub mod drafts;
pub mod fixture;
pub mod flaky;
pub mod ids;
pub mod jobs;
pub mod model;
pub mod postgres;
pub mod world;

pub use clock::{FixedClock, SystemClock};
pub use counted::CountedStorage;
pub use fixture::Fixture;
pub use flaky::FlakyWriter;
pub use ids::{RandomIds, SeqIds};
pub use world::{ChannelSpec, NobodyPresent, Scene};

/// True if this run takes its time: more trials of what races, more rows. `COMPASS_LONG=1` asks for it.
pub fn is_long() -> bool {
    std::env::var("COMPASS_LONG").is_ok_and(|long| long == "1")
}
