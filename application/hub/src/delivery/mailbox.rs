//! What others leave for a session's sender task: hints, receipts and the state of its stream. Never waits.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use compass_domain::{ChannelId, MessageId, SessionId, delivery::Lane};
use tokio::{sync::Notify, time::Instant};

use super::window::Window;
use crate::{
    ports::{Labelled, PinPlace},
    timing::lock,
};

/// Hints that wait at the most; when there are more the sender reads the database instead.
const HINTS_MAX: usize = 256;

/// A message that became ready for the session.
#[derive(Debug, Clone)]
pub(crate) struct Hint {
    pub(crate) lane: Lane,
    pub(crate) message: Arc<Labelled>,
}

impl Hint {
    fn id(&self) -> MessageId {
        self.message.message.id()
    }
}

/// What the sender does next.
#[derive(Debug)]
pub(crate) enum Plan {
    /// Send these, in this order.
    Send(Vec<Hint>),
    /// Read what is owed.
    Read(ReadPlan),
    /// Read the boards of the session's channels, from a place on, and send what is there.
    Pins(PinPlan),
    /// Nothing until woken, or until then.
    Wait(Option<Instant>),
}

/// Which owed messages to read.
#[derive(Debug)]
pub(crate) struct ReadPlan {
    /// A sweep takes what is not routed yet.
    pub(crate) is_sweep: bool,
    /// The sweep of a start takes what waits for a person too.
    pub(crate) is_start: bool,
    /// In flight, and not to be sent again yet.
    pub(crate) skip: Vec<MessageId>,
    /// In flight, to be sent again if still owed.
    pub(crate) due: Vec<MessageId>,
    pub(crate) limit: u32,
}

/// Which pins to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PinPlan {
    pub(crate) after: Option<PinPlace>,
    pub(crate) limit: u32,
}

/// What a read left to do.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Leftover {
    pub(crate) delivers: bool,
    pub(crate) steers: bool,
}

impl Leftover {
    const ALL: Self = Self { delivers: true, steers: true };

    /// True if anything is left.
    pub(crate) fn any(self) -> bool {
        self.delivers || self.steers
    }
}

/// How far the sweep of pins came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PinSweep {
    /// Not begun.
    Due,
    /// It goes on after this place.
    After(PinPlace),
    /// Through.
    Done,
}

#[derive(Debug)]
struct State {
    hints: VecDeque<Hint>,
    /// What the database may hold beyond the window and the hints.
    behind: Leftover,
    /// True until the sweep is through.
    sweeping: bool,
    /// True until the first sweep of a program's life is through; a stream that comes back is no start.
    starting: bool,
    /// The sweep of pins, which follows the start sweep.
    pins: PinSweep,
    attached: bool,
    working: bool,
    window: Window,
    /// When to look for messages to send again.
    look_at: Option<Instant>,
    /// Nothing is tried before.
    pause: Option<Instant>,
}

/// The mailbox of one session that takes deliveries.
#[derive(Debug)]
pub(crate) struct Mailbox {
    pub(crate) session: SessionId,
    state: Mutex<State>,
    wake: Notify,
}

impl Mailbox {
    /// A mailbox whose session has not been swept. `starting` is false for a session that goes on.
    pub(crate) fn new(session: SessionId, starting: bool) -> Self {
        let state = State {
            hints: VecDeque::new(),
            behind: Leftover::ALL,
            sweeping: true,
            starting,
            pins: PinSweep::Due,
            attached: true,
            working: false,
            window: Window::new(),
            look_at: None,
            pause: None,
        };
        Self { session, state: Mutex::new(state), wake: Notify::new() }
    }

    /// Leaves a hint.
    pub(crate) fn hint(&self, hint: Hint) {
        let mut state = lock(&self.state);
        if state.hints.len() < HINTS_MAX {
            state.hints.push_back(hint);
        } else {
            state.behind = Leftover::ALL;
        }
        drop(state);
        self.wake.notify_one();
    }

    /// Makes the sender read what is owed.
    pub(crate) fn catch_up(&self) {
        lock(&self.state).behind = Leftover::ALL;
        self.wake.notify_one();
    }

    /// Drops the hints of a channel the account takes no part in any more.
    pub(crate) fn forget_channel(&self, channel: ChannelId) {
        lock(&self.state).hints.retain(|hint| hint.message.message.channel() != channel);
    }

    /// Notes receipts that are committed.
    pub(crate) fn acknowledged(&self, messages: &[MessageId]) {
        let mut state = lock(&self.state);
        for message in messages {
            state.window.acknowledged(*message);
        }
        let wake = state.wants_read() || state.pins != PinSweep::Done;
        drop(state);
        if wake {
            self.wake.notify_one();
        }
    }

    /// Notes whether the session is in a turn; delivers are not repeated meanwhile.
    pub(crate) fn set_working(&self, working: bool) {
        let mut state = lock(&self.state);
        if state.working != working {
            state.working = working;
            state.set_clocks();
            drop(state);
            self.wake.notify_one();
        }
    }

    /// Notes that another life of the session's program begins, which starts with a sweep.
    pub(crate) fn start_again(&self) {
        lock(&self.state).starting = true;
        self.set_attached(true);
    }

    /// True until the sweep of a start is through.
    pub(crate) fn is_starting(&self) -> bool {
        lock(&self.state).starting
    }

    /// Notes whether a stream leads to the session. A new stream starts with a sweep.
    pub(crate) fn set_attached(&self, attached: bool) {
        let mut state = lock(&self.state);
        state.attached = attached;
        if attached {
            state.window.clear_in_flight();
            state.sweeping = true;
            state.pins = PinSweep::Due;
        }
        state.behind = Leftover::ALL;
        state.pause = None;
        state.set_clocks();
        drop(state);
        self.wake.notify_one();
    }

    /// Waits until something was left since the last plan.
    pub(crate) async fn left(&self) {
        self.wake.notified().await;
    }

    /// Decides what to do now.
    pub(crate) fn plan(&self) -> Plan {
        let mut state = lock(&self.state);
        if !state.attached {
            state.hints.clear();
            return Plan::Wait(None);
        }
        let now = Instant::now();
        if let Some(until) = state.pause.filter(|until| *until > now) {
            return Plan::Wait(Some(until));
        }
        state.pause = None;
        let mut due = Vec::new();
        if state.look_at.is_some_and(|at| at <= now) {
            due = state.window.due();
            state.look_at = if due.is_empty() { state.window.next_due() } else { Some(now) };
        }
        if !due.is_empty() || state.wants_read() {
            return Plan::Read(state.plan_read(due));
        }
        if let Some(plan) = state.plan_pins() {
            return Plan::Pins(plan);
        }
        let hints = state.take_hints();
        if hints.is_empty() { Plan::Wait(state.look_at) } else { Plan::Send(hints) }
    }

    /// The hints that stand beside a complete page, so that they go out in the page's order.
    pub(crate) fn take_delivers(&self) -> Vec<Hint> {
        let mut state = lock(&self.state);
        let (taken, kept): (VecDeque<Hint>, VecDeque<Hint>) =
            state.hints.drain(..).partition(|hint| hint.lane == Lane::Deliver);
        state.hints = kept;
        taken.into()
    }

    /// Asks to send a message, and on which lane. Notes it as sent, because the receipt may be here before the
    /// dispatch returns.
    pub(crate) fn begin(&self, hint: &Hint, due: &[MessageId]) -> Result<Lane, Refused> {
        let mut state = lock(&self.state);
        let id = hint.id();
        let again = due.contains(&id).then(|| state.window.lane_of(id)).flatten();
        if again.is_none() {
            if state.window.knows(id) {
                return Err(Refused::Known);
            }
            if state.window.room(hint.lane) == 0 {
                return Err(Refused::Full);
            }
        }
        let lane = again.unwrap_or(hint.lane);
        let next = state.window.note_sent(id, lane);
        state.look_at = [state.look_at, next].into_iter().flatten().min();
        Ok(lane)
    }

    /// Asks to send a pin, which goes out whatever was acknowledged before, unless it is in flight.
    pub(crate) fn begin_pin(&self, hint: &Hint) -> Result<Lane, Refused> {
        let mut state = lock(&self.state);
        let id = hint.id();
        if state.window.lane_of(id).is_some() {
            return Err(Refused::Known);
        }
        if state.window.room(Lane::Deliver) == 0 {
            return Err(Refused::Full);
        }
        let next = state.window.note_sent(id, Lane::Deliver);
        state.look_at = [state.look_at, next].into_iter().flatten().min();
        Ok(Lane::Deliver)
    }

    /// The sweep of pins came so far; none if it is through.
    pub(crate) fn pinned(&self, next: Option<PinPlace>) {
        lock(&self.state).pins = next.map_or(PinSweep::Done, PinSweep::After);
    }

    /// The boards could not be read: the sweep of pins goes on after `pause`.
    pub(crate) fn repeat_pins(&self, pause: Duration) {
        lock(&self.state).pause = Some(Instant::now() + pause);
    }

    /// A dispatch failed: the message is not in flight, and nothing is tried for `pause`.
    pub(crate) fn failed(&self, message: MessageId, pause: Duration) {
        let mut state = lock(&self.state);
        state.window.forget(message);
        state.behind = Leftover::ALL;
        state.pause = Some(Instant::now() + pause);
    }

    /// A read failed: it is repeated after `pause`.
    pub(crate) fn repeat_read(&self, pause: Duration) {
        let mut state = lock(&self.state);
        state.behind = Leftover::ALL;
        state.pause = Some(Instant::now() + pause);
    }

    /// What a read, or a sending of hints, could not send stays for the next read.
    pub(crate) fn leave(&self, left: Leftover) {
        let mut state = lock(&self.state);
        state.behind.delivers |= left.delivers;
        state.behind.steers |= left.steers;
    }

    /// A read brought nothing that could be sent: what it left is read again when there is room, after `pause`.
    pub(crate) fn leave_all(&self, left: Leftover, pause: Duration) {
        self.leave(left);
        let mut state = lock(&self.state);
        if state.wants_read() {
            state.pause = Some(Instant::now() + pause);
        }
    }

    /// A read brought everything that was owed.
    pub(crate) fn swept(&self) {
        let mut state = lock(&self.state);
        (state.sweeping, state.starting) = (false, false);
    }

    /// Messages that were due and were not in the page: not owed any more, or behind its end.
    pub(crate) fn settle_due(&self, missing: &[MessageId], complete: bool, later: Duration) {
        let mut state = lock(&self.state);
        for message in missing {
            if complete {
                state.window.forget(*message);
            } else {
                state.window.postpone(*message, later);
            }
        }
    }
}

/// Why a message is not sent now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It is in flight, or was acknowledged.
    Known,
    /// Its lane's window is full.
    Full,
}

impl State {
    fn wants_read(&self) -> bool {
        (self.behind.delivers && self.window.is_roomy(Lane::Deliver))
            || (self.behind.steers && self.window.is_roomy(Lane::Steer))
    }

    fn plan_pins(&self) -> Option<PinPlan> {
        if self.sweeping || !self.window.is_roomy(Lane::Deliver) {
            return None;
        }
        let after = match self.pins {
            PinSweep::Due => None,
            PinSweep::After(place) => Some(place),
            PinSweep::Done => return None,
        };
        Some(PinPlan { after, limit: u32::try_from(self.window.room(Lane::Deliver)).unwrap_or(u32::MAX) })
    }

    fn plan_read(&mut self, due: Vec<MessageId>) -> ReadPlan {
        self.behind = Leftover::default();
        let room = self.window.room(Lane::Deliver) + self.window.room(Lane::Steer) + due.len();
        ReadPlan {
            is_sweep: self.sweeping,
            is_start: self.sweeping && self.starting,
            skip: self.window.in_flight_except(&due),
            due,
            limit: u32::try_from(room.max(1)).unwrap_or(u32::MAX),
        }
    }

    /// Steers first. While delivers are behind or pins are swept, the hinted ones wait, so that none overtakes; a
    /// sweep that waits for room holds up no steer.
    fn take_hints(&mut self) -> Vec<Hint> {
        let (mut steers, mut delivers, mut kept) = (Vec::new(), Vec::new(), VecDeque::new());
        for hint in self.hints.drain(..) {
            let room = self.window.room(hint.lane);
            let (taken, behind) = match hint.lane {
                Lane::Steer => (&mut steers, &mut self.behind.steers),
                Lane::Deliver => (&mut delivers, &mut self.behind.delivers),
            };
            if self.window.knows(hint.id()) {
                continue;
            }
            if hint.lane == Lane::Deliver && self.pins != PinSweep::Done {
                kept.push_back(hint);
            } else if !*behind && taken.len() < room {
                taken.push(hint);
            } else {
                *behind = true;
                kept.push_back(hint);
            }
        }
        self.hints = kept;
        steers.append(&mut delivers);
        steers
    }

    fn set_clocks(&mut self) {
        self.window.set_running(self.attached && !self.working, self.attached);
        self.look_at = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use compass_domain::{
        AccountId, Actor, NewMessage, Seq, TopicId, UnixMillis,
        account::ActorKind,
        message::{Content, DraftBlock, Placement},
    };

    use super::*;
    use crate::ports::Labels;

    fn hint(seq: usize) -> Hint {
        let seq = Seq(u64::try_from(seq).unwrap());
        let content = Content::compose(vec![DraftBlock::Text("text".into())], || unreachable!("no ask"));
        let placement = Placement {
            id: MessageId::from_bytes(u128::from(seq.0).to_be_bytes()),
            channel: ChannelId::from_bytes([1; 16]),
            topic: TopicId::from_bytes([2; 16]),
            seq,
            at: UnixMillis(1),
            run: 0,
        };
        let owner = AccountId::from_bytes([5; 16]);
        let author = Actor { id: AccountId::from_bytes([3; 16]), kind: ActorKind::Agent { owner } };
        let posted = NewMessage::post(author, &content.unwrap(), placement, None);
        let labels = Labels::default();
        let message = Arc::new(Labelled { message: Arc::clone(posted.message()), labels });
        Hint { lane: Lane::Deliver, message }
    }

    /// The mailbox of a session that is swept and waits for hints.
    fn idle() -> Mailbox {
        let mailbox = Mailbox::new(SessionId::from_bytes([4; 16]), false);
        assert!(matches!(mailbox.plan(), Plan::Read(ReadPlan { is_sweep: true, .. })));
        mailbox.swept();
        mailbox.pinned(None);
        assert!(matches!(mailbox.plan(), Plan::Wait(None)));
        mailbox
    }

    #[tokio::test]
    async fn as_many_hints_as_a_mailbox_holds_are_sent_and_one_more_makes_the_sender_read() {
        for more in [0, 1] {
            let mailbox = idle();
            for seq in 1..=HINTS_MAX + more {
                mailbox.hint(hint(seq));
            }
            match (more, mailbox.plan()) {
                (0, Plan::Send(hints)) => assert_eq!(hints.len(), HINTS_MAX),
                (1, Plan::Read(plan)) => assert!(!plan.is_sweep),
                (_, other) => panic!("{more} more: {other:?}"),
            }
        }
    }
}
