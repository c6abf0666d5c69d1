//! The demo's processes: they end with it, however it ends.

use std::{env, path::Path, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{self, ChildStdin, Command},
};

use crate::failure::Failure;

/// A process that is stopped by closing its standard input, and killed if it is dropped.
pub(super) struct Child {
    process: process::Child,
    stdin: Option<ChildStdin>,
}

impl Child {
    /// A server on a free port; returns with the address it printed.
    pub(super) async fn server(home: &Path, patience: Duration) -> Result<(Self, String), Failure> {
        let mut command = command()?;
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--until-input-closes", "--data-dir"])
            .arg(home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = Self::spawn(command)?;
        let stdout = child.process.stdout.take();
        let stdout = stdout.ok_or_else(|| Failure::Local("the server has no output".to_owned()))?;
        let first = async {
            let mut lines = BufReader::new(stdout).lines();
            lines.next_line().await
        };
        let line = tokio::time::timeout(patience, first).await;
        let line = line.map_err(|_| Failure::Local("the server did not start in time".to_owned()))??;
        let url = line.as_deref().and_then(|line| line.rsplit(' ').next()).map(str::to_owned);
        let url = url.ok_or_else(|| Failure::Local("the server ended before it listened".to_owned()))?;
        Ok((child, url))
    }

    /// The scripted agent.
    pub(super) fn agent(url: &str, token: &str, home: &Path) -> Result<Self, Failure> {
        let mut command = command()?;
        command
            .args(["demo-agent", "--state-dir"])
            .arg(home)
            .env("COMPASS_URL", url)
            .env("COMPASS_TOKEN", token)
            .stdin(Stdio::piped());
        Self::spawn(command)
    }

    fn spawn(mut command: Command) -> Result<Self, Failure> {
        let mut process = command.kill_on_drop(true).spawn()?;
        let stdin = process.stdin.take();
        Ok(Self { process, stdin })
    }

    /// Waits for an end that should not have come yet.
    pub(super) async fn wait(&mut self) -> Failure {
        match self.process.wait().await {
            Ok(status) => Failure::Local(format!("the agent ended early: {status}")),
            Err(error) => error.into(),
        }
    }

    /// Waits for a good end.
    pub(super) async fn finished(&mut self, patience: Duration) -> Result<(), Failure> {
        let ended = tokio::time::timeout(patience, self.process.wait()).await;
        let status = ended.map_err(|_| Failure::Local("the agent got no answer in time".to_owned()))??;
        if status.success() { Ok(()) } else { Err(Failure::Local(format!("the agent failed: {status}"))) }
    }

    /// Ends it whether it is done or not.
    pub(super) async fn stop(mut self) -> Result<(), Failure> {
        Ok(self.process.kill().await?)
    }

    /// Lets it end by itself.
    pub(super) async fn end(mut self) {
        drop(self.stdin.take());
        // Whatever is left after this is killed by the drop.
        drop(tokio::time::timeout(Duration::from_secs(15), self.process.wait()).await);
    }
}

fn command() -> Result<Command, Failure> {
    let mut command = Command::new(env::current_exe()?);
    // The demo is the same whatever this user has set up.
    for name in [
        "COMPASS_URL",
        "COMPASS_TOKEN",
        "COMPASS_AGENT",
        "COMPASS_DATABASE",
        "COMPASS_DATA_DIR",
        "COMPASS_LISTEN",
    ] {
        command.env_remove(name);
    }
    Ok(command)
}
