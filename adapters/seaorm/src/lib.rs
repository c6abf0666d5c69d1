//! Storage and writer on Postgres and SQLite through SeaORM.

mod accounts;
mod blocks;
mod channels;
mod checks;
mod connection;
mod dialect;
mod error;
mod groups;
mod hub;
mod ids;
mod message_json;
mod messages;
mod migrations;
#[cfg(test)]
mod open_tests;
mod participants;
mod participation;
mod pins;
#[cfg(test)]
mod plan_tests;
mod read_positions;
mod read_unit;
mod rows;
mod schema;
mod search;
mod settings;
mod storage;
#[cfg(test)]
mod testing;
mod tokens;
mod topics;
mod transaction;
mod unit_of_channels;
mod unit_of_work;
mod writer;

pub use connection::{OpenError, Options, SeaStorage};
pub use writer::SeaWriter;
