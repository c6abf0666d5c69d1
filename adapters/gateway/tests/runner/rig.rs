//! A runner in this process, its profiles, and what its agents note.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use compass_gateway::{
    Endpoint,
    runner::{Parts, Runner, RunnerError, Settings},
};
use compass_runner::{HarnessKind, ProfileDraft, Profiles, RestartPolicy};
use nix::{sys::signal::kill, unistd::Pid};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::server::{FakeServer, PATIENCE, in_time};

/// The programs of these tests.
pub(crate) const FIXTURE: &str = env!("CARGO_BIN_EXE_runner-fixture");

/// The account of the agent with this number.
pub(crate) fn account(number: u8) -> String {
    format!("{number:032x}")
}

/// An agent that runs a program of the fixture.
pub(crate) fn agent(number: u8, args: &[&str]) -> ProfileDraft {
    program(number, FIXTURE, args)
}

/// An agent that runs a shell script.
pub(crate) fn script(number: u8, script: &str) -> ProfileDraft {
    program(number, "/bin/sh", &["-c", script])
}

fn program(number: u8, command: &str, args: &[&str]) -> ProfileDraft {
    ProfileDraft {
        account_id: account(number),
        name: format!("agent {number}"),
        command: command.to_owned(),
        args: args.iter().map(ToString::to_string).collect(),
        directory: "/".into(),
        restart: RestartPolicy::OnFailure,
        restart_limit: 5,
        harness: HarnessKind::Socket,
        ..ProfileDraft::default()
    }
}

/// A runner and the server it dials.
pub(crate) struct Rig {
    pub(crate) server: FakeServer,
    pub(crate) state: TempDir,
    stop: CancellationToken,
    running: JoinHandle<Result<(), RunnerError>>,
}

/// The settings of a runner of these agents.
pub(crate) fn settings(url: &str, state: &Path, agents: Vec<ProfileDraft>) -> Settings {
    Settings {
        endpoint: Endpoint::new(url, "token").unwrap(),
        instance_id: "instance".into(),
        state_dir: state.to_owned(),
        socket_dir: None,
        profiles: Profiles::new(agents).unwrap(),
        parts: Parts {
            program: FIXTURE.into(),
            exec: vec!["exec".into()],
            guard: vec!["guard".into()],
            core: Vec::new(),
        },
    }
}

impl Rig {
    /// A runner of these agents that is attached.
    pub(crate) async fn start(agents: Vec<ProfileDraft>) -> Self {
        let server = FakeServer::start().await;
        let state = tempfile::tempdir().unwrap();
        let mut rig = Self::dial(server, state, agents);
        rig.server.attached().await;
        rig
    }

    /// A runner of these agents that dials.
    pub(crate) fn dial(server: FakeServer, state: TempDir, agents: Vec<ProfileDraft>) -> Self {
        let settings = settings(&server.url(), state.path(), agents);
        Self::run(server, state, settings)
    }

    /// A runner with these settings that dials.
    pub(crate) fn run(server: FakeServer, state: TempDir, settings: Settings) -> Self {
        let runner = Runner::open(settings).unwrap();
        let stop = CancellationToken::new();
        let running = TaskTracker::new().spawn(runner.run(stop.clone()));
        Self { server, state, stop, running }
    }

    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits for the runner's end.
    pub(crate) async fn ended(&mut self) -> Result<(), RunnerError> {
        in_time("the runner's end", &mut self.running).await.unwrap()
    }

    /// True if the runner is at its end after so long.
    pub(crate) async fn ends_within(&self, span: Duration) -> bool {
        tokio::time::sleep(span).await;
        self.running.is_finished()
    }

    /// What the agent with this number noted.
    pub(crate) fn notes(&self, number: u8) -> Vec<String> {
        notes(self.state.path(), number)
    }

    /// The path of an agent's socket.
    pub(crate) fn socket(&self, number: u8) -> PathBuf {
        self.state.path().join("sockets").join(account(number)).join("agent.sock")
    }
}

/// What the agent with this number noted below a state directory.
pub(crate) fn notes(state: &Path, number: u8) -> Vec<String> {
    let path = state.join("agents").join(account(number)).join("notes");
    fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Looks again and again until `look` finds something.
pub(crate) async fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what} did not come");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// True if no process has this id, not even one that waits to be reaped.
pub(crate) fn gone(pid: i32) -> bool {
    kill(Pid::from_raw(pid), None).is_err()
}

/// The ids in the lines `word ID`.
pub(crate) fn pids(notes: &[String], word: &str) -> Vec<i32> {
    let ids = notes.iter().filter_map(|line| line.strip_prefix(word)?.trim().parse().ok());
    ids.collect()
}
