//! What happens when the runner dies: the two small programs that see to it that its agents die too.
//!
//! A program is started through [`exec`], which binds its life to the runner's before it becomes the agent's. What
//! that program started itself is found by [`guard`], one process per runner that notes the process groups.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    io::{self, BufRead as _, BufReader, Read},
    os::unix::process::CommandExt as _,
    process::Command,
};

use nix::{
    errno::Errno,
    sys::signal::{Signal, killpg},
    unistd::{Pid, getppid},
};

/// Becomes the program of an agent; does not come back if that works.
///
/// From here on the system kills this process when the thread that started it ends, which only the runner's end does.
///
/// # Errors
///
/// Why the program cannot be run, or that the runner `parent` is gone already.
pub fn exec(parent: u32, command: &[OsString]) -> io::Error {
    let Some((program, args)) = command.split_first() else {
        return io::Error::new(io::ErrorKind::InvalidInput, "no program to run");
    };
    if let Err(error) = die_with_parent() {
        return error;
    }
    // The runner may have died before the line above; then this process has another parent.
    if u32::try_from(getppid().as_raw()) != Ok(parent) {
        return io::Error::new(io::ErrorKind::NotFound, "the runner is gone");
    }
    let failed = Command::new(program).args(args).exec();
    io::Error::new(failed.kind(), format!("{}: {failed}", program.display()))
}

#[cfg(target_os = "linux")]
fn die_with_parent() -> io::Result<()> {
    Ok(nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?)
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent() -> io::Result<()> {
    // The guard ends the group.
    Ok(())
}

/// Notes process groups from `input`, a line `+ID` or `-ID` each, and kills those noted when it ends.
///
/// # Errors
///
/// If `input` cannot be read. The groups are killed then too.
pub fn guard(input: impl Read) -> io::Result<()> {
    let mut groups = BTreeSet::new();
    let read = BufReader::new(input).lines().try_for_each(|line| {
        let line = line?;
        match line.split_at_checked(1) {
            Some(("+", id)) => groups.extend(group(id)),
            Some(("-", id)) => {
                group(id).map(|id| groups.remove(&id));
            }
            _ => {}
        }
        Ok(())
    });
    for id in groups {
        let _ = kill_group(id, Signal::SIGKILL);
    }
    read
}

/// A group that may be killed: never the caller's own (0) or the system's first process (1).
fn group(id: &str) -> Option<i32> {
    id.parse().ok().filter(|id| *id > 1)
}

/// Signals a group; one that is gone is fine.
pub(super) fn kill_group(id: i32, signal: Signal) -> io::Result<()> {
    match killpg(Pid::from_raw(id), signal) {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_groups_are_noted() {
        for (text, expected) in [("12", Some(12)), ("1", None), ("0", None), ("-3", None), ("x", None)] {
            assert_eq!(group(text), expected, "{text}");
        }
    }

    #[test]
    fn there_must_be_a_program() {
        assert!(exec(1, &[]).to_string().contains("no program"));
    }
}
