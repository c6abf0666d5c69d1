//! A68, against a runner that can be made to fail.

use async_trait::async_trait;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use super::*;
use crate::ports::{Activity, SessionEvent, SessionState};

/// Fails as often as it was told to, and keeps every batch it was handed.
#[derive(Debug, Default, Clone)]
struct Runner {
    batches: Arc<Mutex<Vec<Vec<Frame>>>>,
    failing: Arc<Mutex<usize>>,
    hangs: bool,
}

impl Runner {
    fn failing(times: usize) -> Self {
        Self { failing: Arc::new(Mutex::new(times)), ..Self::default() }
    }

    fn taken(&self) -> Vec<Vec<Frame>> {
        self.batches.lock().expect("not poisoned").clone()
    }
}

#[async_trait]
impl Publisher for Runner {
    async fn publish(&self, frames: &[Frame]) -> Result<(), PublishError> {
        if self.hangs {
            std::future::pending::<()>().await;
        }
        self.batches.lock().expect("not poisoned").push(frames.to_vec());
        let mut failing = self.failing.lock().expect("not poisoned");
        if *failing == 0 {
            return Ok(());
        }
        *failing -= 1;
        Err(PublishError("down".into()))
    }
}

fn event(n: usize) -> Frame {
    let activity = Activity::Notice { text: n.to_string() };
    Frame::Event(SessionEvent { id: n.to_string(), at_unix_ms: 0, activity })
}

fn receipt(n: usize) -> Frame {
    Frame::DeliveryAck { message_id: n.to_string() }
}

fn run(spine: &Spine, runner: &Runner, tasks: &TaskTracker) -> CancellationToken {
    let (spine, runner, stop) = (spine.clone(), runner.clone(), CancellationToken::new());
    let stopped = stop.clone();
    tasks.spawn(async move { spine.run(&runner, stopped).await });
    stop
}

#[tokio::test(start_paused = true)]
async fn a68_events_keep_their_order_and_the_oldest_overflow_and_are_counted() {
    let spine = Spine::default();
    (0..1030).for_each(|n| spine.send(event(n)));
    assert_eq!(spine.losses().overflowed, 6);
    let runner = Runner::default();
    let stop = run(&spine, &runner, &TaskTracker::new());
    assert!(spine.drain(Duration::from_secs(1)).await);
    let batches = runner.taken();
    assert!(batches.iter().all(|batch| batch.len() <= 256));
    assert_eq!(batches.concat(), (6..1030).map(event).collect::<Vec<_>>());
    stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn a68_receipts_and_the_last_state_are_never_dropped_and_go_before_the_backlog_in_order() {
    let spine = Spine::default();
    (0..600).for_each(|n| spine.send(event(n)));
    (0..2000).for_each(|n| spine.send(receipt(n)));
    spine.send(Frame::State(SessionState::Stopped));
    let runner = Runner::default();
    run(&spine, &runner, &TaskTracker::new());
    assert!(spine.drain(Duration::from_secs(1)).await);
    let sent = runner.taken().concat();
    assert_eq!(sent[..2000], (0..2000).map(receipt).collect::<Vec<_>>());
    assert_eq!(sent[2000], Frame::State(SessionState::Stopped));
    assert_eq!(sent.len(), 2601);
}

#[tokio::test(start_paused = true)]
async fn a68_a_failed_batch_keeps_its_receipts_at_the_front_and_drops_its_events() {
    let spine = Spine::default();
    spine.send(receipt(1));
    spine.send(event(1));
    spine.send(receipt(2));
    let runner = Runner::failing(1);
    run(&spine, &runner, &TaskTracker::new());
    let begun = Instant::now();
    assert!(spine.drain(Duration::from_secs(9)).await);
    assert_eq!(begun.elapsed().as_millis(), 50);
    assert_eq!(runner.taken(), [vec![receipt(1), receipt(2), event(1)], vec![receipt(1), receipt(2)]]);
    assert_eq!(spine.losses(), Losses { failed_events: 1, ..Losses::default() });
}

#[tokio::test(start_paused = true)]
async fn a68_retries_wait_longer_each_time_and_are_counted_when_the_ladder_ends() {
    let spine = Spine::default();
    spine.send(receipt(1));
    let runner = Runner::failing(5);
    run(&spine, &runner, &TaskTracker::new());
    let begun = Instant::now();
    assert!(spine.drain(Duration::from_secs(9)).await);
    assert_eq!(begun.elapsed().as_millis(), 50 + 200 + 800 + 800 + 800);
    assert_eq!(spine.losses().exhausted, 2);
    assert_eq!(runner.taken().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a68_a_drain_over_a_dead_or_a_hanging_socket_is_bounded() {
    for runner in [Runner::failing(usize::MAX), Runner { hangs: true, ..Runner::default() }] {
        let spine = Spine::default();
        spine.send(receipt(1));
        run(&spine, &runner, &TaskTracker::new());
        let begun = Instant::now();
        assert!(!spine.drain(Duration::from_secs(2)).await);
        assert_eq!(begun.elapsed(), Duration::from_secs(2));
    }
}
