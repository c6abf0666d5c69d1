//! The doors from outside: a real server on a free port, over storage in memory, and real clients.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests fail the test")]

mod agents;
mod channels;
mod classes;
mod conversation;
mod ends;
mod identity;
mod matrix;
mod offered;
mod ownership;
mod round_trip;
mod stream;
mod support;
mod topics;
mod transport;
mod watching;
