//! A command that runs beside the test, and the ask it waits for.

use std::process::Stdio;

use compass_client::Page;
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::AsyncWriteExt as _,
    process::{Child, Command},
};

use super::{Done, World, in_time, until};

/// A command that runs beside the test.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn start(world: &World, arguments: &[&str]) -> Self {
        let mut command = world.command();
        command.args(arguments);
        Self::spawn(command)
    }

    /// One that reads `input`.
    pub(crate) async fn start_with(world: &World, arguments: &[&str], input: &str) -> Self {
        let mut command = world.command();
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).await.unwrap();
        Self(child)
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    /// Its id, as long as it runs.
    pub(crate) fn pid(&self) -> u32 {
        self.0.id().unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.pid().cast_signed()).unwrap(), signal).unwrap();
    }

    pub(crate) async fn done(self) -> Done {
        in_time("the end of a command", self.0.wait_with_output()).await.unwrap().into()
    }
}

/// The id of the one ask that is open.
pub(crate) async fn open_ask(world: &World) -> String {
    let person = world.person().await;
    until("an open ask", async || {
        let open = person.open_asks(None, &Page::default()).await.unwrap();
        assert!(open.len() < 2, "{open:?}");
        open.first().and_then(|entry| entry.message.asks().next()).map(|ask| ask.ask_id.clone())
    })
    .await
}
