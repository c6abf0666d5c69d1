//! The deliver lane and the steer lane into a model: what is handed over when, and what may be acknowledged.
//!
//! A pure state machine. What happened goes in, what is to be done comes out; it knows no time and no I/O. Both
//! lanes share one set of ids, because a lost acknowledgement can bring a message back on the other lane.

mod processed;
#[cfg(test)]
mod tests;

use std::collections::{HashSet, VecDeque};

use self::processed::{Processed, Stage};
use crate::{ports::Mark, prompt, seen::Delivery};

/// Ids that are remembered; far above any sweep.
pub const REMEMBERED: usize = 16_384;
/// Messages of one prompt at the most.
pub const BATCH_MESSAGES: usize = 64;
/// Bytes of one prompt at the most, unless a single message is longer.
pub const BATCH_BYTES: usize = 64 * 1024;

/// How turns of the harness come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turns {
    /// What is handed over starts a turn, whose end the harness tells.
    Driven,
    /// A program tells when it works; until it does, it takes messages at any time.
    Reported,
}

/// A message on its way into the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handed {
    /// The message.
    pub delivery: Delivery,
    /// True if an earlier life may have handed it over and died before it could say so.
    pub delivered_before: bool,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Hand these over together while the model rests; answered by accepted or refused.
    Inject {
        /// Oldest first; never empty.
        batch: Vec<Handed>,
        /// How many more wait for the next turn's end.
        waiting: usize,
    },
    /// Hand this over in the middle of the turn; answered by accepted or refused.
    Interrupt(Box<Handed>),
    /// These are taken: acknowledge them, again if need be.
    Acknowledge(Vec<String>),
    /// Tell and count something that must not pass unseen.
    Count(Reason),
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// A message without an id: it can be neither recognised nor acknowledged.
    Unmapped,
    /// A message that came again.
    Duplicate,
    /// The harness did not take a message; the server sends it again.
    Refused,
}

/// What is known about the model's turn.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Turn {
    /// None runs.
    Rest,
    /// One is expected, because the batch that begins with this message was handed over.
    Expected(String),
    /// The harness said that one runs.
    Running,
}

#[derive(Debug)]
struct Queued {
    handed: Handed,
    cost: usize,
}

/// Both lanes of one session.
#[derive(Debug)]
pub struct Lanes {
    turns: Turns,
    processed: Processed,
    queue: VecDeque<Queued>,
    turn: Turn,
    streaming: bool,
    /// What a limit cut the queue behind, for a harness that need not end a turn for it.
    ahead: HashSet<String>,
}

impl Lanes {
    /// Empty lanes into a harness that rests.
    pub fn new(turns: Turns) -> Self {
        Self {
            turns,
            processed: Processed::new(REMEMBERED),
            queue: VecDeque::new(),
            turn: Turn::Rest,
            streaming: false,
            ahead: HashSet::new(),
        }
    }

    /// True if a mark of an earlier life can change what becomes of the message.
    pub fn is_new(&self, message_id: &str) -> bool {
        self.processed.stage(message_id).is_none()
    }

    /// Takes a delivery in; `mark` is what an earlier life left of it.
    pub fn arrive(&mut self, delivery: Delivery, mark: Option<Mark>) -> Vec<Effect> {
        let id = delivery.message.id.clone();
        if id.is_empty() {
            return vec![Effect::Count(Reason::Unmapped)];
        }
        match self.processed.stage(&id) {
            Some(Stage::Taken) => vec![Effect::Count(Reason::Duplicate), Effect::Acknowledge(vec![id])],
            // Its own acknowledgement will come once it is handed over, and a rest is used for that.
            Some(Stage::Queued) => self.flushed(vec![Effect::Count(Reason::Duplicate)]),
            Some(Stage::HandedOver) => vec![Effect::Count(Reason::Duplicate)],
            None if mark == Some(Mark::Taken) => {
                self.processed.set(&id, Stage::Taken);
                vec![Effect::Count(Reason::Duplicate), Effect::Acknowledge(vec![id])]
            }
            None => {
                let handed = Handed { delivery, delivered_before: mark.is_some() };
                if handed.delivery.steer { vec![self.steer(handed)] } else { self.enqueue(handed) }
            }
        }
    }

    /// The harness is in a turn.
    pub fn turn_started(&mut self) {
        self.turn = Turn::Running;
    }

    /// The harness ended its turn, and rests.
    pub fn turn_ended(&mut self) -> Vec<Effect> {
        self.turn = Turn::Rest;
        self.streaming = false;
        self.ahead.clear();
        self.flushed(Vec::new())
    }

    /// The harness streams, or no longer does; it may do so before it is in a turn.
    ///
    /// A turn that was expected and never began is over when the streaming is.
    pub fn streaming(&mut self, streaming: bool) -> Vec<Effect> {
        self.streaming = streaming;
        if !streaming && matches!(self.turn, Turn::Expected(_)) {
            self.turn = Turn::Rest;
        }
        self.flushed(Vec::new())
    }

    /// The harness took these; what was not handed over is passed over.
    pub fn accepted(&mut self, message_ids: &[String]) -> Vec<Effect> {
        let under_way = |id: &&String| self.processed.stage(id) == Some(Stage::HandedOver);
        let taken: Vec<String> = message_ids.iter().filter(under_way).cloned().collect();
        for id in &taken {
            self.processed.set(id, Stage::Taken);
            self.ahead.remove(id);
        }
        if taken.is_empty() { Vec::new() } else { self.flushed(vec![Effect::Acknowledge(taken)]) }
    }

    /// The harness did not take these: they count as never seen, and only the server brings them back.
    pub fn refused(&mut self, message_ids: &[String]) -> Vec<Effect> {
        let under_way = |id: &&String| self.processed.stage(id) == Some(Stage::HandedOver);
        let refused: Vec<String> = message_ids.iter().filter(under_way).cloned().collect();
        for id in &refused {
            self.processed.remove(id);
            self.ahead.remove(id);
        }
        if let Turn::Expected(first) = &self.turn
            && message_ids.contains(first)
        {
            self.turn = Turn::Rest;
        }
        refused.iter().map(|_| Effect::Count(Reason::Refused)).collect()
    }

    /// True if the message was handed over or taken in this session.
    pub fn was_handed_over(&self, message_id: &str) -> bool {
        matches!(self.processed.stage(message_id), Some(Stage::HandedOver | Stage::Taken))
    }

    /// True if the message was handed over and the harness has not said what became of it.
    pub(crate) fn is_under_way(&self, message_id: &str) -> bool {
        self.processed.stage(message_id) == Some(Stage::HandedOver)
    }

    /// The message was taken without these lanes.
    pub(crate) fn taken_elsewhere(&mut self, message_id: &str) -> Effect {
        self.processed.set(message_id, Stage::Taken);
        Effect::Acknowledge(vec![message_id.to_owned()])
    }

    /// Messages that wait for the end of a turn.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    fn enqueue(&mut self, handed: Handed) -> Vec<Effect> {
        self.processed.set(&handed.delivery.message.id, Stage::Queued);
        self.queue.push_back(Queued { cost: prompt::cost(&handed), handed });
        self.flushed(Vec::new())
    }

    fn steer(&mut self, handed: Handed) -> Effect {
        self.processed.set(&handed.delivery.message.id, Stage::HandedOver);
        if !self.at_rest() {
            return Effect::Interrupt(Box::new(handed));
        }
        self.expect_turn(&handed.delivery.message.id);
        Effect::Inject { batch: vec![handed], waiting: self.queue.len() }
    }

    fn at_rest(&self) -> bool {
        self.turn == Turn::Rest && !self.streaming
    }

    fn expect_turn(&mut self, first: &str) {
        if self.turns == Turns::Driven {
            self.turn = Turn::Expected(first.to_owned());
        }
    }

    /// Adds the next batch to `effects` if the harness rests and something waits.
    fn flushed(&mut self, mut effects: Vec<Effect>) -> Vec<Effect> {
        if self.at_rest() && self.ahead.is_empty() && !self.queue.is_empty() {
            let batch = self.next_batch();
            for handed in &batch {
                self.processed.set(&handed.delivery.message.id, Stage::HandedOver);
            }
            if let Some(first) = batch.first() {
                self.expect_turn(&first.delivery.message.id.clone());
            }
            if self.turns == Turns::Reported && !self.queue.is_empty() {
                self.ahead = batch.iter().map(|handed| handed.delivery.message.id.clone()).collect();
            }
            effects.push(Effect::Inject { batch, waiting: self.queue.len() });
        }
        effects
    }

    /// The oldest messages that fit a prompt; one that fits none goes alone.
    fn next_batch(&mut self) -> Vec<Handed> {
        let mut batch = Vec::new();
        let mut bytes = prompt::FRAME_BYTES;
        while let Some(next) = self.queue.front() {
            bytes += next.cost;
            if batch.len() == BATCH_MESSAGES || (bytes > BATCH_BYTES && !batch.is_empty()) {
                break;
            }
            batch.extend(self.queue.pop_front().map(|queued| queued.handed));
        }
        batch
    }
}
