//! A58 to A66, over a scripted runner and paused time.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use tokio::time::Instant;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::*;
use crate::{
    ports::{
        Control, ControlOp, ControlSource, ControlStream, Frame, Link as _, LinkEvent, PublishError,
        Publisher, SessionState, StreamBroken,
    },
    spine::Spine,
    testing::delivery,
};

/// What one opening comes to.
#[derive(Debug, Clone)]
enum Opening {
    /// The runner does not answer, after so long.
    Refused(Duration),
    /// These operations, and then this long until the end.
    Open(Vec<ControlOp>, Duration, End),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Closed,
    Broken,
    Never,
}

#[derive(Debug, Default)]
struct Runner {
    /// The last one repeats.
    script: Mutex<VecDeque<Opening>>,
    opened_at: Mutex<Vec<Instant>>,
    dropped: Arc<Mutex<usize>>,
}

struct Stream {
    ops: VecDeque<ControlOp>,
    ends_at: Instant,
    end: End,
    dropped: Arc<Mutex<usize>>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        *self.dropped.lock().expect("not poisoned") += 1;
    }
}

#[async_trait]
impl ControlStream for Stream {
    async fn next(&mut self) -> Result<Option<ControlOp>, StreamBroken> {
        if let Some(op) = self.ops.pop_front() {
            return Ok(Some(op));
        }
        tokio::time::sleep_until(self.ends_at).await;
        match self.end {
            End::Closed => Ok(None),
            End::Broken => Err(StreamBroken("reset".into())),
            End::Never => std::future::pending().await,
        }
    }
}

#[async_trait]
impl ControlSource for Runner {
    async fn open(&self) -> Result<Box<dyn ControlStream>, StreamBroken> {
        self.opened_at.lock().expect("not poisoned").push(Instant::now());
        let opening = {
            let mut script = self.script.lock().expect("not poisoned");
            if script.len() > 1 { script.pop_front() } else { script.front().cloned() }
        };
        match opening.expect("a script") {
            Opening::Refused(after) => {
                tokio::time::sleep(after).await;
                Err(StreamBroken("refused".into()))
            }
            Opening::Open(ops, lives, end) => Ok(Box::new(Stream {
                ops: ops.into(),
                ends_at: Instant::now() + lives,
                end,
                dropped: Arc::clone(&self.dropped),
            })),
        }
    }
}

/// Keeps every frame.
#[derive(Debug, Default, Clone)]
struct Sent(Arc<Mutex<Vec<Frame>>>);

#[async_trait]
impl Publisher for Sent {
    async fn publish(&self, frames: &[Frame]) -> Result<(), PublishError> {
        self.0.lock().expect("not poisoned").extend_from_slice(frames);
        Ok(())
    }
}

struct World {
    runner: Arc<Runner>,
    controls: Controls,
    spine: Spine,
    sent: Sent,
    _stop: tokio_util::sync::DropGuard,
    tasks: TaskTracker,
}

fn world(script: &[Opening]) -> World {
    let runner = Arc::new(Runner { script: Mutex::new(script.to_vec().into()), ..Runner::default() });
    let (spine, sent, tasks, stop) =
        (Spine::default(), Sent::default(), TaskTracker::new(), CancellationToken::new());
    let (publishing, publisher, stopped) = (spine.clone(), sent.clone(), stop.clone());
    tasks.spawn(async move { publishing.run(&publisher, stopped).await });
    let controls = start(Arc::clone(&runner) as Arc<dyn ControlSource>, spine.clone(), &tasks);
    World { runner, controls, spine, sent, _stop: stop.drop_guard(), tasks }
}

impl World {
    /// Everything that was reported once nothing more is to be done.
    async fn frames(&self) -> Vec<Frame> {
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(self.spine.drain(Duration::from_secs(1)).await);
        self.sent.0.lock().expect("not poisoned").clone()
    }

    /// Pulls until nothing follows, or the stream is only waiting.
    async fn pull_all(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        while let Ok(Some(item)) = tokio::time::timeout(Duration::from_millis(1), self.controls.next()).await
        {
            items.push(item);
        }
        items
    }

    fn openings(&self) -> usize {
        self.runner.opened_at.lock().expect("not poisoned").len()
    }

    fn counted(&self, what: Counted) -> u64 {
        self.controls.counts().get(&what).copied().unwrap_or_default()
    }
}

fn op(seq: u64, control: Control) -> ControlOp {
    ControlOp { seq, control }
}

fn message(seq: u64, id: &str) -> ControlOp {
    op(seq, Control::Message(Box::new(delivery(id))))
}

fn prompt(seq: u64) -> ControlOp {
    op(seq, Control::Prompt(format!("p{seq}")))
}

fn live(seq: u64) -> ControlOp {
    op(seq, Control::ReplayComplete)
}

fn ack(acked_seq: u64, above: &[u64]) -> Frame {
    Frame::ControlAck { acked_seq, applied_above: above.to_vec() }
}

fn open(ops: Vec<ControlOp>, end: End) -> Opening {
    Opening::Open(ops, Duration::ZERO, end)
}

fn told(id: &str) -> Item {
    Item::Delivery(Box::new(delivery(id)))
}

#[tokio::test(start_paused = true)]
async fn a58_operations_come_in_order_and_a_clean_close_ends_and_stops_the_session() {
    let mut world = world(&[open(vec![live(1), prompt(2), prompt(3)], End::Closed)]);
    let mut items = Vec::new();
    while let Some(item) = world.controls.next().await {
        items.push(item);
    }
    assert_eq!(items, [Item::Live, Item::Prompt("p2".into()), Item::Prompt("p3".into())]);
    assert_eq!(world.openings(), 1);
    let mut link = SessionLink::new(world.controls, world.spine.clone());
    assert_eq!(link.next().await, Some(LinkEvent::Stopped));
    assert_eq!(link.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a59_what_was_pulled_and_not_applied_is_not_acknowledged() {
    let mut world = world(&[open(vec![live(1), prompt(2)], End::Never)]);
    world.controls.next().await;
    assert_eq!(world.controls.next().await, Some(Item::Prompt("p2".into())));
    // Whoever applies it fails, and never comes back.
    assert_eq!(world.frames().await, [Frame::ReplayCompleteAck, ack(1, &[])]);
}

#[tokio::test(start_paused = true)]
async fn a60_live_control_before_the_end_of_the_replay_is_refused_counted_and_acknowledged_as_control() {
    let steer = Control::Message(Box::new(crate::seen::Delivery { steer: true, ..delivery("s") }));
    let ops = vec![prompt(1), op(2, steer), message(3, "m"), live(4), message(5, "n")];
    let mut world = world(&[open(ops, End::Never)]);
    assert_eq!(world.pull_all().await, [Item::Live, told("n")]);
    assert_eq!(world.counted(Counted::BeforeBarrier), 3);
    let frames = world.frames().await;
    assert_eq!(frames[..3], [ack(1, &[]), ack(2, &[]), ack(3, &[])]);
    assert_eq!(frames[3..], [Frame::ReplayCompleteAck, ack(4, &[]), ack(5, &[])]);
    assert!(!frames.iter().any(|frame| matches!(frame, Frame::DeliveryAck { .. })));
}

#[tokio::test(start_paused = true)]
async fn a61_the_end_of_the_replay_is_acknowledged_as_such_and_then_as_control() {
    let mut world = world(&[open(vec![live(1)], End::Never)]);
    assert_eq!(world.controls.next().await, Some(Item::Live));
    assert_eq!(world.frames().await, [], "it is not applied yet");
    assert_eq!(world.pull_all().await, []);
    assert_eq!(world.frames().await, [Frame::ReplayCompleteAck, ack(1, &[])]);
}

#[tokio::test(start_paused = true)]
async fn a62_a_queued_operation_is_acknowledged_at_the_next_pull_and_others_above_it_meanwhile() {
    let ops = vec![live(1), prompt(2), message(3, "a"), prompt(2), message(3, "a"), live(1)];
    let mut world = world(&[open(ops, End::Never)]);
    assert_eq!(world.controls.next().await, Some(Item::Live));
    assert_eq!(world.controls.next().await, Some(Item::Prompt("p2".into())));
    let frames = world.frames().await;
    // The first end of the replay let the message pass, whose repeats and that of the replay are acknowledged.
    assert_eq!(frames[..2], [Frame::ReplayCompleteAck, ack(1, &[])]);
    assert!(frames[2..].iter().all(|frame| *frame == ack(1, &[3])), "{frames:?}");
    assert_eq!(world.counted(Counted::Duplicate), 3, "the queued one is silent");
    assert_eq!(world.pull_all().await, [told("a")]);
    assert_eq!(world.frames().await.last(), Some(&ack(3, &[])), "it collapses");
}

#[tokio::test(start_paused = true)]
async fn a63_a_number_below_1_is_dropped_and_not_acknowledged() {
    let mut world = world(&[open(vec![live(0), live(1), message(0, "m")], End::Never)]);
    assert_eq!(world.pull_all().await, [Item::Live]);
    assert_eq!(world.counted(Counted::BadSeq), 2);
    assert_eq!(world.frames().await, [Frame::ReplayCompleteAck, ack(1, &[])]);
}

#[tokio::test(start_paused = true)]
async fn a64_what_is_not_known_or_empty_is_counted_and_acknowledged() {
    let ops = vec![live(1), op(2, Control::Unknown), op(3, Control::Empty)];
    let mut world = world(&[open(ops, End::Never)]);
    assert_eq!(world.pull_all().await, [Item::Live]);
    assert_eq!((world.counted(Counted::Unknown), world.counted(Counted::Empty)), (1, 1));
    assert_eq!(world.frames().await.last(), Some(&ack(3, &[])));
}

#[tokio::test(start_paused = true)]
async fn a65_a_quiet_stream_that_drops_for_ever_after_a_while_survives() {
    let flap = Opening::Open(vec![], Duration::from_secs(5), End::Broken);
    let mut world = world(&[open(vec![live(1)], End::Broken), flap]);
    for _ in 0..200 {
        let item = world.controls.next().await;
        assert!(!matches!(item, None | Some(Item::Lost { .. })), "{item:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a65_a_socket_that_never_answers_is_given_up_however_long_each_attempt_takes() {
    for after in [Duration::ZERO, Duration::from_secs(6)] {
        let mut world = world(&[Opening::Refused(after)]);
        assert_eq!(world.controls.next().await, Some(Item::Lost { reason: "refused".into() }));
        assert_eq!(world.openings(), 11, "the first one and ten more");
        assert_eq!(world.controls.next().await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn a65_a_stream_that_drops_at_once_is_given_up_after_5_openings_up_the_ladder() {
    let mut world = world(&[open(vec![], End::Broken)]);
    while !matches!(world.controls.next().await, Some(Item::Lost { .. })) {}
    let opened = world.runner.opened_at.lock().expect("not poisoned").clone();
    let waits: Vec<_> = opened.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect();
    assert_eq!(waits, [50, 200, 800, 2000]);
}

#[tokio::test(start_paused = true)]
async fn a65_a_long_application_survives_more_drops_than_the_budget() {
    let mut world = world(&[open(vec![live(1), prompt(2)], End::Broken), open(vec![prompt(2)], End::Broken)]);
    assert_eq!(world.controls.next().await, Some(Item::Live));
    assert_eq!(world.controls.next().await, Some(Item::Prompt("p2".into())));
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert!(world.openings() > 20, "{}", world.openings());
    // It is applied at last; the stream that goes on dropping is then given up.
    let mut last = None;
    while let Some(item) = world.controls.next().await {
        last = Some(item);
    }
    assert!(matches!(last, Some(Item::Lost { .. })), "{last:?}");
    assert!(world.frames().await.contains(&ack(2, &[])));
}

#[tokio::test(start_paused = true)]
async fn a65_an_operation_that_is_new_keeps_a_dropping_stream_alive() {
    let mut script: Vec<_> = (2..30).map(|seq| open(vec![message(seq, "m")], End::Broken)).collect();
    script.insert(0, open(vec![live(1)], End::Broken));
    script.push(open(vec![], End::Never));
    let mut world = world(&script);
    let mut messages = 0;
    while messages < 28 {
        match world.controls.next().await {
            Some(Item::Delivery(_)) => messages += 1,
            None | Some(Item::Lost { .. }) => panic!("given up after {messages}"),
            Some(_) => {}
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a66_abandoning_ends_the_stream_before_a_pull_twice_in_a_backoff_and_never_opens_again() {
    let mut before = world(&[open(vec![live(1)], End::Never)]);
    before.controls.abandon();
    before.controls.abandon();
    assert_eq!(before.controls.next().await, None);

    let mut streaming = world(&[open(vec![live(1)], End::Never)]);
    assert_eq!(streaming.controls.next().await, Some(Item::Live));
    streaming.controls.abandon();
    assert_eq!(streaming.controls.next().await, None);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(*streaming.runner.dropped.lock().expect("not poisoned"), 1, "the stream is closed");

    let mut waiting = world(&[Opening::Refused(Duration::ZERO)]);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let opened = waiting.openings();
    waiting.controls.abandon();
    assert_eq!(waiting.controls.next().await, None);
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(waiting.openings(), opened);
    assert_eq!(waiting.tasks.len(), 1, "the pump is over, the spine is not");
}

#[tokio::test(start_paused = true)]
async fn a_message_right_behind_the_end_of_the_replay_waits_for_it_and_is_not_refused() {
    let mut world = world(&[open(vec![live(1), message(2, "a"), message(3, "b")], End::Never)]);
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert_eq!(world.pull_all().await, [Item::Live, told("a"), told("b")]);
    assert_eq!(world.counted(Counted::BeforeBarrier), 0);
    assert_eq!(world.frames().await, [Frame::ReplayCompleteAck, ack(1, &[]), ack(3, &[])]);
}

#[tokio::test(start_paused = true)]
async fn a_link_over_the_pump_attaches_at_the_end_of_the_replay_and_reports_through_the_spine() {
    let world = world(&[
        open(vec![live(1), message(2, "a")], End::Broken),
        Opening::Open(vec![], Duration::from_hours(1), End::Never),
    ]);
    let mut link = SessionLink::new(world.controls, world.spine.clone());
    let attached = LinkEvent::Attached { session_id: String::new() };
    assert_eq!(link.next().await, Some(attached.clone()));
    let mut following = Vec::new();
    for _ in 0..3 {
        following.push(link.next().await.expect("an event"));
    }
    let dropped = LinkEvent::Detached { reason: "reset".into() };
    assert!(following.contains(&LinkEvent::Delivery(Box::new(delivery("a")))), "{following:?}");
    assert!(following.contains(&dropped) && following.contains(&attached), "{following:?}");
    link.acknowledge("a".into()).await;
    link.report(crate::ports::TurnState::Working).await;
    assert!(world.spine.drain(Duration::from_secs(1)).await);
    let sent = world.sent.0.lock().expect("not poisoned").clone();
    assert!(sent.contains(&Frame::DeliveryAck { message_id: "a".into() }));
    assert!(sent.contains(&Frame::State(SessionState::Working)));
}
