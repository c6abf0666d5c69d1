//! A runner process, and what its agents' programs wrote down.

use std::{
    fmt::Write as _,
    fs::{self, File},
    path::PathBuf,
    process::Stdio,
};

use rustix::process::{Pid, Signal};
use serde_json::Value;
use tokio::process::{ChildStdin, ChildStdout};

use super::{World, process::Process, until};

/// The programs that play an agent: of JSON lines, and of ACP.
const AGENT: &str = env!("CARGO_BIN_EXE_scripted-agent");
const ACP_AGENT: &str = env!("CARGO_BIN_EXE_acp-agent");

/// One agent's profile on a runner.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub(crate) handle: String,
    /// How many asks its program posts.
    pub(crate) asks: u32,
    /// Between two of them.
    pub(crate) pause_ms: u32,
    pub(crate) wake: &'static str,
    pub(crate) restart: &'static str,
    /// Another program than ours.
    pub(crate) command: Option<&'static str>,
    pub(crate) harness: &'static str,
}

impl Profile {
    /// A program that only takes messages.
    pub(crate) fn quiet(handle: &str) -> Self {
        Self {
            handle: handle.into(),
            asks: 0,
            pause_ms: 0,
            wake: "never",
            restart: "always",
            command: None,
            harness: "json-lines",
        }
    }

    /// An agent of ACP that does what it is told.
    pub(crate) fn acp(handle: &str) -> Self {
        Self { command: Some(ACP_AGENT), harness: "acp", ..Self::quiet(handle) }
    }
}

/// A runner, which may be away.
pub(crate) struct RunnerProcess {
    name: String,
    folder: PathBuf,
    url: String,
    running: Option<(Process, ChildStdin, ChildStdout)>,
}

/// What a program was given.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) id: String,
    pub(crate) delivered_before: bool,
    pub(crate) steer: bool,
    /// The ask it answers.
    pub(crate) answers: Option<String>,
    /// When the program wrote it down.
    pub(crate) at_us: u64,
    pub(crate) line: Value,
}

impl RunnerProcess {
    /// Makes a runner's token and configuration; it does not run yet.
    pub(crate) async fn set_up(world: &World, name: &str, profiles: &[Profile]) -> Self {
        let folder = world.home().join(name);
        let runner = Self { name: name.into(), folder, url: world.url(), running: None };
        let token = world.ok(&["token", "create", "--runner", name]).await;
        fs::create_dir_all(&runner.folder).unwrap();
        fs::write(runner.folder.join("token"), token.split_whitespace().last().unwrap()).unwrap();
        let accounts = world.person().await.accounts().await.unwrap();
        let mut config = String::new();
        for profile in profiles {
            let account = accounts.iter().find(|account| account.handle == profile.handle).unwrap();
            let log = log(world, &profile.handle);
            write!(
                config,
                "[[agent]]\naccount_id = {:?}\nname = {:?}\ncommand = {:?}\nargs = [{:?}, \"{}\", \"{}\"]\n\
                 harness = {:?}\ndirectory = {:?}\nwake = {:?}\nrestart = {:?}\n\n",
                account.id,
                profile.handle,
                profile.command.unwrap_or(AGENT),
                log.to_str().unwrap(),
                profile.asks,
                profile.pause_ms,
                profile.harness,
                world.home().to_str().unwrap(),
                profile.wake,
                profile.restart,
            )
            .unwrap();
        }
        fs::write(runner.folder.join("runner.toml"), config).unwrap();
        runner
    }

    /// Sets one up and starts it; the server has it when this returns.
    pub(crate) async fn attached(world: &World, name: &str, profiles: &[Profile]) -> Self {
        let mut runner = Self::set_up(world, name, profiles).await;
        runner.attach(world).await;
        runner
    }

    /// Where it finds the server, instead of the server itself.
    pub(crate) fn through(mut self, url: String) -> Self {
        self.url = url;
        self
    }

    /// Starts it.
    pub(crate) fn start(&mut self, world: &World) {
        assert!(self.running.is_none(), "the runner runs already");
        let folder = &self.folder;
        let mut command = world.command();
        command.args(["runner", "--config"]).arg(folder.join("runner.toml"));
        command.arg("--token-file").arg(folder.join("token"));
        command.arg("--state-dir").arg(folder.join("state"));
        command.args(["--url", &self.url]);
        let told = File::options().append(true).create(true).open(folder.join("log")).unwrap();
        command.stderr(Stdio::from(told));
        self.running = Some(Process::spawn(&mut command));
    }

    /// Starts it, and waits until the server has it.
    pub(crate) async fn attach(&mut self, world: &World) {
        self.start(world);
        world.attached_runner(&self.name).await;
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        self.running.as_ref().unwrap().0.signal(signal);
    }

    /// Kills it; it is gone when this returns.
    pub(crate) async fn kill(&mut self) {
        self.running.take().unwrap().0.kill().await;
    }

    /// Ends it as a service manager does, and waits for its end.
    pub(crate) async fn end(&mut self) {
        let (mut process, _stdin, _stdout) = self.running.take().unwrap();
        process.signal(Signal::TERM);
        assert!(process.ended().await.success());
    }
}

impl Drop for RunnerProcess {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            eprintln!("--- the log of runner {} ---\n{log}---", self.name);
        }
    }
}

/// Where an agent's program writes down what happens to it.
pub(super) fn log(world: &World, handle: &str) -> PathBuf {
    world.home().join(format!("{handle}.log"))
}

/// Every whole line an agent's program wrote down, over all its lives.
pub(crate) fn notes(world: &World, handle: &str) -> Vec<Value> {
    let text = fs::read_to_string(log(world, handle)).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

/// The process of an agent's newest life.
pub(crate) fn program_of(world: &World, handle: &str) -> Option<Pid> {
    let life = notes(world, handle).into_iter().rfind(|note| note["what"] == "life")?;
    Pid::from_raw(i32::try_from(life["pid"].as_i64()?).ok()?)
}

/// Every message an agent's program was given, over all its lives.
pub(crate) fn given(world: &World, handle: &str) -> Vec<Given> {
    let of = |note: Value| {
        let line = note["value"].clone();
        let message = &line["message"];
        Given {
            id: message["id"].as_str().unwrap().to_owned(),
            delivered_before: line["delivered_before"].as_bool().unwrap(),
            steer: line["steer"].as_bool().unwrap(),
            answers: super::answered(message).map(|ask| ask["ask_id"].as_str().unwrap().to_owned()),
            at_us: note["at_us"].as_u64().unwrap(),
            line,
        }
    };
    notes(world, handle).into_iter().filter(|note| note["what"] == "message").map(of).collect()
}

/// Waits until a program was given the answer to an ask; all the times it was.
pub(crate) async fn given_answer(world: &World, handle: &str, ask_id: &str) -> Vec<Given> {
    until("the answer in the program's log", async || {
        let all = given(world, handle);
        let found: Vec<Given> =
            all.into_iter().filter(|given| given.answers.as_deref() == Some(ask_id)).collect();
        (!found.is_empty()).then_some(found)
    })
    .await
}
