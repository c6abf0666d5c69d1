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
mod tests {
    use super::*;

    /// A life whose barrier is lifted and that sent nothing yet.
    fn open() -> Retention<u64> {
        let mut life = Retention::new();
        life.release();
        life
    }

    fn live(life: &mut Retention<u64>, ops: std::ops::RangeInclusive<u64>) {
        for op in ops {
            assert_eq!(life.send(op, Operation::Live), Ok(op));
        }
    }

    fn drain(life: &mut Retention<u64>, subscription: Subscription) -> Vec<u64> {
        let mut seqs = Vec::new();
        while let Next::Send(seq, _) = life.next(subscription) {
            seqs.push(seq);
        }
        seqs
    }

    #[test]
    fn b13_numbers_are_1_2_3_and_leave_in_the_order_they_came() {
        let mut life = open();
        live(&mut life, 1..=3);
        assert_eq!(life.len(), 3, "retained without a subscriber");
        let subscription = life.subscribe().unwrap();
        for seq in 1..=3 {
            assert_eq!(life.next(subscription), Next::Send(seq, seq));
        }
        assert_eq!(life.next(subscription), Next::Wait);
        assert_eq!(life.send(4, Operation::Live), Ok(4));
        assert_eq!(life.next(subscription), Next::Send(4, 4));
    }

    #[test]
    fn b15_a_full_life_refuses_without_using_a_number_and_takes_replay_complete() {
        let mut life = open();
        live(&mut life, 1..=RETAINED as u64);
        assert_eq!(life.send(0, Operation::Live), Err(SendError::Full));
        assert_eq!(life.send(0, Operation::Live), Err(SendError::Full));
        assert_eq!(life.send(0, Operation::ReplayComplete), Ok(RETAINED as u64 + 1));
        life.acknowledge(2, &[]);
        assert_eq!(life.send(0, Operation::Live), Ok(RETAINED as u64 + 2));
    }

    #[test]
    fn b17_a_takeover_sends_everything_unacknowledged_again_and_the_old_one_stops() {
        let mut life = open();
        live(&mut life, 1..=4);
        let first = life.subscribe().unwrap();
        assert_eq!(drain(&mut life, first), [1, 2, 3, 4]);
        life.acknowledge(1, &[3]);
        let second = life.subscribe().unwrap();
        assert_eq!(life.next(first), Next::Displaced);
        assert_eq!(drain(&mut life, second), [2, 4]);
        assert_eq!(life.next(first), Next::Displaced);
    }

    #[test]
    fn b17_a_displaced_subscription_takes_nothing_from_the_new_one() {
        let mut life = open();
        let stale = [life.subscribe().unwrap(), life.subscribe().unwrap()];
        let current = life.subscribe().unwrap();
        live(&mut life, 1..=1);
        assert!(stale.iter().all(|stale| life.next(*stale) == Next::Displaced));
        for stale in stale {
            life.unsubscribe(stale);
        }
        assert_eq!(life.next(current), Next::Send(1, 1));
        assert_eq!(life.send_if_live(2), Ok(2), "the current one is still there");
    }

    #[test]
    fn b18_an_acknowledgement_beyond_what_was_sent_does_not_wedge() {
        let mut life = open();
        live(&mut life, 1..=2);
        let subscription = life.subscribe().unwrap();
        life.acknowledge(u64::MAX, &[]);
        assert!(life.is_empty());
        assert_eq!(life.send(3, Operation::Live), Ok(3));
        assert_eq!(life.next(subscription), Next::Send(3, 3));
    }

    #[test]
    fn b18_a_jump_drops_what_it_passed_and_the_cursor_never_moves_back() {
        let mut life = open();
        live(&mut life, 1..=5);
        life.acknowledge(4, &[]);
        life.acknowledge(2, &[]);
        let subscription = life.subscribe().unwrap();
        assert_eq!(drain(&mut life, subscription), [5]);
    }

    #[test]
    fn b18_numbers_above_count_only_if_they_are_retained() {
        let mut life = open();
        live(&mut life, 1..=3);
        life.acknowledge(0, &[2, 3, 900, u64::MAX]);
        assert_eq!(life.len(), 1);
        // 900 was not kept as "acknowledged in advance".
        live(&mut life, 4..=900);
        let subscription = life.subscribe().unwrap();
        assert_eq!(drain(&mut life, subscription).last(), Some(&900));
    }

    #[test]
    fn b18_an_empty_acknowledgement_changes_nothing() {
        let mut life = open();
        live(&mut life, 1..=2);
        life.acknowledge(0, &[]);
        assert_eq!(life.len(), 2);
    }

    #[test]
    fn b18_after_the_end_nothing_comes_back() {
        let mut life = open();
        live(&mut life, 1..=2);
        let subscription = life.subscribe().unwrap();
        life.retire();
        life.retire();
        assert_eq!(life.next(subscription), Next::Retired);
        life.acknowledge(1, &[2]);
        assert_eq!(life.subscribe(), None);
        assert_eq!(life.send(3, Operation::Live), Err(SendError::Retired));
        assert_eq!(life.send_if_live(3), Err(SendError::Retired));
        assert_eq!(life.send(3, Operation::ReplayComplete), Err(SendError::Retired));
        assert!(life.is_empty() && life.is_retired());
    }

    #[test]
    fn b19_the_barrier_holds_live_operations_and_lets_replay_complete_pass() {
        let mut life: Retention<u64> = Retention::new();
        let subscription = life.subscribe().unwrap();
        live(&mut life, 1..=2);
        assert_eq!(life.next(subscription), Next::Wait);
        assert_eq!(life.send(3, Operation::ReplayComplete), Ok(3));
        assert_eq!(life.next(subscription), Next::Send(3, 3));
        assert_eq!(life.next(subscription), Next::Wait);
        life.release();
        assert_eq!(drain(&mut life, subscription), [1, 2]);
        assert_eq!(life.send(4, Operation::Live), Ok(4), "numbers go on");
    }

    #[test]
    fn b19_an_unacknowledged_replay_complete_is_sent_again_in_its_place() {
        let mut life: Retention<u64> = Retention::new();
        assert_eq!(life.send(1, Operation::ReplayComplete), Ok(1));
        live(&mut life, 2..=3);
        life.release();
        for _ in 0..2 {
            let subscription = life.subscribe().unwrap();
            assert_eq!(drain(&mut life, subscription), [1, 2, 3]);
        }
    }

    #[test]
    fn b19_a_release_after_the_end_resurrects_nothing() {
        let mut life: Retention<u64> = Retention::new();
        live(&mut life, 1..=1);
        life.retire();
        life.release();
        assert_eq!((life.subscribe(), life.len()), (None, 0));
    }

    /// An agent that takes what it is given, loses its stream now and then, and acknowledges as agents do.
    #[test]
    fn whatever_breaks_every_operation_arrives_and_nothing_is_kept_that_was_acknowledged() {
        for seed in 1..=200u64 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut random = |below: u64| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state % below
            };
            let mut life: Retention<u64> = Retention::new();
            life.send(0, Operation::ReplayComplete).unwrap();
            let (mut sent, mut last, mut applied) = (1u64, 0u64, BTreeSet::<u64>::new());
            let mut subscription = life.subscribe().unwrap();
            while sent < 120 || applied.len() < 120 {
                match random(10) {
                    0..=3 if sent < 120 => {
                        sent += 1;
                        assert_eq!(life.send(sent, Operation::Live), Ok(sent), "seed {seed}");
                    }
                    4 => (subscription, last) = (life.subscribe().unwrap(), 0),
                    5 => {
                        let acked = (1..=sent).take_while(|seq| applied.contains(seq)).last().unwrap_or(0);
                        // Not all that lies above is named every time.
                        let above: Vec<u64> =
                            applied.range(acked + 1..).copied().filter(|_| random(2) == 0).collect();
                        life.acknowledge(acked, &above);
                        assert!(life.len() as u64 <= sent - acked - above.len() as u64, "seed {seed}");
                    }
                    _ => {
                        if let Next::Send(seq, op) = life.next(subscription) {
                            assert!(seq > last && seq <= sent, "seed {seed}: {seq} after {last}");
                            assert!(op == seq || seq == 1, "seed {seed}");
                            last = seq;
                            // A frame that was on its way when the stream broke.
                            if random(8) == 0 {
                                (subscription, last) = (life.subscribe().unwrap(), 0);
                            } else {
                                applied.insert(seq);
                                if seq == 1 {
                                    life.release();
                                }
                            }
                        }
                    }
                }
            }
            life.acknowledge(sent, &[]);
            assert!(life.is_empty(), "seed {seed}");
        }
    }

    #[test]
    fn b20_what_would_be_stale_later_needs_a_subscriber() {
        let mut life = open();
        assert_eq!(life.send_if_live(1), Err(SendError::NoAgent));
        let subscription = life.subscribe().unwrap();
        assert_eq!(life.send_if_live(1), Ok(1));
        assert_eq!(life.len(), 1, "retained while live");
        life.unsubscribe(subscription);
        assert_eq!(life.send_if_live(2), Err(SendError::NoAgent));
    }
}
