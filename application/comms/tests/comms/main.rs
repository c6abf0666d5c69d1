//! The use cases over storage, writer and bus in memory.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking, too")]

mod accounts;
mod asks;
mod channels;
mod events;
mod house;
mod messages;
mod parity;
mod relay_union;
mod sessions;
mod tokens;
