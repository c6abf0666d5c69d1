//! The task that reads the stream, opens it again, and takes word of what was applied.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    flaps::Flaps,
    intake::{Counted, Intake, Op, Taken},
};
use crate::{
    ports::{ControlSource, StreamBroken},
    seen::Delivery,
    spine::Spine,
};

/// What the consumer gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A message.
    Delivery(Box<Delivery>),
    /// A turn to run.
    Prompt(String),
    /// Everything from before is here; live control follows.
    Live,
    /// The stream dropped and is being opened again.
    Dropped {
        /// Why.
        reason: String,
    },
    /// The stream is open again.
    Again,
    /// The stream dropped too often; nothing follows.
    Lost {
        /// Why, the last time.
        reason: String,
    },
}

/// The consumer's end. There is one: what it pulled counts as applied when it pulls again.
#[derive(Debug)]
pub struct Controls {
    items: UnboundedReceiver<(Option<u64>, Item)>,
    applied: UnboundedSender<u64>,
    pulled: Option<u64>,
    counts: Arc<Mutex<BTreeMap<Counted, u64>>>,
    stop: CancellationToken,
}

/// Starts a pump on a task of `tasks`; its acknowledgements go to `spine`.
pub fn start(source: Arc<dyn ControlSource>, spine: Spine, tasks: &TaskTracker) -> Controls {
    let (tell, items) = mpsc::unbounded_channel();
    let (applied, word) = mpsc::unbounded_channel();
    let stop = CancellationToken::new();
    let counts = Arc::default();
    let pump = Pump {
        source,
        spine,
        tell,
        word,
        intake: Intake::default(),
        flaps: Flaps::default(),
        counts: Arc::clone(&counts),
    };
    let ended = stop.clone();
    tasks.spawn(async move { ended.run_until_cancelled(pump.run()).await });
    Controls { items, applied, pulled: None, counts, stop }
}

impl Controls {
    /// Says that what was pulled before is applied, and pulls the next; none once the runner closed the stream, it
    /// was lost, or it was abandoned. Safe to drop while waiting.
    pub async fn next(&mut self) -> Option<Item> {
        if let Some(seq) = self.pulled.take() {
            // A pump that is over has nobody to tell.
            let _ = self.applied.send(seq);
        }
        if self.stop.is_cancelled() {
            return None;
        }
        let (seq, item) = self.items.recv().await?;
        self.pulled = seq;
        Some(item)
    }

    /// Ends the pump and its stream, also while it waits to open one. A repeat changes nothing.
    pub fn abandon(&self) {
        self.stop.cancel();
    }

    /// How often what was counted.
    pub fn counts(&self) -> BTreeMap<Counted, u64> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Controls {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// How an open stream ended.
enum End {
    Closed,
    Unheard,
    Broken(StreamBroken),
}

struct Pump {
    source: Arc<dyn ControlSource>,
    spine: Spine,
    tell: UnboundedSender<(Option<u64>, Item)>,
    word: UnboundedReceiver<u64>,
    intake: Intake,
    flaps: Flaps,
    counts: Arc<Mutex<BTreeMap<Counted, u64>>>,
}

impl Pump {
    async fn run(mut self) {
        loop {
            let begun = Instant::now();
            let mut opened = false;
            let StreamBroken(reason) = match self.stream(&mut opened).await {
                End::Closed | End::Unheard => return,
                End::Broken(broken) => broken,
            };
            let progress = self.intake.progressed();
            let Some(wait) = self.flaps.dropped(opened, begun.elapsed(), progress) else {
                // A consumer that is gone need not be told.
                drop(self.tell.send((None, Item::Lost { reason })));
                return;
            };
            if opened && self.tell.send((None, Item::Dropped { reason })).is_err() {
                return;
            }
            let until = Instant::now() + wait;
            if self.meanwhile(tokio::time::sleep_until(until)).await.is_none() {
                return;
            }
        }
    }

    async fn stream(&mut self, opened: &mut bool) -> End {
        let source = Arc::clone(&self.source);
        let mut stream = match self.meanwhile(source.open()).await {
            None => return End::Unheard,
            Some(Err(broken)) => return End::Broken(broken),
            Some(Ok(stream)) => stream,
        };
        *opened = true;
        if self.intake.is_live() && self.tell.send((None, Item::Again)).is_err() {
            return End::Unheard;
        }
        loop {
            match self.meanwhile(stream.next()).await {
                None => return End::Unheard,
                Some(Err(broken)) => return End::Broken(broken),
                Some(Ok(None)) => return End::Closed,
                Some(Ok(Some(op))) => {
                    let taken = self.intake.take(op);
                    self.perform(taken);
                }
            }
        }
    }

    /// Waits for a future and takes word of what was applied meanwhile; none if the consumer is gone.
    async fn meanwhile<T>(&mut self, future: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(future);
        loop {
            tokio::select! {
                // What was applied is acknowledged before more is taken in.
                biased;
                word = self.word.recv() => {
                    let taken = self.intake.applied(word?);
                    self.perform(taken);
                }
                done = &mut future => return Some(done),
            }
        }
    }

    fn perform(&mut self, taken: Taken) {
        // The consumer may be gone; the word it no longer gives ends the pump.
        for delivery in taken.deliveries {
            drop(self.tell.send((None, Item::Delivery(Box::new(delivery)))));
        }
        match taken.queued {
            Some((seq, Op::Prompt(input))) => drop(self.tell.send((Some(seq), Item::Prompt(input)))),
            Some((seq, Op::ReplayComplete)) => drop(self.tell.send((Some(seq), Item::Live))),
            None => {}
        }
        for frame in taken.frames {
            self.spine.send(frame);
        }
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner) = self.intake.counts();
    }
}
