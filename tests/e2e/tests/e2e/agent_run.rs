//! `compass agent run` between a runner's socket and a program, through every kind of end.

use std::{fs, path::Path, time::Duration};

use compass_proto::v1::AgentSessionState::{Errored, Ready, Starting, Stopped, Working};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{process::Command, runtime::Runtime};

use crate::support::{Process, Random, Runner, in_time, is_gone, program, trials, until};

const ACCOUNT: &str = "0195e0c2a1b27c3d8e4f506172839405";

/// Notes its id and every line it reads; acknowledges messages while the file `ack` is there, says once what is in
/// the file `say`, and ends with the code in the file `code` when its input ends.
const PROGRAM: &str = r#"
cd "$1" || exit 99
echo $$ > pid
[ -e say ] && cat say
while IFS= read -r line; do
    printf '%s\n' "$line" >> lines
    case "$line" in
        *'"type":"message"'*)
            id=${line#*'"message":{"id":"'}
            [ -e ack ] && printf '{"type":"ack","message_id":"%s"}\n' "${id%%\"*}" ;;
    esac
    [ -e die ] && exit "$(cat die)"
done
[ -e code ] && exit "$(cat code)"
exit 0
"#;

/// One agent: its folder, its runner, and the process that runs.
struct Agent {
    folder: TempDir,
    runner: Runner,
    /// Where the runner lives: its connections too end with it.
    runtime: Option<Runtime>,
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.end_runner();
    }
}

impl Agent {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let runner = Runner::serve(&folder.path().join("agent.sock"), &runtime);
        Self { folder, runner, runtime: Some(runtime) }
    }

    fn end_runner(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn put(&self, name: &str, content: &str) {
        fs::write(self.path().join(name), content).unwrap();
    }

    /// Starts a life, of which the runner says that it is live.
    fn start(&self) -> Process {
        self.runner.new_life();
        self.runner.replay_complete();
        let _ = fs::remove_file(self.path().join("pid"));
        Process::spawn(&mut self.command()).0
    }

    fn command(&self) -> Command {
        let mut command = Command::new(program());
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
            .env("COMPASS_AGENT_SOCKET", self.path().join("agent.sock"))
            .env("COMPASS_AGENT_STATE_DIR", self.path().join("state"))
            .env("COMPASS_AGENT_ACCOUNT_ID", ACCOUNT)
            .args(["agent", "run", "--harness", "json-lines", "--", "sh", "-c", PROGRAM, "sh"])
            .arg(self.path());
        command
    }

    /// Every line the program read, in all its lives.
    fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path().join("lines")).unwrap_or_default();
        // A line that is still being written is not there yet.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Ids of the messages the program read, and whether each was marked.
    fn messages(&self) -> Vec<(String, bool)> {
        let lines = self.lines().into_iter().filter(|line| line["type"] == json!("message"));
        lines
            .map(|line| {
                (line["message"]["id"].as_str().unwrap().to_owned(), line["delivered_before"] == json!(true))
            })
            .collect()
    }

    async fn until_read(&self, count: usize) {
        let what = format!("message {count} at the program");
        until(&what, async || (self.messages().len() >= count).then_some(())).await;
    }

    async fn program_pid(&self) -> Pid {
        until("the program's id", async || {
            let text = fs::read_to_string(self.path().join("pid")).ok()?;
            Pid::from_raw(text.trim().parse().ok()?)
        })
        .await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_under_a_runner_takes_messages_and_reports_its_states_to_the_end() {
    let agent = Agent::new();
    agent.put("ack", "");
    agent
        .put("say", "{\"type\":\"state\",\"state\":\"working\"}\n{\"type\":\"state\",\"state\":\"ready\"}\n");
    let mut process = agent.start();
    agent.runner.deliver("m1");
    agent.runner.steer("m2");
    for id in ["m1", "m2"] {
        agent.runner.until_acknowledged(id, 1).await;
    }
    until("all control acknowledged", async || (agent.runner.retained() == 0).then_some(())).await;
    process.signal(Signal::TERM);
    process.ended().await;
    let states = agent.runner.states();
    assert_eq!((states.first(), states.last()), (Some(&Starting), Some(&Stopped)), "{states:?}");
    assert!(states.contains(&Working) && states.contains(&Ready), "{states:?}");
    assert_eq!(agent.messages(), [("m1".to_owned(), false), ("m2".to_owned(), false)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_its_runner_closes_ends_the_program_and_counts_as_stopped() {
    let agent = Agent::new();
    let mut process = agent.start();
    agent.runner.deliver("m1");
    agent.until_read(1).await;
    agent.runner.close();
    assert_eq!(process.ended().await.code(), Some(0));
    assert_eq!(agent.runner.states().last(), Some(&Stopped));
    assert!(is_gone(agent.program_pid().await));
    assert_eq!(agent.lines().last().unwrap()["type"], json!("stopped"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_programs_code_is_ours_and_its_failure_is_reported() {
    for (code, state) in [("7", Errored), ("0", Stopped)] {
        let agent = Agent::new();
        agent.put("die", code);
        let mut process = agent.start();
        agent.runner.deliver("m1");
        assert_eq!(process.ended().await.code(), Some(code.parse().unwrap()));
        assert_eq!(agent.runner.states().last(), Some(&state));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn control_that_cannot_be_used_is_told_at_the_end() {
    let agent = Agent::new();
    agent.put("die", "0");
    agent.runner.replay_complete();
    agent.runner.unknown();
    agent.runner.deliver("m1");
    let output = in_time("the end", agent.command().output()).await.unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("operations of the runner that could not be used: 1 of an unknown kind"), "{told}");
    assert_eq!(agent.runner.retained(), 0, "it is acknowledged");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_cannot_be_started_is_an_error_that_names_it() {
    let agent = Agent::new();
    let mut command = Command::new(program());
    command.env_clear().args(["agent", "run", "--account-id", ACCOUNT]);
    command.arg("--socket").arg(agent.path().join("agent.sock")).arg("--state-dir").arg(agent.path());
    command.args(["--", "/no/such/program"]);
    let output = in_time("the end", command.output()).await.unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("/no/such/program"), "{output:?}");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(agent.runner.states(), [Starting, Errored]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_runner_that_is_gone_ends_the_program_in_bounded_time() {
    let mut agent = Agent::new();
    let mut process = agent.start();
    let pid = agent.program_pid().await;
    agent.runner.deliver("m1");
    agent.until_read(1).await;
    agent.end_runner();
    fs::remove_file(agent.path().join("agent.sock")).unwrap();
    // Ten attempts to reach it again, and the last frames' time to leave.
    assert_eq!(process.ended_within(Duration::from_mins(1)).await.code(), Some(1));
    assert!(is_gone(pid));
}

/// Kills one of the two in the middle of a life, of which the program took one message and not the other.
async fn killed(kill_program: bool) {
    let agent = Agent::new();
    agent.put("ack", "");
    let mut process = agent.start();
    agent.runner.deliver("taken");
    agent.runner.until_acknowledged("taken", 1).await;
    fs::remove_file(agent.path().join("ack")).unwrap();
    agent.runner.deliver("begun");
    agent.until_read(2).await;
    let pid = agent.program_pid().await;
    if kill_program {
        kill_process(pid, Signal::KILL).unwrap();
        assert_eq!(process.ended().await.code(), Some(137));
        assert_eq!(agent.runner.states().last(), Some(&Errored));
    } else {
        process.kill().await;
    }
    until("the program's end", async || is_gone(pid).then_some(())).await;
    assert!(!agent.runner.acknowledged().contains(&"begun".to_owned()));

    agent.put("ack", "");
    let mut process = agent.start();
    // The server delivers again what it has no acknowledgement of, and what it may not know the one of.
    for id in ["taken", "begun", "fresh"] {
        agent.runner.deliver(id);
    }
    agent.runner.until_acknowledged("taken", 2).await;
    for id in ["begun", "fresh"] {
        agent.runner.until_acknowledged(id, 1).await;
    }
    let read = [("taken", false), ("begun", false), ("begun", true), ("fresh", false)];
    assert_eq!(agent.messages(), read.map(|(id, marked)| (id.to_owned(), marked)));
    process.signal(Signal::TERM);
    process.ended().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p4_a_killed_program_loses_nothing_and_sees_only_what_it_did_not_take_again_marked() {
    killed(true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p4_a_killed_core_takes_its_program_along_and_loses_nothing() {
    killed(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p4_kills_at_any_moment_lose_nothing_and_repeat_only_marked() {
    const MESSAGES: usize = 12;
    let mut random = Random::seeded("kills of agent run");
    let agent = Agent::new();
    agent.put("ack", "");
    let mut owed: Vec<String> = Vec::new();
    for life in 0..trials(60, 8) {
        let mut process = agent.start();
        owed.extend((0..MESSAGES).map(|n| format!("m{life}-{n}")));
        let acknowledged_before = agent.runner.acknowledged();
        let read_before = agent.messages().len();
        for id in &owed {
            agent.runner.deliver(id);
        }
        let pid = agent.program_pid().await;
        agent.until_read(read_before + 1).await;
        tokio::time::sleep(Duration::from_micros(random.below(20_000))).await;
        if random.below(2) == 0 {
            let _ = kill_process(pid, Signal::KILL);
            process.ended().await;
        } else {
            process.kill().await;
        }
        until("the program's end", async || is_gone(pid).then_some(())).await;
        for (id, _) in &agent.messages()[read_before..] {
            assert!(
                !acknowledged_before.contains(id),
                "{id} came again in life {life} although acknowledged"
            );
        }
        let acknowledged = agent.runner.acknowledged();
        owed.retain(|id| !acknowledged.contains(id));
    }
    let mut process = agent.start();
    for id in &owed {
        agent.runner.deliver(id);
    }
    for id in &owed {
        agent.runner.until_acknowledged(id, 1).await;
    }
    process.signal(Signal::TERM);
    process.ended().await;
    let mut seen = std::collections::HashSet::new();
    for (id, marked) in agent.messages() {
        assert!(seen.insert(id.clone()) || marked, "{id} came again unmarked");
    }
}
