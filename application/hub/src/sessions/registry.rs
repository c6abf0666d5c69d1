//! The sessions that are live on this node, and the messages held until their authors settle.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::Duration,
};

use compass_domain::{AccountId, LifecycleState, MessageId, SessionId, TenantId};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::RunnerKey;
use crate::{delivery::Mailbox, ports::AttachMode, timing::lock};

/// A held message goes out after this long at the latest.
pub(crate) const HOLD: Duration = Duration::from_mins(10);
/// Messages held for one author; more stay unrouted until the catch-up takes them.
const HELD_MAX: usize = 1024;

/// An account, whose rows it stands in first.
pub(crate) type Who = (TenantId, AccountId);

/// One live session.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) tenant: TenantId,
    pub(crate) account: AccountId,
    pub(crate) runner: RunnerKey,
    pub(crate) mode: AttachMode,
    /// Hints for its sender task; none for a session that is not delivered to.
    pub(crate) mailbox: Option<Arc<Mailbox>>,
    /// Ends its sender task.
    pub(crate) closed: CancellationToken,
    /// True once somebody asked for its end; shared by all copies.
    pub(crate) is_unwanted: Arc<AtomicBool>,
    /// True once its runner said that it ended without a failure; shared by all copies.
    pub(crate) has_stopped: Arc<AtomicBool>,
    /// Number of the last state report.
    number: u64,
    /// True from WORKING until a state that ends the turn.
    in_turn: bool,
    /// Since when no stream leads to it.
    detached: Option<Instant>,
    /// True once its runner reported a state since it was bound.
    heard: bool,
    /// True while its runner says that its process is away.
    away: bool,
    /// False from an enrolment of its named runner until that runner says that it still runs.
    pub(crate) confirmed: bool,
}

/// Where a state comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The server itself: binding, and the end of a stream.
    Server,
    /// The session's runner.
    Runner,
    /// The session's runner, before the session was bound; later words have overtaken it.
    Early,
    /// The runner's answer to a question that was asked when the session had this number; later words have
    /// overtaken it.
    Answer(u64),
}

impl Session {
    pub(crate) fn new(
        id: SessionId,
        runner: RunnerKey,
        account: AccountId,
        mode: AttachMode,
        mailbox: Option<Arc<Mailbox>>,
        closed: CancellationToken,
    ) -> Self {
        let tenant = runner.tenant().clone();
        Self {
            id,
            tenant,
            account,
            runner,
            mode,
            mailbox,
            closed,
            is_unwanted: Arc::default(),
            has_stopped: Arc::default(),
            number: 0,
            in_turn: false,
            detached: None,
            heard: false,
            away: false,
            confirmed: true,
        }
    }

    /// False for a report that later ones have overtaken.
    fn takes(&self, source: Source) -> bool {
        match source {
            Source::Server | Source::Runner => true,
            Source::Early => !self.heard,
            Source::Answer(asked_at) => self.number == asked_at,
        }
    }

    /// Follows a report of the session's runner: a process that is away is sent nothing, and a new one everything
    /// again, because what was in flight to the one before may be lost.
    fn follow(&mut self, reported: LifecycleState) {
        let again = reported == LifecycleState::Starting && self.heard;
        let back = self.away && reported.is_live();
        self.heard = true;
        if reported == LifecycleState::Disconnected {
            self.away = true;
        } else if reported.is_live() {
            self.away = false;
        }
        let Some(mailbox) = &self.mailbox else { return };
        if self.away {
            mailbox.set_attached(false);
        } else if self.detached.is_none() {
            match (again, back) {
                (true, _) => mailbox.start_again(),
                (false, true) => mailbox.set_attached(true),
                (false, false) => {}
            }
        }
    }

    /// True while its runner says that its process is away.
    pub(crate) fn is_away(&self) -> bool {
        self.away
    }

    /// True while a stream leads to it.
    pub(crate) fn is_attached(&self) -> bool {
        self.detached.is_none()
    }

    fn who(&self) -> Who {
        (self.tenant.clone(), self.account)
    }
}

/// What became of a message that might have to wait for its author.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Its author is in a turn: it waits.
    Held,
    /// Its author has a live session here that is not in a turn.
    Ready,
    /// Its author has no live session here.
    Elsewhere,
}

#[derive(Debug, Default)]
struct Author {
    sessions: Vec<SessionId>,
    held: VecDeque<(MessageId, Instant)>,
}

#[derive(Debug, Default)]
struct State {
    sessions: HashMap<SessionId, Session>,
    accounts: HashMap<Who, Author>,
    /// When held messages run out, in order, because every hold is equally long.
    deadlines: VecDeque<(Instant, Who)>,
}

/// Live sessions behind one short lock.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    state: Mutex<State>,
}

impl Registry {
    /// Adds a session.
    pub(crate) fn insert(&self, session: Session) {
        let mut state = lock(&self.state);
        let author = state.accounts.entry(session.who()).or_default();
        if !author.sessions.contains(&session.id) {
            author.sessions.push(session.id);
        }
        state.sessions.insert(session.id, session);
    }

    /// Removes a session; also what its author's end lets go.
    pub(crate) fn remove(&self, session: SessionId) -> Option<(Session, Vec<MessageId>)> {
        let mut state = lock(&self.state);
        let removed = state.sessions.remove(&session)?;
        let who = removed.who();
        let mut released = Vec::new();
        if let Some(author) = state.accounts.get_mut(&who) {
            author.sessions.retain(|id| *id != session);
            released = state.release_if_settled(&who);
            if state.accounts.get(&who).is_some_and(|author| author.sessions.is_empty()) {
                state.accounts.remove(&who);
            }
        }
        Some((removed, released))
    }

    /// A session by id.
    pub(crate) fn get(&self, session: SessionId) -> Option<Session> {
        lock(&self.state).sessions.get(&session).cloned()
    }

    /// All sessions.
    pub(crate) fn all(&self) -> Vec<Session> {
        lock(&self.state).sessions.values().cloned().collect()
    }

    /// Sessions no stream has led to for `span`.
    pub(crate) fn detached_for(&self, span: Duration) -> Vec<SessionId> {
        let now = Instant::now();
        let state = lock(&self.state);
        let gone = state.sessions.values().filter(|session| {
            session.detached.is_some_and(|since| now.saturating_duration_since(since) >= span)
        });
        gone.map(|session| session.id).collect()
    }

    /// True if the account has any live session here.
    pub(crate) fn is_here(&self, who: &Who) -> bool {
        lock(&self.state).accounts.contains_key(who)
    }

    /// The mailbox of the account's session that takes deliveries.
    pub(crate) fn mailbox_of(&self, who: &Who) -> Option<Arc<Mailbox>> {
        let state = lock(&self.state);
        let ids = &state.accounts.get(who)?.sessions;
        ids.iter().find_map(|id| state.sessions.get(id)?.mailbox.clone())
    }

    /// The account's session that takes deliveries.
    pub(crate) fn delivering(&self, who: &Who) -> Option<SessionId> {
        let state = lock(&self.state);
        let ids = &state.accounts.get(who)?.sessions;
        ids.iter()
            .copied()
            .find(|id| state.sessions.get(id).is_some_and(|session| session.mode == AttachMode::Deliveries))
    }

    /// The sessions of a runner, with the numbers of their last reports.
    pub(crate) fn of_runner(&self, runner: &RunnerKey) -> HashMap<SessionId, u64> {
        let state = lock(&self.state);
        let sessions = state.sessions.values().filter(|session| session.runner == *runner);
        sessions.map(|session| (session.id, session.number)).collect()
    }

    /// Notes that a session's runner has to say first whether it still runs it, or that it did.
    pub(crate) fn confirm(&self, session: SessionId, confirmed: bool) {
        if let Some(entry) = lock(&self.state).sessions.get_mut(&session) {
            entry.confirmed = confirmed;
        }
    }

    /// Notes a reported state. Gives the report its number, at least `floor`, and the messages it lets go; none if
    /// the session is not here or the report was overtaken.
    pub(crate) fn report(
        &self,
        session: SessionId,
        reported: LifecycleState,
        source: Source,
        floor: u64,
    ) -> Option<(u64, Vec<MessageId>)> {
        let mut state = lock(&self.state);
        let entry = state.sessions.get_mut(&session).filter(|entry| entry.takes(source))?;
        if source != Source::Server {
            entry.follow(reported);
        }
        entry.number = entry.number.saturating_add(1).max(floor);
        let number = entry.number;
        match reported {
            LifecycleState::Working => entry.in_turn = true,
            LifecycleState::Ready | LifecycleState::Stopped | LifecycleState::Errored => {
                entry.in_turn = false;
            }
            LifecycleState::Starting | LifecycleState::Disconnected | LifecycleState::Unspecified => {}
        }
        if let Some(mailbox) = &entry.mailbox {
            mailbox.set_working(entry.in_turn);
        }
        let who = entry.who();
        Some((number, state.release_if_settled(&who)))
    }

    /// Notes whether a stream leads to a session; none if it is not here, or without a stream already.
    pub(crate) fn set_attached(&self, session: SessionId, attached: bool) -> Option<Session> {
        let mut state = lock(&self.state);
        let entry = state.sessions.get_mut(&session)?;
        if !attached && entry.detached.is_some() {
            return None;
        }
        entry.detached = (!attached).then(Instant::now);
        Some(entry.clone())
    }

    /// Holds a message while its author is in a turn; holding it twice changes nothing.
    pub(crate) fn gate(&self, who: &Who, message: MessageId) -> Gate {
        let mut state = lock(&self.state);
        let Some(author) = state.accounts.get(who) else { return Gate::Elsewhere };
        if !state.in_turn(author) {
            return Gate::Ready;
        }
        let now = Instant::now();
        let Some(author) = state.accounts.get_mut(who) else { return Gate::Elsewhere };
        let known = author.held.iter().any(|(held, _)| *held == message);
        if !known && author.held.len() < HELD_MAX {
            author.held.push_back((message, now));
            state.deadlines.push_back((now + HOLD, who.clone()));
        }
        Gate::Held
    }

    /// How many messages of an account are held here.
    pub(crate) fn held_by(&self, who: &Who) -> u32 {
        let state = lock(&self.state);
        let held = state.accounts.get(who).map_or(0, |author| author.held.len());
        u32::try_from(held).unwrap_or(u32::MAX)
    }

    /// When the next held message runs out.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        lock(&self.state).deadlines.front().map(|(at, _)| *at)
    }

    /// Lets go of what was held for [`HOLD`].
    pub(crate) fn take_overdue(&self) -> Vec<(TenantId, MessageId)> {
        let now = Instant::now();
        let mut state = lock(&self.state);
        let mut overdue = Vec::new();
        while state.deadlines.front().is_some_and(|(at, _)| *at <= now) {
            let Some((_, who)) = state.deadlines.pop_front() else { break };
            let Some(author) = state.accounts.get_mut(&who) else { continue };
            while author.held.front().is_some_and(|(_, since)| *since + HOLD <= now) {
                overdue.extend(author.held.pop_front().map(|(message, _)| (who.0.clone(), message)));
            }
        }
        overdue
    }
}

impl State {
    fn in_turn(&self, author: &Author) -> bool {
        author.sessions.iter().any(|id| self.sessions.get(id).is_some_and(|session| session.in_turn))
    }

    fn release_if_settled(&mut self, who: &Who) -> Vec<MessageId> {
        let settled = self.accounts.get(who).is_some_and(|author| !self.in_turn(author));
        if !settled {
            return Vec::new();
        }
        let held = self.accounts.get_mut(who).map(|author| std::mem::take(&mut author.held));
        held.unwrap_or_default().into_iter().map(|(message, _)| message).collect()
    }
}
