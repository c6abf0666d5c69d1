//! Storage and writer on Postgres and SQLite through SeaORM.

mod blocks;
mod checks;
mod connection;
mod dialect;
mod error;
mod hub;
mod ids;
mod message_json;
mod migrations;
mod rows;
mod schema;
#[cfg(test)]
mod testing;
mod transaction;
mod writer;

pub use connection::{OpenError, Options, SeaStorage};
pub use writer::SeaWriter;
