//! A program's side of `compass agent attach`: JSON lines in and out.

use std::{collections::VecDeque, process::ExitStatus};

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{ChildStdin, ChildStdout},
};

use super::{World, answered, in_time, process::Process};

/// An attached process.
pub(crate) struct Attach {
    process: Process,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    waiting: VecDeque<Value>,
    /// Every message line of this life, as it came.
    pub(crate) messages: Vec<Value>,
    /// The session of the first `attached` line.
    pub(crate) session: String,
    calls: u32,
}

impl Attach {
    /// Starts one for the agent and waits until its session runs.
    pub(crate) async fn start(world: &World, agent: &str) -> Self {
        let mut attach = Self::launch(world, &["--agent", agent]);
        let line = attach.line("attached").await;
        line["session_id"].as_str().unwrap().clone_into(&mut attach.session);
        attach
    }

    /// Starts one and waits for nothing.
    pub(crate) fn launch(world: &World, options: &[&str]) -> Self {
        let mut command = world.command();
        command.args(["agent", "attach"]).args(options);
        let (process, stdin, stdout) = Process::spawn(&mut command);
        Self {
            process,
            stdin: Some(stdin),
            lines: BufReader::new(stdout).lines(),
            waiting: VecDeque::new(),
            messages: Vec::new(),
            session: String::new(),
            calls: 0,
        }
    }

    /// The next line of a type; messages on the way are kept for [`Attach::message`].
    pub(crate) async fn line(&mut self, wanted: &str) -> Value {
        loop {
            let line = in_time("a line of the attached process", self.read()).await;
            let line = line.unwrap_or_else(|| panic!("no {wanted:?} line before the end"));
            match line["type"].as_str().unwrap() {
                kind if kind == wanted => return line,
                "message" => self.waiting.push_back(line),
                "ended" | "stopped" | "error" => panic!("waiting for {wanted:?}: {line}"),
                _ => {}
            }
        }
    }

    /// The next message line.
    pub(crate) async fn message(&mut self) -> Value {
        match self.waiting.pop_front() {
            Some(line) => line,
            None => self.line("message").await,
        }
    }

    /// The message that answers an ask; others before it stay out of sight.
    pub(crate) async fn answer_to(&mut self, ask_id: &str) -> Value {
        loop {
            let line = self.message().await;
            if answered(&line["message"]).is_some_and(|ask| ask["ask_id"] == ask_id) {
                return line;
            }
        }
    }

    async fn read(&mut self) -> Option<Value> {
        let text = self.lines.next_line().await.unwrap()?;
        let line: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        if line["type"] == "message" {
            self.messages.push(line.clone());
        }
        Some(line)
    }

    /// Writes one line.
    pub(crate) async fn write(&mut self, line: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        stdin.flush().await.unwrap();
    }

    /// Says that a message was taken.
    pub(crate) async fn ack(&mut self, message_id: &str) {
        self.write(&json!({ "type": "ack", "message_id": message_id })).await;
    }

    /// Calls a tool; the whole result line.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.calls += 1;
        let id = self.calls.to_string();
        self.write(&json!({ "type": "call", "id": id, "tool": tool, "arguments": arguments })).await;
        let line = self.line("result").await;
        assert_eq!(line["id"], *id);
        line
    }

    /// The line that says how the link ended.
    pub(crate) async fn end_line(&mut self) -> Value {
        loop {
            let line = in_time("the end of the link", self.read()).await.expect("a line before the end");
            if line["type"] == "ended" {
                return line;
            }
        }
    }

    /// Its exit code.
    pub(crate) async fn ended(&mut self) -> Option<i32> {
        self.process.ended().await.code()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        self.process.signal(signal);
    }

    /// Kills it; gives every message line it ever wrote.
    pub(crate) async fn kill(mut self) -> Vec<Value> {
        self.process.kill().await;
        // What it wrote before its end is still in the pipe; a line it did not finish was never handed over.
        while let Ok(Some(text)) = self.lines.next_line().await {
            match serde_json::from_str::<Value>(&text) {
                Ok(line) if line["type"] == "message" => self.messages.push(line),
                _ => {}
            }
        }
        self.messages
    }

    /// Closes its input and waits for its end; gives every message line too.
    pub(crate) async fn close(mut self) -> (ExitStatus, Vec<Value>) {
        drop(self.stdin.take());
        while in_time("the end of the attached process", self.read()).await.is_some() {}
        (self.process.ended().await, self.messages)
    }
}
