//! The real binary from outside: processes, signals, pipes, a terminal, SQLite and Postgres.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests fail the test")]

mod support;

mod agents;
mod ask_command;
mod channels;
mod crash;
mod delivery;
mod demo;
mod identity;
mod limits;
mod people;
mod race;
mod reset;
mod roster;
mod samples;
mod serve;
mod spec;
mod storm;
