//! The JSON-lines loop from the outside: lines in, lines out, receipts at the link.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use compass_agent::{
    inbox::Inbox,
    lanes::Turns,
    ports::{
        Call, CallError, CallResult, Gateway, Journal, JournalError, Link, LinkEvent, Mark, SessionEvent,
        TurnState, Wait,
    },
    seen::{Delivery, SeenMessage},
    session::{Ended, RunError},
    tools::{PostKeys, Toolbox},
};
use compass_harness::jsonl::run;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines},
    sync::mpsc,
};

#[derive(Default, Clone)]
struct Paper(Arc<Mutex<HashMap<String, Mark>>>);

impl Paper {
    fn put(&self, id: &str, mark: Mark) {
        self.0.lock().expect("not poisoned").insert(id.into(), mark);
    }
}

impl Journal for Paper {
    fn mark(&mut self, id: &str) -> Result<Option<Mark>, JournalError> {
        Ok(self.0.lock().expect("not poisoned").get(id).copied())
    }

    fn begin(&mut self, ids: &[String]) -> Result<(), JournalError> {
        for id in ids {
            self.put(id, Mark::Begun);
        }
        Ok(())
    }

    fn take(&mut self, ids: &[String]) -> Result<(), JournalError> {
        for id in ids {
            self.put(id, Mark::Taken);
        }
        Ok(())
    }

    fn refuse(&mut self, ids: &[String]) -> Result<(), JournalError> {
        self.0.lock().expect("not poisoned").retain(|id, _| !ids.contains(id));
        Ok(())
    }

    fn wait(&mut self, _: &Wait) -> Result<(), JournalError> {
        Err(JournalError("a program of lines posts no asks of its harness".into()))
    }

    fn end_wait(&mut self, _: &str) -> Result<(), JournalError> {
        Ok(())
    }

    fn waits(&mut self) -> Result<Vec<Wait>, JournalError> {
        Ok(Vec::new())
    }
}

struct Wire {
    events: mpsc::Receiver<LinkEvent>,
    sent: mpsc::UnboundedSender<String>,
}

#[async_trait]
impl Link for Wire {
    async fn next(&mut self) -> Option<LinkEvent> {
        self.events.recv().await
    }

    async fn acknowledge(&mut self, message_id: String) {
        drop(self.sent.send(format!("ack {message_id}")));
    }

    async fn report(&mut self, state: TurnState) {
        drop(self.sent.send(format!("{state:?}")));
    }

    async fn show(&mut self, event: SessionEvent) {
        drop(self.sent.send(format!("show {event:?}")));
    }
}

struct Server;

#[async_trait]
impl Gateway for Server {
    async fn call(&self, _: &str, call: Call) -> Result<CallResult, CallError> {
        match call {
            Call::SetStatus { .. } => Ok(CallResult::SetStatus),
            _ => Err(CallError::Refused { code: "not_found".into(), message: "no".into() }),
        }
    }
}

struct Program {
    stdin: DuplexStream,
    stdout: Lines<BufReader<DuplexStream>>,
    events: mpsc::Sender<LinkEvent>,
    sent: mpsc::UnboundedReceiver<String>,
    journal: Paper,
    running: tokio::task::JoinHandle<Result<Ended, RunError>>,
}

impl Program {
    fn start(journal: Paper) -> Self {
        let (stdin, input) = tokio::io::duplex(1 << 16);
        let (output, stdout) = tokio::io::duplex(1 << 16);
        let (events, queued) = mpsc::channel(16);
        let (sent, receipts) = mpsc::unbounded_channel();
        let marks = journal.clone();
        let mut tasks = tokio::task::JoinSet::new();
        let (done, outcome) = tokio::sync::oneshot::channel();
        tasks.spawn(async move {
            let mut link = Wire { events: queued, sent };
            let mut inbox = Inbox::new(marks, Turns::Reported, "n");
            let keys = PostKeys::new("n");
            let tools = Toolbox { gateway: &Server, keys: &keys, random: &|| [0; 8] };
            drop(done.send(run(&mut link, tools, &mut inbox, BufReader::new(input), output).await));
        });
        #[expect(clippy::disallowed_methods, reason = "a test joins its own task")]
        let running = tokio::spawn(async move {
            let outcome = outcome.await.expect("the loop ends");
            drop(tasks);
            outcome
        });
        Self { stdin, stdout: BufReader::new(stdout).lines(), events, sent: receipts, journal, running }
    }

    async fn write(&mut self, line: &str) {
        self.stdin.write_all(format!("{line}\n").as_bytes()).await.expect("written");
    }

    async fn read(&mut self) -> Value {
        let line = self.stdout.next_line().await.expect("read").expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    async fn deliver(&mut self, id: &str) {
        let message = SeenMessage { id: id.into(), ..SeenMessage::default() };
        let delivery = Delivery { message, topic_name: "t".into(), ..Delivery::default() };
        self.events.send(LinkEvent::Delivery(Box::new(delivery))).await.expect("sent");
    }
}

#[tokio::test]
async fn a_message_is_acknowledged_after_its_ack_line_and_after_its_mark() {
    let mut program = Program::start(Paper::default());
    program.deliver("m").await;
    let line = program.read().await;
    assert_eq!(
        (&line["type"], &line["message"]["id"], &line["delivered_before"]),
        (&json!("message"), &json!("m"), &json!(false))
    );
    assert!(program.sent.try_recv().is_err(), "acknowledged before it was taken");
    program.write(r#"{"type":"ack","message_id":"m"}"#).await;
    assert_eq!(program.sent.recv().await.as_deref(), Some("ack m"));
    assert_eq!(program.journal.mark("m").expect("read"), Some(Mark::Taken));
    // A resend of what was taken is acknowledged and not shown: the next line is about something else.
    program.deliver("m").await;
    assert_eq!(program.sent.recv().await.as_deref(), Some("ack m"));
    program.deliver("canary").await;
    assert_eq!(program.read().await["message"]["id"], json!("canary"));
}

#[tokio::test]
async fn a_message_of_an_earlier_life_is_marked() {
    let journal = Paper::default();
    journal.put("m", Mark::Begun);
    let mut program = Program::start(journal);
    program.deliver("m").await;
    assert_eq!(program.read().await["delivered_before"], json!(true));
}

#[tokio::test]
async fn calls_come_back_with_their_id() {
    let mut program = Program::start(Paper::default());
    program
        .write(r#"{"type":"call","id":"1","tool":"compass_set_status","arguments":{"activity":"a"}}"#)
        .await;
    let line = program.read().await;
    assert_eq!(
        (&line["id"], &line["ok"], &line["output"]["text"]),
        (&json!("1"), &json!(true), &json!("Status: a"))
    );
    program.write(r#"{"type":"call","id":"2","tool":"comms_cancel_ask","arguments":{"ask_id":"a"}}"#).await;
    let line = program.read().await;
    assert_eq!(line["error"], json!("comms_cancel_ask failed: not_found: no"));
    program.write(r#"{"type":"call","id":"3","tool":"answer_ask"}"#).await;
    assert!(program.read().await["error"].as_str().is_some_and(|error| error.contains("unknown tool")));
    program.write(r#"{"type":"call","id":"4","tool":"comms_cancel_ask","arguments":{}}"#).await;
    assert!(program.read().await["error"].as_str().is_some_and(|error| error.contains("ask_id")));
}

#[tokio::test]
async fn a_bad_line_is_named_and_the_next_one_works() {
    let mut program = Program::start(Paper::default());
    for bad in ["not json", r#"{"type":"answer"}"#, r#"{"type":"ack","message_id":"m","x":1}"#] {
        program.write(bad).await;
        assert_eq!(program.read().await["type"], json!("error"), "{bad}");
    }
    program.stdin.write_all(b"\xff\n").await.expect("written");
    assert_eq!(program.read().await["type"], json!("error"), "bytes that are no text");
    program.write(r#"{"type":"ack","message_id":"never"}"#).await;
    assert_eq!(program.read().await["type"], json!("error"));
    program
        .write(r#"{"type":"call","id":"1","tool":"compass_set_status","arguments":{"activity":"a"}}"#)
        .await;
    assert_eq!(program.read().await["ok"], json!(true));
}

#[tokio::test]
async fn attaching_reports_ready_and_state_lines_are_passed_on() {
    let mut program = Program::start(Paper::default());
    program.events.send(LinkEvent::Attached { session_id: "s".into() }).await.expect("sent");
    assert_eq!(program.read().await["session_id"], json!("s"));
    program.write(r#"{"type":"state","state":"working"}"#).await;
    assert_eq!(program.sent.recv().await.as_deref(), Some("Ready"));
    assert_eq!(program.sent.recv().await.as_deref(), Some("Working"));
}

#[tokio::test]
async fn the_end_of_the_input_waits_for_calls_and_ends_the_loop() {
    let mut program = Program::start(Paper::default());
    program
        .write(r#"{"type":"call","id":"1","tool":"compass_set_status","arguments":{"activity":"a"}}"#)
        .await;
    program.stdin.shutdown().await.expect("closed");
    assert_eq!(program.read().await["id"], json!("1"));
    assert_eq!(program.running.await.expect("joined").expect("ended well"), Ended::Harness);
}

#[tokio::test]
async fn the_end_of_the_link_ends_the_loop_with_its_reason() {
    let mut program = Program::start(Paper::default());
    let ended = LinkEvent::Ended { code: "already_exists".into(), reason: "attached elsewhere".into() };
    program.events.send(ended).await.expect("sent");
    assert_eq!(program.read().await["code"], json!("already_exists"));
    let outcome = program.running.await.expect("joined").expect("ended well");
    assert_eq!(outcome, Ended::Link { code: "already_exists".into(), reason: "attached elsewhere".into() });
}

#[tokio::test]
async fn while_the_program_works_delivers_wait_and_steers_go_at_once() {
    let mut program = Program::start(Paper::default());
    program.write(r#"{"type":"state","state":"working"}"#).await;
    assert_eq!(program.sent.recv().await.as_deref(), Some("Working"));
    program.deliver("waits").await;
    program.deliver("waits too").await;
    let message = SeenMessage { id: "now".into(), ..SeenMessage::default() };
    let steer = Delivery { message, steer: true, ..Delivery::default() };
    program.events.send(LinkEvent::Delivery(Box::new(steer))).await.expect("sent");
    assert_eq!(program.read().await["message"]["id"], json!("now"));
    program.write(r#"{"type":"ack","message_id":"waits"}"#).await;
    assert_eq!(program.read().await["type"], json!("error"), "it was not handed over yet");
    program.write(r#"{"type":"state","state":"ready"}"#).await;
    for id in ["waits", "waits too"] {
        assert_eq!(program.read().await["message"]["id"], json!(id));
        program.write(&format!(r#"{{"type":"ack","message_id":"{id}"}}"#)).await;
    }
    for sent in ["Ready", "ack waits", "ack waits too"] {
        assert_eq!(program.sent.recv().await.as_deref(), Some(sent));
    }
}

#[tokio::test]
async fn more_than_a_prompts_worth_follows_once_the_program_took_it() {
    let mut program = Program::start(Paper::default());
    program.write(r#"{"type":"state","state":"working"}"#).await;
    assert_eq!(program.sent.recv().await.as_deref(), Some("Working"));
    for n in 0..66 {
        program.deliver(&format!("m{n}")).await;
    }
    program.write(r#"{"type":"call","id":"c","tool":"none"}"#).await;
    assert_eq!(program.read().await["id"], json!("c"), "nothing of it came before");
    program.write(r#"{"type":"state","state":"ready"}"#).await;
    for n in 0..64 {
        assert_eq!(program.read().await["message"]["id"], json!(format!("m{n}")));
    }
    program.write(r#"{"type":"call","id":"d","tool":"none"}"#).await;
    assert_eq!(program.read().await["id"], json!("d"), "the rest waits");
    for n in 0..64 {
        program.write(&format!(r#"{{"type":"ack","message_id":"m{n}"}}"#)).await;
    }
    for n in 64..66 {
        assert_eq!(program.read().await["message"]["id"], json!(format!("m{n}")));
    }
}

#[tokio::test]
async fn a_program_that_does_not_read_holds_its_messages_and_loses_nothing_it_says() {
    let mut program = Program::start(Paper::default());
    let long = "x".repeat(10_000);
    for n in 0..16 {
        let message = SeenMessage { id: format!("m{n}"), topic_id: long.clone(), ..SeenMessage::default() };
        let delivery = Delivery { message, ..Delivery::default() };
        program.events.send(LinkEvent::Delivery(Box::new(delivery))).await.expect("sent");
    }
    // Its pipe is full by now, and what it says still gets through.
    program.write(r#"{"type":"state","state":"working"}"#).await;
    program.write(r#"{"type":"state","state":"ready"}"#).await;
    for state in ["Working", "Ready"] {
        assert_eq!(program.sent.recv().await.as_deref(), Some(state));
    }
    for n in 0..16 {
        let id = format!("m{n}");
        assert_eq!(program.read().await["message"]["id"], json!(id));
        // What arrived during the turn is more than one batch: the next one comes after these are taken.
        program.write(&format!(r#"{{"type":"ack","message_id":"{id}"}}"#)).await;
    }
}
