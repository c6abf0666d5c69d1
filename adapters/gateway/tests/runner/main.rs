//! A runner from outside: a server that it dials, real processes, real sockets.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests fail the test")]

mod commands;
mod crashes;
mod processes;
mod rig;
mod server;
