//! The tools over the Model Context Protocol, from the outside.
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod faults;
mod http;
mod refusals;
mod rig;
mod stdio;
