//! The door of runners from outside: a real server on a free port, over storage in memory, and real clients.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests fail the test")]

mod attach;
mod fleet;
mod process;
mod refusals;
mod running;
mod sessions;
#[expect(dead_code, reason = "shared with the tests of the other doors")]
#[path = "../relay/support.rs"]
mod support;
mod watching;
