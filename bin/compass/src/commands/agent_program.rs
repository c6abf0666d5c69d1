//! The small program that an agent's program is started through, so that it dies with whoever started it.

use std::{ffi::OsString, os::unix::process::CommandExt as _, process::Command};

use rustix::process::{Pid, getppid};

use crate::failure::Failure;

/// Options of `compass agent-program`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Process that starts it, and that it does not outlive
    #[arg(long, value_name = "PID", required = true)]
    parent: i32,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Becomes the program; comes back only if that fails.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Some((program, rest)) = args.program.split_first() else {
        return Err(Failure::Usage("no program to run".to_owned()));
    };
    die_with_parent()?;
    // The parent may have died before the line above; then this process has another one.
    if getppid() != Pid::from_raw(args.parent) {
        return Err(Failure::Local("the process that starts the program is gone".to_owned()));
    }
    let failed = Command::new(program).args(rest).exec();
    Err(Failure::Local(format!("{}: {failed}", program.display())))
}

#[cfg(target_os = "linux")]
fn die_with_parent() -> Result<(), Failure> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
        .map_err(|error| Failure::Local(format!("binding the program's life to its parent's: {error}")))
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent() -> Result<(), Failure> {
    // Its pipes close when the parent dies.
    Ok(())
}
