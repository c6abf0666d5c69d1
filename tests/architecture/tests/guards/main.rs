//! The walls of the house. Each guard is a function over text or descriptors that returns what breaks its rule;
//! one test runs it on this checkout, another plants a violation and sees it reported.

#![expect(clippy::expect_used, clippy::panic, reason = "a guard that cannot read the house fails")]

mod block_sql;
mod block_types;
mod carriers;
mod contract;
mod doors;
mod edge_table;
mod edges;
mod house_rules;
mod hub_blocks;
mod ownership;
mod participation;
mod relay;
mod restoring;
mod sources;
mod status;
mod tools;

/// Fails with one line per violation.
#[track_caller]
fn accept(violations: &[String]) {
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

/// Fails unless some violation mentions every one of the words.
#[track_caller]
fn reported(violations: &[String], words: &[&str]) {
    let found = violations.iter().any(|line| words.iter().all(|word| line.contains(word)));
    assert!(found, "no line with {words:?} in {violations:#?}");
}
