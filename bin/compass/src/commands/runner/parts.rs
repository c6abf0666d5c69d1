//! The parts of a runner that are processes of their own.

use std::ffi::OsString;

use compass_gateway::runner::{self, Parts};

use crate::failure::Failure;

/// Options of `compass runner exec`.
#[derive(clap::Args, Debug)]
pub(super) struct ExecArgs {
    /// Process id of the runner
    #[arg(long, value_name = "PID", required = true)]
    parent: u32,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

/// How this binary runs the parts below.
pub(super) fn parts() -> Result<Parts, Failure> {
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    Ok(Parts {
        program: std::env::current_exe()?,
        exec: words(&["runner", "exec", "--parent"]),
        guard: words(&["runner", "guard"]),
        core: words(&["agent", "run", "--harness"]),
    })
}

/// Becomes the program, or says why not.
pub(super) fn exec(args: &ExecArgs) -> Result<(), Failure> {
    Err(Failure::Local(runner::exec(args.parent, &args.command).to_string()))
}

/// Waits for the end of the runner, and ends what it left.
pub(super) fn guard() -> Result<(), Failure> {
    Ok(runner::guard(std::io::stdin())?)
}
