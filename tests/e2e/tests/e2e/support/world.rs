//! A home directory, a server on a free port with its storage, a signed-in person and an agent.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Instant,
};

use compass_client::{
    Client,
    model::{AccountKind, Ask, Message},
};
use compass_testkit::postgres::{Cluster, TestDatabase};
use rustix::process::Signal;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{ChildStdin, ChildStdout, Command},
};

use super::{PATIENCE, in_time, process::Process, program, until};

/// Where a server keeps its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    Sqlite,
    Postgres,
    Memory,
}

/// What a finished command left.
#[derive(Debug)]
pub(crate) struct Done {
    /// The exit code; `None` after a signal.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<std::process::Output> for Done {
    fn from(output: std::process::Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

struct Server {
    process: Process,
    // Closing one stops the server, closing the other could break it.
    _pipes: (ChildStdin, BufReader<ChildStdout>),
}

pub(crate) struct World {
    home: TempDir,
    storage: Storage,
    database: Option<Arc<TestDatabase>>,
    server: Option<Server>,
    listen: String,
    /// Where commands find the server, and whom they trust, if not the server itself.
    front: Option<(String, PathBuf)>,
}

impl World {
    /// A running server, a person signed in by `compass login`, and the agent `bot`. `None` only without Postgres.
    pub(crate) async fn start(storage: Storage) -> Option<Self> {
        let mut world = Self::bare(storage).await?;
        world.serve().await;
        let file = world.data_dir().join("sign-in");
        world.ok(&["login", "--sign-in-file", file.to_str().unwrap()]).await;
        world.ok(&["agent", "create", "bot"]).await;
        Some(world)
    }

    /// Nothing runs yet.
    pub(crate) async fn bare(storage: Storage) -> Option<Self> {
        let database = match storage {
            Storage::Postgres => Some(Arc::new(TestDatabase::fresh(Cluster::Durable).await?)),
            Storage::Sqlite | Storage::Memory => None,
        };
        let home = tempfile::Builder::new().prefix("e2e-").tempdir().unwrap();
        Some(Self { home, storage, database, server: None, listen: "127.0.0.1:0".to_owned(), front: None })
    }

    /// A second home on the same database, where nothing runs yet.
    pub(crate) fn beside(&self) -> Self {
        let home = tempfile::Builder::new().prefix("e2e-").tempdir().unwrap();
        let listen = "127.0.0.1:0".to_owned();
        Self {
            home,
            storage: self.storage,
            database: self.database.clone(),
            server: None,
            listen,
            front: None,
        }
    }

    /// Starts the server where it was before, or on a free port.
    pub(crate) async fn serve(&mut self) {
        assert!(self.server.is_none(), "a server runs already");
        let deadline = Instant::now() + PATIENCE;
        loop {
            let (mut process, stdin, stdout) = Process::spawn(&mut self.serve_command(&self.listen));
            let mut stdout = BufReader::new(stdout);
            let mut line = String::new();
            in_time("the first line of the server", stdout.read_line(&mut line)).await.unwrap();
            if let Some(address) = line.trim().rsplit_once("http://") {
                address.1.clone_into(&mut self.listen);
                self.server = Some(Server { process, _pipes: (stdin, stdout) });
                return;
            }
            // A port that was free may be another process's for a moment.
            let status = process.ended().await;
            assert!(Instant::now() < deadline, "the server ended: {status}");
        }
    }

    /// A `serve` on this world's data directory and storage.
    pub(crate) fn serve_command(&self, listen: &str) -> Command {
        let mut command = self.command();
        command.args(["serve", "--until-input-closes", "--listen", listen, "--data-dir"]);
        command.arg(self.data_dir());
        match (&self.storage, &self.database) {
            (Storage::Memory, _) => command.args(["--store", "memory"]),
            (_, Some(database)) => command.args(["--database", database.url()]),
            (_, None) => &mut command,
        };
        let log = File::options().append(true).create(true).open(self.log()).unwrap();
        command.stderr(Stdio::from(log));
        command
    }

    /// Kills the server; it is gone when this returns.
    pub(crate) async fn kill_server(&mut self) {
        self.server.take().unwrap().process.kill().await;
    }

    /// Kills the server and starts it again.
    pub(crate) async fn restart_server(&mut self) {
        self.kill_server().await;
        self.serve().await;
    }

    /// Asks the server to end and waits for its end.
    pub(crate) async fn end_server(&mut self) -> std::process::ExitStatus {
        let mut server = self.server.take().unwrap();
        server.process.signal(Signal::TERM);
        server.process.ended().await
    }

    pub(crate) fn server_pid(&self) -> rustix::process::Pid {
        self.server.as_ref().unwrap().process.pid()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.listen)
    }

    /// The server's own address, without a scheme.
    pub(crate) fn address(&self) -> String {
        self.listen.clone()
    }

    /// Lets commands find the server at another address, and trust one authority alone.
    pub(crate) fn look_at(&mut self, url: String, authority: &Path) {
        self.front = Some((url, authority.to_owned()));
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.home().join("server")
    }

    fn log(&self) -> PathBuf {
        self.home().join("server.log")
    }

    /// The program in this world's home, with nothing else of this machine's user.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(program());
        command.env_clear().env("HOME", self.home()).env("COMPASS_URL", self.url());
        if let Some((url, authority)) = &self.front {
            command.env("COMPASS_URL", url).env("SSL_CERT_FILE", authority);
        }
        for name in ["PATH", "TMPDIR", "LLVM_PROFILE_FILE"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.kill_on_drop(true);
        command
    }

    /// Runs a command to its end.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Done {
        self.run_with_input(arguments, "").await
    }

    /// Runs a command that reads `input`.
    pub(crate) async fn run_with_input(&self, arguments: &[&str], input: &str) -> Done {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A command that needs no input may be gone before it is written.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        in_time("the end of a command", child.wait_with_output()).await.unwrap().into()
    }

    /// Runs a command that must succeed; gives its output.
    pub(crate) async fn ok(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments).await;
        assert_eq!(done.code, Some(0), "{arguments:?}: {done:?}");
        done.stdout
    }

    /// Runs a command that must succeed with `--json`; gives its values, one a line.
    pub(crate) async fn json(&self, arguments: &[&str]) -> Vec<serde_json::Value> {
        let arguments = [arguments, &["--json"]].concat();
        let output = self.ok(&arguments).await;
        output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn login(&self) -> toml::Table {
        let folder = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };
        let path = self.home().join(folder).join("compass/login.toml");
        fs::read_to_string(path).unwrap().parse().unwrap()
    }

    /// The token `compass login` saved.
    pub(crate) fn person_token(&self) -> String {
        self.login()["token"].as_str().unwrap().to_owned()
    }

    /// The token that is saved for an agent.
    pub(crate) fn agent_token(&self, handle: &str) -> String {
        self.login()["agents"][handle].as_str().unwrap().to_owned()
    }

    /// A connection of the person's.
    pub(crate) async fn person(&self) -> Client {
        Client::connect(&self.url(), Some(&self.person_token())).await.unwrap()
    }

    /// A connection of an agent's.
    pub(crate) async fn agent(&self, handle: &str) -> Client {
        Client::connect(&self.url(), Some(&self.agent_token(handle))).await.unwrap()
    }

    /// The home channel of an agent.
    pub(crate) async fn home_channel(&self, handle: &str) -> String {
        let accounts = self.person().await.accounts().await.unwrap();
        let account = accounts.into_iter().find(|account| account.handle == handle).unwrap();
        match account.kind {
            AccountKind::Agent { home_channel_id, .. } => home_channel_id,
            other => panic!("{handle} is {other:?}"),
        }
    }

    /// Asks as an agent; gives the message and its ask.
    pub(crate) async fn ask(&self, handle: &str, key: &str) -> (Message, Ask) {
        let message = self.agent(handle).await.agent_post(super::question(key)).await.unwrap();
        let ask = message.asks().next().unwrap().clone();
        (message, ask)
    }

    /// Waits until the server knows the state an agent reported.
    pub(crate) async fn state(&self, handle: &str, wanted: &str) {
        until("the reported state", async || {
            let rows = self.json(&["roster"]).await;
            rows.iter().any(|row| row["handle"] == handle && row["presence"] == wanted).then_some(())
        })
        .await;
    }

    /// Waits until a runner's stream is open: only then can it be told to start anything.
    pub(crate) async fn attached_runner(&self, name: &str) {
        until("the runner's stream", async || {
            let log = fs::read_to_string(self.home().join(name).join("log")).unwrap_or_default();
            log.contains("attached").then_some(())
        })
        .await;
    }

    /// Waits until an agent is owed nothing: every receipt reached the database.
    pub(crate) async fn nothing_owed(&self, handle: &str) {
        let agent = self.agent(handle).await;
        until("an empty list of what is owed", async || {
            agent.fetch(0, None).await.unwrap().deliveries.is_empty().then_some(())
        })
        .await;
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = fs::read_to_string(self.log()).unwrap_or_default();
            eprintln!("--- the server's log ---\n{log}---");
        }
    }
}
