//! The loop with a model's harness that renders prompts, over a scripted link.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::TaskTracker;

use super::*;
use crate::{
    lanes::{Handed, Turns},
    ports::{Activity, Call, CallError, CallResult, Mark, SessionEvent},
    prompt,
    seen::{Delivery, SeenAsk, SeenBlock, SeenMessage},
    testing::{Paper, answer, ask, delivery, ids},
};

struct Wire {
    events: mpsc::UnboundedReceiver<LinkEvent>,
    log: mpsc::UnboundedSender<String>,
}

#[async_trait]
impl Link for Wire {
    async fn next(&mut self) -> Option<LinkEvent> {
        self.events.recv().await
    }

    async fn acknowledge(&mut self, message_id: String) {
        drop(self.log.send(format!("ack {message_id}")));
    }

    async fn report(&mut self, state: TurnState) {
        drop(self.log.send(format!("{state:?}")));
    }

    async fn show(&mut self, event: SessionEvent) {
        drop(self.log.send(format!("show {}", event.id)));
    }
}

/// Renders what it is handed; what it says is scripted.
struct Model {
    says: mpsc::UnboundedReceiver<HarnessEvent>,
    log: mpsc::UnboundedSender<String>,
}

#[async_trait]
impl Harness for Model {
    async fn next(&mut self) -> Result<HarnessEvent, HarnessError> {
        self.says.recv().await.ok_or_else(|| HarnessError("the model is gone".into()))
    }

    async fn inject(&mut self, batch: Vec<Handed>, waiting: usize) -> Result<(), HarnessError> {
        let prompt = prompt::render(&batch, waiting, "me", &|| [0xab; 8]);
        drop(self.log.send(format!("prompt {}", records(&prompt))));
        Ok(())
    }

    async fn interrupt(&mut self, message: Handed) -> Result<(), HarnessError> {
        let prompt = prompt::render(&[message], 0, "me", &|| [0xab; 8]);
        drop(self.log.send(format!("interrupt {}", records(&prompt))));
        Ok(())
    }

    async fn prompt(&mut self, input: String) -> Result<(), HarnessError> {
        drop(self.log.send(format!("turn {input}")));
        Ok(())
    }

    async fn tell(&mut self, notice: Notice) -> Result<(), HarnessError> {
        drop(self.log.send(format!("{notice:?}")));
        Ok(())
    }

    async fn finish(&mut self) {
        drop(self.log.send("finish".into()));
    }
}

/// Ids of the records of a prompt.
fn records(prompt: &str) -> String {
    let opened = prompt.lines().filter_map(|line| line.strip_prefix("<msg abababababababab id=\""));
    opened.filter_map(|rest| rest.split('"').next()).collect::<Vec<_>>().join(",")
}

/// A server that plays back one result per call; the last one repeats.
#[derive(Clone, Default)]
struct Server {
    results: Arc<Mutex<VecDeque<Result<CallResult, CallError>>>>,
    calls: Arc<Mutex<Vec<Call>>>,
}

#[async_trait]
impl Gateway for Server {
    async fn call(&self, _: &str, call: Call) -> Result<CallResult, CallError> {
        self.calls.lock().expect("not poisoned").push(call);
        let mut results = self.results.lock().expect("not poisoned");
        let result = if results.len() > 1 { results.pop_front() } else { results.front().cloned() };
        result.expect("a result")
    }
}

impl Server {
    fn new(results: impl IntoIterator<Item = Result<CallResult, CallError>>) -> Self {
        Self { results: Arc::new(Mutex::new(results.into_iter().collect())), ..Self::default() }
    }

    fn cancelled(&self) -> Vec<String> {
        let calls = self.calls.lock().expect("not poisoned");
        let cancelled = calls.iter().filter_map(|call| match call {
            Call::CancelAsk { ask_id } => Some(ask_id.clone()),
            _ => None,
        });
        cancelled.collect()
    }
}

struct World {
    events: mpsc::UnboundedSender<LinkEvent>,
    model: mpsc::UnboundedSender<HarnessEvent>,
    log: mpsc::UnboundedReceiver<String>,
    paper: Paper,
    ended: oneshot::Receiver<Result<Ended, RunError>>,
}

fn start(paper: &Paper, server: Server) -> World {
    let (events, queued) = mpsc::unbounded_channel();
    let (model, says) = mpsc::unbounded_channel();
    let (log, read) = mpsc::unbounded_channel();
    let (done, ended) = oneshot::channel();
    let journal = paper.clone();
    TaskTracker::new().spawn(async move {
        let mut link = Wire { events: queued, log: log.clone() };
        let mut harness = Model { says, log };
        let mut inbox = Inbox::new(journal, Turns::Driven, "this life");
        drop(done.send(run(&mut link, &server, &mut inbox, &mut harness).await));
    });
    World { events, model, log: read, paper: paper.clone(), ended }
}

impl World {
    fn arrives(&self, delivery: Delivery) {
        self.events.send(LinkEvent::Delivery(Box::new(delivery))).expect("the loop runs");
    }

    fn says(&self, event: HarnessEvent) {
        self.model.send(event).expect("the loop runs");
    }

    async fn expect(&mut self, lines: &[&str]) {
        for line in lines {
            assert_eq!(self.log.recv().await.as_deref(), Some(*line));
        }
    }
}

fn posted(ask_id: &str) -> CallResult {
    let ask = SeenBlock::Ask { ask: SeenAsk { ask_id: ask_id.into(), ..SeenAsk::default() } };
    CallResult::Post(Some(SeenMessage { blocks: vec![ask], ..SeenMessage::default() }))
}

#[tokio::test]
async fn a_turns_messages_are_one_prompt_at_its_end_and_acknowledged_after_their_marks() {
    let mut world = start(&Paper::default(), Server::default());
    world.events.send(LinkEvent::Attached { session_id: "s".into() }).expect("the loop runs");
    world.expect(&["Ready", "Attached { session_id: \"s\" }"]).await;
    world.says(HarnessEvent::TurnStarted);
    world.expect(&["Working"]).await;
    world.arrives(delivery("a"));
    world.arrives(delivery("b"));
    world.arrives(Delivery { steer: true, ..delivery("s") });
    world.expect(&["interrupt s"]).await;
    world.says(HarnessEvent::Accepted(ids(&["s"])));
    world.expect(&["ack s"]).await;
    world.says(HarnessEvent::TurnEnded);
    world.expect(&["Ready", "prompt a,b"]).await;
    assert_eq!(world.paper.sheet().marks["a"], Mark::Begun);
    world.says(HarnessEvent::Accepted(ids(&["a", "b"])));
    world.expect(&["ack a", "ack b"]).await;
    assert_eq!(world.paper.sheet().marks["b"], Mark::Taken);
    world.says(HarnessEvent::Ended);
    world.expect(&["finish"]).await;
    assert_eq!(world.ended.await.expect("ended").expect("well"), Ended::Harness);
}

#[tokio::test]
async fn a_session_that_attaches_again_in_a_turn_says_that_it_works() {
    let mut world = start(&Paper::default(), Server::default());
    world.says(HarnessEvent::TurnStarted);
    world.expect(&["Working"]).await;
    world.events.send(LinkEvent::Attached { session_id: String::new() }).expect("the loop runs");
    world.expect(&["Working", "Attached { session_id: \"\" }"]).await;
}

#[tokio::test]
async fn a_refused_prompt_is_not_acknowledged_and_its_redelivery_is_injected_once() {
    let mut world = start(&Paper::default(), Server::default());
    world.arrives(delivery("a"));
    world.expect(&["prompt a"]).await;
    world.says(HarnessEvent::Refused { message_ids: ids(&["a"]), reason: "busy".into() });
    // A canary of the same lane: what it says comes after the refusal was taken in.
    world.says(HarnessEvent::Accepted(ids(&["canary"])));
    world.expect(&["NotHandedOver { message_id: \"canary\" }"]).await;
    assert!(world.paper.sheet().marks.is_empty());
    world.arrives(delivery("a"));
    world.expect(&["prompt a"]).await;
    world.says(HarnessEvent::Accepted(ids(&["a"])));
    world.expect(&["ack a"]).await;
}

#[tokio::test]
async fn a_journal_that_fails_ends_the_loop_before_anything_is_handed_over() {
    let paper = Paper::default();
    paper.sheet().broken = true;
    let mut world = start(&paper, Server::default());
    world.arrives(delivery("a"));
    world.expect(&["finish"]).await;
    assert!(matches!(world.ended.await.expect("ended"), Err(RunError::Journal(_))));
}

#[tokio::test]
async fn a59_a_harness_that_breaks_ends_the_loop_with_its_error() {
    let World { events: _events, model, ended, .. } = start(&Paper::default(), Server::default());
    drop(model);
    let Err(RunError::Harness(error)) = ended.await.expect("ended") else { panic!("an error") };
    assert_eq!(error.to_string(), "the model is gone");
}

#[tokio::test]
async fn the_end_of_the_link_is_told_and_ends_the_loop() {
    let mut world = start(&Paper::default(), Server::default());
    world.events.send(LinkEvent::Prompt("go".into())).expect("the loop runs");
    world.events.send(LinkEvent::Stopped).expect("the loop runs");
    world.expect(&["turn go", "Stopped", "finish"]).await;
    assert_eq!(world.ended.await.expect("ended").expect("well"), Ended::Stopped);
}

#[tokio::test(start_paused = true)]
async fn g9_an_ask_of_the_harness_is_posted_after_its_wait_is_on_disk_and_its_answer_goes_to_the_waiter() {
    let unreachable = Err(CallError::Unreachable("down".into()));
    let server = Server::new([unreachable, Ok(posted("a"))]);
    let mut world = start(&Paper::default(), server.clone());
    world.says(HarnessEvent::TurnStarted);
    world.expect(&["Working"]).await;
    let (tell, outcome) = oneshot::channel();
    world.says(HarnessEvent::Ask { key: "k".into(), ask: ask(), keep: false, tell });
    while world.paper.sheet().waits.is_empty() {
        tokio::task::yield_now().await;
    }
    // In the middle of the turn that waits for it.
    world.arrives(answer("m", "a"));
    let Ok(Outcome::Answered(given)) = outcome.await else { panic!("an answer") };
    assert_eq!(given.message.id, "m");
    assert_eq!(world.paper.sheet().waits["k"].ask_id.as_deref(), Some("a"));
    world.says(HarnessEvent::Took { key: "k".into() });
    world.expect(&["ack m"]).await;
    assert!(world.paper.sheet().waits.is_empty());
    assert_eq!(world.paper.sheet().marks["m"], Mark::Taken);
    // The post that failed was made again under the same key.
    let calls = server.calls.lock().expect("not poisoned").clone();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0], calls[1]);
}

#[tokio::test(start_paused = true)]
async fn g9_a_waiter_that_gave_up_is_told_withdrawn_and_its_ask_is_withdrawn() {
    let server = Server::new([Ok(posted("a")), Ok(CallResult::CancelAsk)]);
    let world = start(&Paper::default(), server.clone());
    let (tell, outcome) = oneshot::channel();
    world.says(HarnessEvent::Ask { key: "k".into(), ask: ask(), keep: false, tell });
    world.says(HarnessEvent::GaveUp { key: "k".into() });
    assert_eq!(outcome.await, Ok(Outcome::Withdrawn));
    while !world.paper.sheet().waits.is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.cancelled(), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn g9_an_ask_the_server_refuses_is_told_as_not_posted() {
    let refused = Err(CallError::Refused { code: "not_found".into(), message: "no such channel".into() });
    let world = start(&Paper::default(), Server::new([refused]));
    let (tell, outcome) = oneshot::channel();
    world.says(HarnessEvent::Ask { key: "k".into(), ask: ask(), keep: false, tell });
    let Ok(Outcome::NotPosted { reason }) = outcome.await else { panic!("not posted") };
    assert!(reason.contains("no such channel"), "{reason}");
    assert!(world.paper.sheet().waits.is_empty());
}

#[tokio::test(start_paused = true)]
async fn g9_a_withdrawal_by_the_model_reaches_the_waiter() {
    let world = start(&Paper::default(), Server::new([Ok(posted("a"))]));
    let (tell, outcome) = oneshot::channel();
    world.says(HarnessEvent::Ask { key: "k".into(), ask: ask(), keep: false, tell });
    while world.paper.sheet().waits.get("k").is_none_or(|wait| wait.ask_id.is_none()) {
        tokio::task::yield_now().await;
    }
    world.says(HarnessEvent::Withdrew { ask_id: "a".into() });
    assert_eq!(outcome.await, Ok(Outcome::Withdrawn));
}

#[tokio::test(start_paused = true)]
async fn g9_asks_of_a_life_that_died_are_withdrawn_and_an_answer_that_was_first_is_a_prompt() {
    let paper = Paper::default();
    let mut dead = Inbox::new(paper.clone(), Turns::Driven, "an earlier life");
    dead.wait("k", ask(), false, oneshot::channel().0).expect("journal");
    drop(dead);
    let first = Err(CallError::Refused { code: "already_exists".into(), message: "answered".into() });
    let server =
        Server::new([Ok(posted("a")), Err(CallError::OutcomeUnknown("cut".into())), Ok(posted("a")), first]);
    let mut world = start(&paper, server.clone());
    while !paper.sheet().waits.is_empty() {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
    assert_eq!(server.cancelled(), ["a", "a"]);
    world.arrives(answer("m", "a"));
    world.expect(&["prompt m"]).await;
}

#[tokio::test]
async fn what_the_model_does_is_shown_in_order_with_its_turns() {
    let mut world = start(&Paper::default(), Server::default());
    let event = |id: &str| {
        let activity = Activity::Text { text: "hm".into() };
        HarnessEvent::Activity(SessionEvent { id: id.into(), at_unix_ms: 0, activity })
    };
    world.says(HarnessEvent::TurnStarted);
    world.says(event("1"));
    world.says(event("2"));
    world.says(HarnessEvent::TurnEnded);
    world.expect(&["Working", "show 1", "show 2", "Ready"]).await;
}

/// A harness that asked and is over, once its ask is posted or before.
async fn over_while_it_asks(posted_before: bool) {
    let server = Server::new([Ok(posted("a")), Ok(CallResult::CancelAsk)]);
    let mut world = start(&Paper::default(), server.clone());
    let (tell, outcome) = oneshot::channel();
    world.says(HarnessEvent::Ask { key: "k".into(), ask: ask(), keep: false, tell });
    if posted_before {
        while world.paper.sheet().waits.get("k").is_none_or(|wait| wait.ask_id.is_none()) {
            tokio::task::yield_now().await;
        }
    }
    world.says(HarnessEvent::Ended);
    world.expect(&["finish"]).await;
    assert_eq!(world.ended.await.expect("ended").expect("well"), Ended::Harness);
    assert_eq!(server.cancelled(), ["a"]);
    assert!(world.paper.sheet().waits.is_empty());
    assert!(matches!(outcome.await, Ok(Outcome::Withdrawn)));
}

#[tokio::test(start_paused = true)]
async fn g9_a_harness_that_is_over_leaves_no_ask_open() {
    over_while_it_asks(true).await;
    over_while_it_asks(false).await;
}

#[tokio::test(start_paused = true)]
async fn g9_a_withdrawal_that_the_runner_denies_after_the_session_is_left_to_a_later_life() {
    let denied = CallError::Refused { code: "permission_denied".into(), message: "no session".into() };
    leaves_its_withdrawal(denied).await;
}

#[tokio::test(start_paused = true)]
async fn g9_a_server_that_cannot_be_reached_at_the_end_leaves_the_withdrawal_to_a_later_life() {
    leaves_its_withdrawal(CallError::Unreachable("down".into())).await;
}

/// A harness is over while it asks, and its ask cannot be withdrawn: the wait stays on disk.
async fn leaves_its_withdrawal(error: CallError) {
    let server = Server::new([Ok(posted("a")), Err(error)]);
    let mut world = start(&Paper::default(), server);
    let (tell, _outcome) = oneshot::channel();
    world.says(HarnessEvent::Ask { key: "k".into(), ask: ask(), keep: false, tell });
    while world.paper.sheet().waits.get("k").is_none_or(|wait| wait.ask_id.is_none()) {
        tokio::task::yield_now().await;
    }
    world.says(HarnessEvent::Ended);
    world.expect(&["finish"]).await;
    assert_eq!(world.ended.await.expect("ended").expect("well"), Ended::Harness);
    assert_eq!(world.paper.sheet().waits.len(), 1);
}
