//! What a session was sent and has not acknowledged, and when it is sent again.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::Duration,
};

use compass_domain::{MessageId, delivery::Lane};
use tokio::time::Instant;

/// Unacknowledged delivers of one session at the most.
pub(crate) const DELIVERS_MAX: usize = 256;
/// Unacknowledged steers of one session at the most.
pub(crate) const STEERS_MAX: usize = 64;
/// After this long without an acknowledgement a message is sent again; each time twice as long.
pub(crate) const RESEND_AFTER: Duration = Duration::from_secs(30);
/// The longest pause between two sendings.
pub(crate) const RESEND_MAX: Duration = Duration::from_mins(10);
const RECENT_MAX: usize = 1024;

/// Time that passes only while it is allowed to.
#[derive(Debug)]
struct Stopwatch {
    passed: Duration,
    since: Option<Instant>,
}

impl Stopwatch {
    fn running() -> Self {
        Self { passed: Duration::ZERO, since: Some(Instant::now()) }
    }

    fn set_running(&mut self, running: bool) {
        match (running, self.since) {
            (true, None) => self.since = Some(Instant::now()),
            (false, Some(since)) => {
                self.passed += since.elapsed();
                self.since = None;
            }
            _ => {}
        }
    }

    fn now(&self) -> Duration {
        self.passed + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// When it will show `at`; none while it stands still.
    fn when(&self, at: Duration) -> Option<Instant> {
        self.since.map(|since| since + at.saturating_sub(self.passed))
    }
}

#[derive(Debug)]
struct Sent {
    lane: Lane,
    times: u32,
    /// On its lane's stopwatch.
    due: Duration,
}

/// Messages in flight, with one stopwatch for each lane.
#[derive(Debug)]
pub(crate) struct Window {
    sent: HashMap<MessageId, Sent>,
    steers: usize,
    recent: HashSet<MessageId>,
    recent_order: VecDeque<MessageId>,
    deliver_clock: Stopwatch,
    steer_clock: Stopwatch,
}

impl Window {
    pub(crate) fn new() -> Self {
        Self {
            sent: HashMap::new(),
            steers: 0,
            recent: HashSet::new(),
            recent_order: VecDeque::new(),
            deliver_clock: Stopwatch::running(),
            steer_clock: Stopwatch::running(),
        }
    }

    /// True if a message is in flight or was acknowledged lately.
    pub(crate) fn knows(&self, message: MessageId) -> bool {
        self.sent.contains_key(&message) || self.recent.contains(&message)
    }

    /// The lane of a message that is in flight.
    pub(crate) fn lane_of(&self, message: MessageId) -> Option<Lane> {
        self.sent.get(&message).map(|sent| sent.lane)
    }

    /// How many more may be sent on a lane.
    pub(crate) fn room(&self, lane: Lane) -> usize {
        match lane {
            Lane::Deliver => DELIVERS_MAX.saturating_sub(self.sent.len() - self.steers),
            Lane::Steer => STEERS_MAX.saturating_sub(self.steers),
        }
    }

    /// True if so much of a lane's window is free that reading more is worth it.
    pub(crate) fn is_roomy(&self, lane: Lane) -> bool {
        match lane {
            Lane::Deliver => self.room(lane) >= DELIVERS_MAX / 2,
            Lane::Steer => self.room(lane) >= STEERS_MAX / 2,
        }
    }

    /// Notes a sending, the first or a later one; tells when the next is due, none while its clock stands still.
    pub(crate) fn note_sent(&mut self, message: MessageId, lane: Lane) -> Option<Instant> {
        let now = self.clock(lane).now();
        let before = self.sent.remove(&message);
        if before.as_ref().is_some_and(|sent| sent.lane == Lane::Steer) {
            self.steers -= 1;
        }
        let times = before.map_or(0, |sent| sent.times + 1);
        let pause = RESEND_AFTER.saturating_mul(1 << times.min(8)).min(RESEND_MAX);
        let due = now + pause.mul_f64(spread_of(message));
        self.sent.insert(message, Sent { lane, times, due });
        if lane == Lane::Steer {
            self.steers += 1;
        }
        self.clock(lane).when(due)
    }

    /// Forgets a message in flight; it is not owed any more.
    pub(crate) fn forget(&mut self, message: MessageId) {
        if self.sent.remove(&message).is_some_and(|sent| sent.lane == Lane::Steer) {
            self.steers -= 1;
        }
    }

    /// Looks again at a message a little later.
    pub(crate) fn postpone(&mut self, message: MessageId, by: Duration) {
        if let Some(lane) = self.lane_of(message) {
            let due = self.clock(lane).now() + by;
            if let Some(sent) = self.sent.get_mut(&message) {
                sent.due = due;
            }
        }
    }

    /// Notes an acknowledgement.
    pub(crate) fn acknowledged(&mut self, message: MessageId) {
        self.forget(message);
        if self.recent.insert(message) {
            self.recent_order.push_back(message);
        }
        while self.recent_order.len() > RECENT_MAX {
            if let Some(oldest) = self.recent_order.pop_front() {
                self.recent.remove(&oldest);
            }
        }
    }

    /// Everything in flight may be lost.
    pub(crate) fn clear_in_flight(&mut self) {
        self.sent.clear();
        self.steers = 0;
    }

    /// Lets the lanes' time pass or stand still.
    pub(crate) fn set_running(&mut self, delivers: bool, steers: bool) {
        self.deliver_clock.set_running(delivers);
        self.steer_clock.set_running(steers);
    }

    /// What is due to be sent again.
    pub(crate) fn due(&self) -> Vec<MessageId> {
        let now = Instant::now();
        let is_due = |sent: &Sent| self.clock(sent.lane).when(sent.due).is_some_and(|when| when <= now);
        self.sent.iter().filter(|(_, sent)| is_due(sent)).map(|(message, _)| *message).collect()
    }

    /// When something is due next; none while nothing can become due.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.sent.values().filter_map(|sent| self.clock(sent.lane).when(sent.due)).min()
    }

    /// What is in flight and not in `due`.
    pub(crate) fn in_flight_except(&self, due: &[MessageId]) -> Vec<MessageId> {
        self.sent.keys().copied().filter(|message| !due.contains(message)).collect()
    }

    fn clock(&self, lane: Lane) -> &Stopwatch {
        match lane {
            Lane::Deliver => &self.deliver_clock,
            Lane::Steer => &self.steer_clock,
        }
    }
}

/// Between 0.9 and 1.1, so that messages of one instant are not sent again in one instant.
fn spread_of(message: MessageId) -> f64 {
    let [.., random] = *message.as_bytes();
    0.9 + f64::from(random) / f64::from(u8::MAX) * 0.2
}
