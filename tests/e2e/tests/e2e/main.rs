//! The real binary from outside: processes, signals, pipes, a terminal, SQLite and Postgres.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests fail the test")]

mod support;

mod acp;
mod agent_run;
mod agents;
mod ask_command;
mod brake;
mod channels;
mod crash;
mod cut;
mod delivery;
mod demo;
mod hooks;
mod identity;
mod kills;
mod limits;
mod mcp;
mod page;
mod people;
mod race;
mod recovery;
mod reset;
mod roster;
mod runner_command;
mod samples;
mod serve;
mod setup;
mod spec;
mod storm;
mod tools;
mod wedged;
