//! Blocks, ended asks and answers are made by the domain alone, and an open ask ends once.

use std::panic::{AssertUnwindSafe, catch_unwind};

// Compiled here too, so that what is reported below is that it compiles.
#[path = "../cases/planted/compiles.rs"]
#[expect(dead_code, reason = "nobody calls the program of a case")]
mod compiles;

/// The environment variable by which trybuild rewrites its expectations instead of comparing.
const REWRITE: &str = "TRYBUILD";

#[test]
fn nothing_outside_the_domain_makes_a_block_or_ends_an_ask_twice() {
    trybuild::TestCases::new().compile_fail("cases/*.rs");
}

#[test]
fn a_case_that_compiles_is_reported() {
    if std::env::var_os(REWRITE).is_some() {
        return;
    }
    let planted = || trybuild::TestCases::new().compile_fail("cases/planted/compiles.rs");
    assert!(catch_unwind(AssertUnwindSafe(planted)).is_err());
}
