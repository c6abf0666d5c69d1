//! The rules of posting, answering, cancelling and restoring asks.
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod answering;
mod closing;
mod digest;
mod posting;
mod reading;
mod restoring;
mod support;
