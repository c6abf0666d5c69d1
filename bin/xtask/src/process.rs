//! Runs the commands of the steps, passes signals on to them, and waits for what they start.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::Error;
use crate::orphans;

/// Environment variables for a command.
pub(crate) type Environment = Vec<(OsString, OsString)>;

/// Starts commands and hears the signals meant for the whole run.
pub(crate) struct Runner {
    signals: RefCell<Signals>,
}

/// Who else receives what the terminal sends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    /// The command has its own process group and gets signals from here only.
    Own,
    /// The command shares the terminal, which sends it the interrupt key itself.
    Shared,
}

impl Runner {
    /// Takes over the signals that would end this process, so that a run can clean up first.
    pub(crate) fn new() -> Result<Self, Error> {
        let signals =
            Signals::new([SIGCHLD, SIGHUP, SIGINT, SIGTERM]).map_err(Error::io("handle signals"))?;
        Ok(Self { signals: RefCell::new(signals) })
    }

    /// Fails if a signal arrived while no command ran.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let mut signals = self.signals.borrow_mut();
        let stop = signals.pending().find(|signal| *signal != SIGCHLD);
        stop.map_or(Ok(()), |signal| Err(Error::Interrupted(signal)))
    }

    /// Runs a command to its end with no input; anything but success is an error.
    pub(crate) fn run(&self, name: &str, command: &mut Command) -> Result<(), Error> {
        self.check()?;
        command.stdin(Stdio::null()).process_group(0);
        let status = self.finish(command, Group::Own, &orphans::children())?;
        succeed(name, status)
    }

    /// Like [`run`](Self::run), and fails if a process that the command started outlives it.
    pub(crate) fn run_leaving_nothing(&self, name: &str, command: &mut Command) -> Result<(), Error> {
        self.check()?;
        let before = orphans::children();
        command.stdin(Stdio::null()).process_group(0);
        let status = self.finish(command, Group::Own, &before);
        let left = orphans::end_new(&before);
        succeed(name, status?)?;
        if left.is_empty() {
            Ok(())
        } else {
            Err(Error::LeftRunning { name: name.to_owned(), processes: left })
        }
    }

    /// Runs a command that has this terminal; gives its exit code.
    pub(crate) fn interactive(
        &self,
        program: &OsStr,
        arguments: &[OsString],
        environment: &Environment,
    ) -> Result<u8, Error> {
        self.check()?;
        let mut command = Command::new(program);
        command.args(arguments).envs(environment.iter().map(|(name, value)| (name, value)));
        let status = self.finish(&mut command, Group::Shared, &orphans::children())?;
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }

    fn finish(
        &self,
        command: &mut Command,
        group: Group,
        before: &BTreeMap<i32, String>,
    ) -> Result<ExitStatus, Error> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(Error::io(format!("run {program}")))?;
        let mut signals = self.signals.borrow_mut();
        let mut stop = None;
        loop {
            if let Some(status) = child.try_wait().map_err(Error::io(format!("wait for {program}")))? {
                return stop.map_or(Ok(status), |signal| Err(Error::Interrupted(signal)));
            }
            for signal in signals.wait() {
                if signal == SIGCHLD {
                    orphans::reap(child.id(), before);
                } else if group == Group::Own || signal != SIGINT || !io::stdin().is_terminal() {
                    // Who asks twice is not made to wait.
                    pass_on(&child, group, if stop.is_some() { Signal::KILL } else { Signal::TERM });
                    stop = Some(signal);
                }
            }
        }
    }
}

fn pass_on(child: &Child, group: Group, signal: Signal) {
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
    // The command may just have ended, which is what the signal is for.
    let _ = match group {
        Group::Own => rustix::process::kill_process_group(pid, signal),
        Group::Shared => rustix::process::kill_process(pid, signal),
    };
}

fn succeed(name: &str, status: ExitStatus) -> Result<(), Error> {
    if status.success() {
        Ok(())
    } else {
        Err(Error::Step { name: name.to_owned(), status: status.to_string() })
    }
}
