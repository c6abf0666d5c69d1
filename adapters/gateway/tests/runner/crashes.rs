//! The end of the runner itself: on request, and by SIGKILL.

use std::{
    fs,
    path::Path,
    process::{Child, Command},
};

use compass_proto::v1::AgentSessionState;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::json;

use super::{
    rig::{FIXTURE, account, notes, pids, until},
    server::FakeServer,
};

/// True if no process of this id runs; one that nobody reaped does not.
pub(crate) fn dead(pid: i32) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Err(_) => true,
        Ok(stat) => stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')),
    }
}

/// A runner that is a process of its own; killed when it is dropped.
struct RunnerProcess(Child);

impl RunnerProcess {
    fn start(url: &str, state: &Path, agents: &[(u8, &str, &[&str])]) -> Self {
        let agents: Vec<_> = agents
            .iter()
            .map(
                |(number, command, args)| json!({ "id": account(*number), "command": command, "args": args }),
            )
            .collect();
        let settings = json!({ "url": url, "state": state, "agents": agents });
        Self(Command::new(FIXTURE).arg("runner").arg(settings.to_string()).spawn().unwrap())
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.0.id()).unwrap()), signal).unwrap();
    }

    async fn ended(&mut self) -> std::process::ExitStatus {
        let child = &mut self.0;
        until("the runner's end", || child.try_wait().unwrap()).await
    }
}

impl Drop for RunnerProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const NOTE: &str =
    "note() { echo \"$@\" >> \"$COMPASS_AGENT_STATE_DIR/agents/$COMPASS_AGENT_ACCOUNT_ID/notes\"; }; ";

#[tokio::test]
async fn a_runner_killed_leaves_no_process_behind_and_continues_its_sessions() {
    let mut server = FakeServer::start().await;
    let state = tempfile::tempdir().unwrap();
    let body = format!("{NOTE}sleep 600 & note left $!; note self $$; wait");
    let agents: [(u8, &str, &[&str]); 2] = [(1, FIXTURE, &["agent"]), (2, "/bin/sh", &["-c", &body])];
    let mut runner = RunnerProcess::start(&server.url(), state.path(), &agents);
    server.attached().await;
    server.start_session(&account(1), "s").await;
    server.start_session(&account(2), "t").await;
    for life in 1..=4 {
        server.ready("s").await;
        server.deliver("s", &life.to_string()).await;
        assert_eq!(server.acknowledged("s").await, life.to_string());
        let lines = until("the notes of this life", || {
            Some(notes(state.path(), 2)).filter(|lines| lines.len() == 2 * life)
        })
        .await;
        let last = |lines: &[String], word: &str| *pids(lines, word).last().unwrap();
        let mut running = vec![last(&lines, "left"), last(&lines, "self")];
        running.push(last(&notes(state.path(), 1), "started"));
        assert!(running.iter().all(|pid| !dead(*pid)), "life {life}");
        runner.signal(Signal::SIGKILL);
        runner.ended().await;
        until("the end of all agents", || running.iter().all(|pid| dead(*pid)).then_some(())).await;
        runner = RunnerProcess::start(&server.url(), state.path(), &agents);
        server.attached().await;
        let mut sessions: Vec<_> = server
            .status()
            .await
            .into_iter()
            .map(|status| (status.session_id, status.agent_account_id))
            .collect();
        sessions.sort();
        assert_eq!(sessions, [("s".to_owned(), account(1)), ("t".to_owned(), account(2))]);
    }
}

#[tokio::test]
async fn a_runner_that_is_asked_to_end_stops_its_agents_and_leaves_nothing() {
    let mut server = FakeServer::start().await;
    let state = tempfile::tempdir().unwrap();
    let agents: [(u8, &str, &[&str]); 1] = [(1, FIXTURE, &["agent"])];
    let mut runner = RunnerProcess::start(&server.url(), state.path(), &agents);
    server.attached().await;
    server.start_session(&account(1), "s").await;
    server.ready("s").await;
    let socket = state.path().join("sockets").join(account(1)).join("agent.sock");
    assert!(socket.exists());
    runner.signal(Signal::SIGTERM);
    assert!(runner.ended().await.success());
    assert_eq!(server.state("s").await, AgentSessionState::Stopped);
    assert!(!socket.exists());
    assert!(dead(pids(&notes(state.path(), 1), "started")[0]));
    let _again = RunnerProcess::start(&server.url(), state.path(), &agents);
    server.attached().await;
    assert!(server.status().await.is_empty(), "a session that was stopped does not come back");
}

#[tokio::test]
async fn a_program_is_not_run_when_its_runner_is_gone() {
    let marker = tempfile::tempdir().unwrap().path().join("ran");
    let done = Command::new(FIXTURE)
        .args(["exec", "1", "--", "/bin/sh", "-c", &format!("touch {}", marker.display())])
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(127));
    assert!(String::from_utf8_lossy(&done.stderr).contains("the runner is gone"), "{done:?}");
    assert!(!marker.exists());
}
