//! Control of one life of an agent's program: numbered, retained until acknowledged, sent again after a takeover.
//!
//! A life is opened by the runner and retired by the runner. Whoever still holds a retired one finds it retired;
//! nothing an agent does opens one or keeps one alive.

use std::collections::{BTreeMap, BTreeSet};

/// How much unacknowledged control one life may hold.
pub const RETAINED: usize = 4096;

/// What an operation is to the barrier and to the cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Waits behind the barrier and counts towards the cap.
    Live,
    /// Says that the replay is over: passes the barrier and is exempt from the cap.
    ReplayComplete,
}

/// Why control was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The life is over, or there never was one.
    #[error("no session of that id runs here")]
    Retired,
    /// Too much is unacknowledged. No number was used.
    #[error("{RETAINED} operations wait to be acknowledged, the most there may be")]
    Full,
    /// Nobody is subscribed, and the operation would be stale later.
    #[error("no agent is connected")]
    NoAgent,
}

/// One subscription among those that displaced each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subscription(u64);

/// What a subscriber does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next<T> {
    /// Send this, with this number.
    Send(u64, T),
    /// Wait until something changes.
    Wait,
    /// Another subscription took over; send nothing more.
    Displaced,
    /// The life is over.
    Retired,
}

/// The control of one life.
#[derive(Debug)]
pub struct Retention<T> {
    retained: BTreeMap<u64, T>,
    /// Those of `retained` that pass the barrier.
    passing: BTreeSet<u64>,
    issued: u64,
    acked: u64,
    subscription: u64,
    subscribed: bool,
    /// The last live number the current subscription was given.
    live_sent: u64,
    /// The last passing number the current subscription was given.
    passing_sent: u64,
    held: bool,
    retired: bool,
}

impl<T> Default for Retention<T> {
    fn default() -> Self {
        Self {
            retained: BTreeMap::new(),
            passing: BTreeSet::new(),
            issued: 0,
            acked: 0,
            subscription: 0,
            subscribed: false,
            live_sent: 0,
            passing_sent: 0,
            held: true,
            retired: false,
        }
    }
}

impl<T: Clone> Retention<T> {
    /// Opens a life. Its barrier is down: live operations wait for [`Retention::release`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes an operation and gives its number: 1 for the first, then one more each.
    ///
    /// # Errors
    ///
    /// [`SendError::Retired`] after the end; [`SendError::Full`] at the cap, which no number is used for.
    pub fn send(&mut self, op: T, operation: Operation) -> Result<u64, SendError> {
        if self.retired {
            return Err(SendError::Retired);
        }
        if operation == Operation::Live && self.retained.len() >= RETAINED {
            return Err(SendError::Full);
        }
        self.issued += 1;
        self.retained.insert(self.issued, op);
        if operation == Operation::ReplayComplete {
            self.passing.insert(self.issued);
        }
        Ok(self.issued)
    }

    /// Takes an operation only while somebody is subscribed.
    ///
    /// # Errors
    ///
    /// Those of [`Retention::send`], and [`SendError::NoAgent`].
    pub fn send_if_live(&mut self, op: T) -> Result<u64, SendError> {
        if !self.retired && !self.subscribed {
            return Err(SendError::NoAgent);
        }
        self.send(op, Operation::Live)
    }

    /// Takes over: everything unacknowledged is sent again, to this subscription alone. `None` after the end.
    pub fn subscribe(&mut self) -> Option<Subscription> {
        if self.retired {
            return None;
        }
        self.subscription += 1;
        self.subscribed = true;
        (self.live_sent, self.passing_sent) = (self.acked, self.acked);
        Some(Subscription(self.subscription))
    }

    /// Ends a subscription; one that was displaced ends nothing.
    pub fn unsubscribe(&mut self, subscription: Subscription) {
        if subscription.0 == self.subscription {
            self.subscribed = false;
        }
    }

    /// What a subscription sends next: in the order of the numbers, except that a passing operation overtakes
    /// live ones which the barrier holds.
    pub fn next(&mut self, subscription: Subscription) -> Next<T> {
        if self.retired {
            return Next::Retired;
        }
        if subscription.0 != self.subscription {
            return Next::Displaced;
        }
        let passing = self.passing.range(self.passing_sent + 1..).next().copied();
        let live = if self.held { None } else { self.next_live() };
        let seq = match (passing, live) {
            (None, None) => return Next::Wait,
            (Some(passing), Some(live)) => passing.min(live),
            (Some(seq), None) | (None, Some(seq)) => seq,
        };
        if passing == Some(seq) {
            self.passing_sent = seq;
        } else {
            self.live_sent = seq;
        }
        match self.retained.get(&seq) {
            Some(op) => Next::Send(seq, op.clone()),
            None => Next::Wait,
        }
    }

    fn next_live(&self) -> Option<u64> {
        let mut later = self.retained.range(self.live_sent + 1..).map(|(seq, _)| *seq);
        later.find(|seq| !self.passing.contains(seq))
    }

    /// Takes an acknowledgement: everything up to `acked`, and single numbers `above` it.
    ///
    /// An agent is not trusted: what was never issued is ignored, and nothing is remembered that is not retained.
    pub fn acknowledge(&mut self, acked: u64, above: &[u64]) {
        if self.retired {
            return;
        }
        self.acked = self.acked.max(acked.min(self.issued));
        self.retained = self.retained.split_off(&(self.acked + 1));
        self.passing = self.passing.split_off(&(self.acked + 1));
        for seq in above {
            self.retained.remove(seq);
            self.passing.remove(seq);
        }
    }

    /// Lifts the barrier. After the end it does nothing.
    pub fn release(&mut self) {
        self.held = false;
    }

    /// Ends the life and forgets what it held; a repeat changes nothing.
    pub fn retire(&mut self) {
        self.retired = true;
        self.subscribed = false;
        self.retained.clear();
        self.passing.clear();
    }

    /// True after the end.
    pub fn is_retired(&self) -> bool {
        self.retired
    }

    /// How many operations wait to be acknowledged.
    pub fn len(&self) -> usize {
        self.retained.len()
    }

    /// True if nothing waits to be acknowledged.
    pub fn is_empty(&self) -> bool {
        self.retained.is_empty()
    }
}

#[cfg(test)]
mod tests;
