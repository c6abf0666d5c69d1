//! What becomes of an operation of the stream, before any time or I/O.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
};

use super::cursor::AckCursor;
use crate::{
    ports::{Control, ControlOp, Frame},
    seen::Delivery,
};

/// What is counted at the intake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counted {
    /// A number below 1: it was dropped and not acknowledged.
    BadSeq,
    /// An operation that came again.
    Duplicate,
    /// Live control before the replay was complete; the server delivers its message again.
    BeforeBarrier,
    /// A message operation without a message.
    Empty,
    /// An operation of a kind this version does not know.
    Unknown,
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadSeq => "without a number",
            Self::Duplicate => "repeated",
            Self::BeforeBarrier => "before the replay was complete",
            Self::Empty => "without a message",
            Self::Unknown => "of an unknown kind",
        })
    }
}

/// An operation for the one consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Op {
    Prompt(String),
    ReplayComplete,
}

/// What to do with what came in, in this order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) deliveries: Vec<Delivery>,
    pub(super) queued: Option<(u64, Op)>,
    pub(super) frames: Vec<Frame>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Barrier {
    /// Live control is refused.
    #[default]
    Up,
    /// The end of the replay is here and not applied: live control waits.
    Passing,
    /// Live control passes.
    Down,
}

/// The intake of one process.
#[derive(Debug, Default)]
pub(super) struct Intake {
    cursor: AckCursor,
    barrier: Barrier,
    /// Queued and not applied.
    queued: HashSet<u64>,
    held: Vec<(u64, Box<Delivery>)>,
    counts: BTreeMap<Counted, u64>,
    progress: bool,
    replay_complete: HashSet<u64>,
}

impl Intake {
    /// Takes an operation in.
    pub(super) fn take(&mut self, op: ControlOp) -> Taken {
        let ControlOp { seq, control } = op;
        if seq < 1 {
            self.count(Counted::BadSeq);
            return Taken::default();
        }
        self.cursor.see(seq);
        if self.cursor.is_applied(seq) {
            self.count(Counted::Duplicate);
            return Taken { frames: vec![self.cursor.frame()], ..Taken::default() };
        }
        if self.queued.contains(&seq) || self.held.iter().any(|(held, _)| *held == seq) {
            self.count(Counted::Duplicate);
            return Taken::default();
        }
        match (control, self.barrier) {
            (Control::ReplayComplete, barrier) => {
                if barrier == Barrier::Up {
                    self.barrier = Barrier::Passing;
                }
                self.replay_complete.insert(seq);
                self.queue(seq, Op::ReplayComplete)
            }
            (Control::Prompt(_) | Control::Message(_), Barrier::Up) => {
                self.refuse(seq, Counted::BeforeBarrier)
            }
            (Control::Prompt(input), _) => self.queue(seq, Op::Prompt(input)),
            (Control::Message(delivery), Barrier::Passing) => {
                self.held.push((seq, delivery));
                Taken::default()
            }
            (Control::Message(delivery), Barrier::Down) => {
                self.apply(seq);
                Taken { deliveries: vec![*delivery], frames: vec![self.cursor.frame()], queued: None }
            }
            (Control::Empty, _) => self.refuse(seq, Counted::Empty),
            (Control::Unknown, _) => self.refuse(seq, Counted::Unknown),
        }
    }

    /// The consumer applied what was queued under a number.
    pub(super) fn applied(&mut self, seq: u64) -> Taken {
        if !self.queued.remove(&seq) {
            return Taken::default();
        }
        self.apply(seq);
        let mut taken = Taken::default();
        if self.replay_complete.remove(&seq) {
            self.barrier = Barrier::Down;
            taken.frames.push(Frame::ReplayCompleteAck);
            taken.frames.push(self.cursor.frame());
            if !self.held.is_empty() {
                for (seq, delivery) in std::mem::take(&mut self.held) {
                    self.apply(seq);
                    taken.deliveries.push(*delivery);
                }
                taken.frames.push(self.cursor.frame());
            }
        } else {
            taken.frames.push(self.cursor.frame());
        }
        taken
    }

    /// True once for every stretch in which something was applied, and while something is being applied.
    pub(super) fn progressed(&mut self) -> bool {
        std::mem::take(&mut self.progress) || !self.queued.is_empty()
    }

    /// True if live control passes.
    pub(super) fn is_live(&self) -> bool {
        self.barrier == Barrier::Down
    }

    pub(super) fn counts(&self) -> BTreeMap<Counted, u64> {
        self.counts.clone()
    }

    fn queue(&mut self, seq: u64, op: Op) -> Taken {
        self.queued.insert(seq);
        Taken { queued: Some((seq, op)), ..Taken::default() }
    }

    fn refuse(&mut self, seq: u64, reason: Counted) -> Taken {
        self.count(reason);
        self.apply(seq);
        Taken { frames: vec![self.cursor.frame()], ..Taken::default() }
    }

    fn apply(&mut self, seq: u64) {
        self.cursor.apply(seq);
        self.progress = true;
    }

    fn count(&mut self, reason: Counted) {
        *self.counts.entry(reason).or_default() += 1;
    }
}
