//! What leaves a session: receipts and states first and never dropped, events behind them and bounded.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::ports::{Frame, PublishError, Publisher};

/// Events that wait at the most; the oldest goes first.
const EVENTS: usize = 1024;
/// Frames of one batch at the most.
const BATCH: usize = 256;
/// Waits after a batch that failed; the last one stays.
const RETRIES: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(200), Duration::from_millis(800)];
/// A batch that takes longer counts as failed.
const ATTEMPT: Duration = Duration::from_secs(5);

/// What was lost, and what would not leave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Losses {
    /// Events that were dropped because too many waited.
    pub overflowed: u64,
    /// Events that were in a batch that failed.
    pub failed_events: u64,
    /// Batches that failed after every wait of the ladder; their receipts still wait.
    pub exhausted: u64,
}

/// The two queues of a session. Cloning it gives another handle of the same queues.
#[derive(Debug, Clone, Default)]
pub struct Spine(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    queues: Mutex<Queues>,
    more: Notify,
    less: Notify,
}

#[derive(Debug, Default)]
struct Queues {
    priority: VecDeque<Frame>,
    events: VecDeque<Frame>,
    publishing: bool,
    losses: Losses,
}

impl Spine {
    /// Queues a frame; an event may push the oldest one out, everything else stays until it has left.
    pub fn send(&self, frame: Frame) {
        let mut queues = self.queues();
        if matches!(frame, Frame::Event(_)) {
            queues.events.push_back(frame);
            if queues.events.len() > EVENTS {
                queues.events.pop_front();
                queues.losses.overflowed += 1;
            }
        } else {
            queues.priority.push_back(frame);
        }
        drop(queues);
        self.0.more.notify_one();
    }

    /// Publishes what is queued until `stop`.
    pub async fn run(&self, publisher: &dyn Publisher, stop: CancellationToken) {
        let forever = async {
            let mut failures = 0;
            loop {
                let batch = self.next_batch();
                if batch.is_empty() {
                    self.0.less.notify_waiters();
                    self.0.more.notified().await;
                    continue;
                }
                let attempt = tokio::time::timeout(ATTEMPT, publisher.publish(&batch)).await;
                let done = attempt.unwrap_or_else(|_| Err(PublishError("it took too long".to_owned())));
                self.settle(batch, done.is_ok(), failures == RETRIES.len());
                if done.is_ok() {
                    failures = 0;
                } else {
                    let wait = RETRIES.get(failures).or(RETRIES.last()).copied().unwrap_or_default();
                    failures = (failures + 1).min(RETRIES.len());
                    tokio::time::sleep(wait).await;
                }
            }
        };
        stop.run_until_cancelled(forever).await;
    }

    /// Waits until everything that is queued has left, or for `patience`; true if it has.
    pub async fn drain(&self, patience: Duration) -> bool {
        let settled = async {
            loop {
                let less = self.0.less.notified();
                if self.is_empty() {
                    return;
                }
                less.await;
            }
        };
        tokio::time::timeout(patience, settled).await.is_ok()
    }

    /// What was lost so far.
    pub fn losses(&self) -> Losses {
        self.queues().losses
    }

    fn is_empty(&self) -> bool {
        let queues = self.queues();
        !queues.publishing && queues.priority.is_empty() && queues.events.is_empty()
    }

    fn next_batch(&self) -> Vec<Frame> {
        let mut queues = self.queues();
        let mut batch = Vec::new();
        while batch.len() < BATCH
            && let Some(frame) = queues.priority.pop_front().or_else(|| queues.events.pop_front())
        {
            batch.push(frame);
        }
        queues.publishing = !batch.is_empty();
        batch
    }

    /// Puts what must not be lost of a failed batch back to the front.
    fn settle(&self, batch: Vec<Frame>, done: bool, exhausted: bool) {
        let mut queues = self.queues();
        queues.publishing = false;
        if done {
            return;
        }
        queues.losses.exhausted += u64::from(exhausted);
        for frame in batch.into_iter().rev() {
            if matches!(frame, Frame::Event(_)) {
                queues.losses.failed_events += 1;
            } else {
                queues.priority.push_front(frame);
            }
        }
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.0.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
