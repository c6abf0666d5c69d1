//! Child processes: where the program is, signals, and an end that is really one.

use std::{
    env,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::in_time;

/// The built program: the one that is named, else the one beside the tests.
pub(crate) fn program() -> PathBuf {
    if let Some(named) = env::var_os("COMPASS_BIN") {
        return named.into();
    }
    let test = env::current_exe().unwrap();
    let beside = test.parent().and_then(|deps| deps.parent()).unwrap().join("compass");
    assert!(beside.is_file(), "{} is not built: run `cargo xtask e2e`", beside.display());
    beside
}

/// A process with pipes; killed when it is dropped.
pub(crate) struct Process {
    child: Child,
    pid: Pid,
}

impl Process {
    /// Starts it with its standard input and output as pipes.
    pub(crate) fn spawn(command: &mut Command) -> (Self, ChildStdin, ChildStdout) {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let pipes = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let pid = Pid::from_raw(child.id().unwrap().cast_signed()).unwrap();
        (Self { child, pid }, pipes.0, pipes.1)
    }

    /// Its id.
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).unwrap();
    }

    /// Kills it, and returns when its id stands for nothing any more.
    pub(crate) async fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.ended().await;
        assert!(is_gone(self.pid), "{:?} is still there", self.pid);
    }

    /// Waits for an end that takes longer than usual, because something else has to be given up first.
    pub(crate) async fn ended_within(&mut self, most: Duration) -> ExitStatus {
        tokio::time::timeout(most, self.child.wait()).await.unwrap().unwrap()
    }

    /// Waits for its end.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        in_time("the end of a process", self.child.wait()).await.unwrap()
    }
}

/// True if no process has this id.
pub(crate) fn is_gone(pid: Pid) -> bool {
    test_kill_process(pid).is_err_and(|error| error == rustix::io::Errno::SRCH)
}
