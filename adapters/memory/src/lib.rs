//! Storage, writer and event bus in memory: a full mode of the server, and what fast tests run on.
//!
//! Rows live in persistent maps: a snapshot shares everything with the rows it was taken from, a unit of work
//! changes a copy that a commit puts in place.

mod audience;
mod bus;
mod ledger;
mod overview;
mod placements;
mod reads;
mod rows;
mod search;
mod storage;
mod unit;
mod unit_of_channels;
mod writer;

pub use bus::MemoryBus;
pub use storage::MemoryStorage;
pub use writer::MemoryWriter;
