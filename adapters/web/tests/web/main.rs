//! The page and its session from outside, over a page of a few files and sessions in memory.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, too")]

mod admitting;
mod files;
mod signing_in;
mod support;
