//! Which processes of which runner enrolled, the streams they opened, and the sessions minted for them.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Mutex,
    time::Duration,
};

use compass_domain::{AccountId, Classified, ErrorKind, LifecycleState, SessionId, TenantId, WakePolicy};
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

use super::RunnerKey;
use crate::{ports::AttachMode, timing::lock};

/// Processes of one runner at the most; only presence-only ones can be several.
const INSTANCES_MAX: usize = 64;
/// For how long a process that enrolled counts as live before its stream is open.
const OPENING: Duration = Duration::from_secs(10);

/// A process announces itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enroll {
    /// Whose process, as the credential says.
    pub runner: RunnerKey,
    /// Which process; one that names none is the runner's nameless process.
    pub instance: String,
    /// Whether its sessions take deliveries.
    pub mode: AttachMode,
    /// Take the place of a live process.
    pub take_over: bool,
}

/// Why a process may not enroll.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnrollError {
    /// Another process takes the agent's deliveries.
    #[error("another live process delivers to this agent; take over to end it")]
    AlreadyAttached,
    /// Too many processes.
    #[error("too many processes are enrolled for this agent: the limit is {limit}")]
    TooMany {
        /// The most there can be.
        limit: usize,
    },
}

impl Classified for EnrollError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::AlreadyAttached => ErrorKind::Conflict,
            Self::TooMany { .. } => ErrorKind::ResourceExhausted,
        }
    }
}

/// The process that opens a stream did not enroll, or was superseded since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this process has not enrolled")]
pub struct NotEnrolled;

impl Classified for NotEnrolled {
    fn kind(&self) -> ErrorKind {
        ErrorKind::FailedPrecondition
    }
}

/// One opened stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket(u64);

impl Ticket {
    /// The ticket of this number; the hub numbers streams as they open.
    pub const fn of(number: u64) -> Self {
        Self(number)
    }
}

/// The first command of an agent's own process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartOrder {
    /// Its only placement.
    pub container: String,
    /// The session it is to run; the same one again when the same process comes back.
    pub session: SessionId,
}

/// A stream that was opened.
#[derive(Debug)]
pub struct Attached {
    /// Which stream; closing needs it.
    pub ticket: Ticket,
    /// Cancelled when a later process or stream takes its place.
    pub superseded: CancellationToken,
    /// What to start, for an agent's own process.
    pub start: Option<StartOrder>,
}

/// A session that was minted for a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Minted {
    pub(crate) account: AccountId,
    pub(crate) mode: AttachMode,
    /// The last state that came before the result of the start.
    pub(crate) early: Option<LifecycleState>,
    runner: RunnerKey,
    instance: String,
}

/// A stream that is open.
#[derive(Debug)]
struct Stream {
    ticket: Ticket,
    superseded: CancellationToken,
    /// Dropped with it, which tells those who wait for its end.
    end: watch::Sender<()>,
}

#[derive(Debug)]
struct Instance {
    mode: AttachMode,
    stream: Option<Stream>,
    since: Instant,
    session: Option<SessionId>,
    /// While it is not known what a named runner runs; dropped when it is.
    rebinding: Option<watch::Sender<()>>,
}

impl Instance {
    fn is_live(&self) -> bool {
        self.stream.is_some() || self.since.elapsed() < OPENING
    }

    fn supersede(&mut self) {
        self.rebinding = None;
        if let Some(stream) = self.stream.take() {
            stream.superseded.cancel();
        }
    }

    fn is_on(&self, ticket: Ticket) -> bool {
        self.stream.as_ref().is_some_and(|stream| stream.ticket == ticket)
    }
}

type Instances = HashMap<String, Instance>;

impl Enroll {
    /// True if an instance of the same runner cannot stay beside this one.
    fn rivals(&self, id: &str, instance: &Instance) -> bool {
        let named = matches!(self.runner, RunnerKey::Named { .. });
        let deliver = [self.mode, instance.mode].iter().all(|mode| *mode == AttachMode::Deliveries);
        id != self.instance && (named || deliver)
    }

    /// Puts this process in the place of its rivals and of its own earlier enrolment, or changes nothing.
    fn replace(&self, instances: &mut Instances) -> Result<Replaced, EnrollError> {
        let rivals = instances.iter().filter(|(id, instance)| self.rivals(id, instance));
        let rivals: Vec<(String, bool)> =
            rivals.map(|(id, instance)| (id.clone(), instance.is_live())).collect();
        // A runner's own newer process always takes the place; an agent's has to ask for it.
        let yields = self.take_over || matches!(self.runner, RunnerKey::Named { .. });
        if !yields && rivals.iter().any(|(_, live)| *live) {
            return Err(EnrollError::AlreadyAttached);
        }
        if instances.len() >= INSTANCES_MAX && !instances.contains_key(&self.instance) {
            return Err(EnrollError::TooMany { limit: INSTANCES_MAX });
        }
        let mut replaced = Replaced::default();
        for mut gone in rivals.iter().filter_map(|(id, _)| instances.remove(id)) {
            replaced.reattached = true;
            gone.supersede();
            replaced.closed.extend(gone.session);
        }
        let session = instances.remove(&self.instance).and_then(|before| self.resume(before, &mut replaced));
        let instance =
            Instance { mode: self.mode, stream: None, since: Instant::now(), session, rebinding: None };
        instances.insert(self.instance.clone(), instance);
        Ok(replaced)
    }

    /// The session that this process goes on with after an earlier enrolment of it.
    fn resume(&self, mut before: Instance, replaced: &mut Replaced) -> Option<SessionId> {
        replaced.reattached = true;
        before.supersede();
        if before.mode == self.mode {
            replaced.detached.extend(before.session);
            return before.session;
        }
        replaced.closed.extend(before.session);
        None
    }
}

#[derive(Debug, Default)]
struct State {
    runners: HashMap<RunnerKey, Instances>,
    minted: HashMap<SessionId, Minted>,
    wakes: HashMap<RunnerKey, HashMap<AccountId, WakePolicy>>,
    tickets: u64,
}

/// What an enrolment changed.
#[derive(Debug, Default)]
pub(crate) struct Replaced {
    /// True if the runner was enrolled before.
    pub(crate) reattached: bool,
    /// Sessions that are over.
    pub(crate) closed: Vec<SessionId>,
    /// Sessions whose stream is gone and may come back.
    pub(crate) detached: Vec<SessionId>,
}

/// Bookkeeping behind one short lock.
#[derive(Debug, Default)]
pub(crate) struct Enrollments {
    state: Mutex<State>,
}

impl Enrollments {
    /// The tenants that have named runners here.
    pub(crate) fn tenants_with_runners(&self) -> BTreeSet<TenantId> {
        let state = lock(&self.state);
        let named = state.runners.keys().filter_map(|runner| match runner {
            RunnerKey::Named { tenant, .. } => Some(tenant.clone()),
            RunnerKey::Agent { .. } => None,
        });
        named.collect()
    }

    pub(crate) fn enroll(&self, request: &Enroll) -> Result<Replaced, EnrollError> {
        let mut state = lock(&self.state);
        let state = &mut *state;
        let instances = state.runners.entry(request.runner.clone()).or_default();
        let replaced = request.replace(instances)?;
        for gone in &replaced.closed {
            state.minted.remove(gone);
        }
        Ok(replaced)
    }

    pub(crate) fn open_stream(
        &self,
        runner: &RunnerKey,
        instance: &str,
        mint: impl FnOnce() -> SessionId,
    ) -> Result<Attached, NotEnrolled> {
        let mut state = lock(&self.state);
        let state = &mut *state;
        let entry = state.runners.get_mut(runner).and_then(|instances| instances.get_mut(instance));
        let entry = entry.ok_or(NotEnrolled)?;
        entry.supersede();
        state.tickets = state.tickets.saturating_add(1);
        let ticket = Ticket(state.tickets);
        let superseded = CancellationToken::new();
        entry.stream = Some(Stream { ticket, superseded: superseded.clone(), end: watch::Sender::new(()) });
        let start = match runner {
            RunnerKey::Named { .. } => {
                entry.rebinding = Some(watch::Sender::new(()));
                None
            }
            RunnerKey::Agent { account, .. } => {
                let session = *entry.session.get_or_insert_with(mint);
                let minted = Minted {
                    account: *account,
                    mode: entry.mode,
                    early: None,
                    runner: runner.clone(),
                    instance: instance.to_owned(),
                };
                state.minted.insert(session, minted);
                Some(StartOrder { container: account.to_string(), session })
            }
        };
        Ok(Attached { ticket, superseded, start })
    }

    /// Notes the end of a stream; false if a later stream took its place.
    pub(crate) fn close_stream(&self, runner: &RunnerKey, instance: &str, ticket: Ticket) -> bool {
        let mut state = lock(&self.state);
        let entry = state.runners.get_mut(runner).and_then(|instances| instances.get_mut(instance));
        let Some(entry) = entry.filter(|entry| entry.is_on(ticket)) else { return false };
        entry.stream = None;
        entry.rebinding = None;
        // The place is free at once: a process whose stream broke must not keep the next one out.
        entry.since = Instant::now().checked_sub(OPENING).unwrap_or(entry.since);
        true
    }

    /// Changes when the stream that a runner has now is gone; none if it has none.
    pub(crate) fn end_of_stream(&self, runner: &RunnerKey) -> Option<watch::Receiver<()>> {
        let state = lock(&self.state);
        let mut instances = state.runners.get(runner)?.values();
        instances.find_map(|instance| instance.stream.as_ref().map(|stream| stream.end.subscribe()))
    }

    /// The session that an agent's own process runs.
    pub(crate) fn session_of(&self, runner: &RunnerKey, instance: &str) -> Option<SessionId> {
        lock(&self.state).runners.get(runner)?.get(instance)?.session
    }

    /// What a named runner runs is known now.
    pub(crate) fn rebound(&self, runner: &RunnerKey, instance: &str, ticket: Ticket) {
        let mut state = lock(&self.state);
        let entry = state.runners.get_mut(runner).and_then(|instances| instances.get_mut(instance));
        if let Some(entry) = entry
            && entry.is_on(ticket)
        {
            entry.rebinding = None;
        }
    }

    /// Changes when it is known what a runner runs; none if it is.
    pub(crate) fn rebinding(&self, runner: &RunnerKey) -> Option<watch::Receiver<()>> {
        let state = lock(&self.state);
        let mut instances = state.runners.get(runner)?.values();
        instances.find_map(|instance| instance.rebinding.as_ref().map(watch::Sender::subscribe))
    }

    /// Keeps what a named runner said last of when to wake whom.
    pub(crate) fn set_wake_policies(&self, runner: &RunnerKey, policies: Vec<(AccountId, WakePolicy)>) {
        lock(&self.state).wakes.insert(runner.clone(), policies.into_iter().collect());
    }

    /// What a named runner said of when to wake an agent.
    pub(crate) fn wake_policy(&self, runner: &RunnerKey, account: AccountId) -> Option<WakePolicy> {
        lock(&self.state).wakes.get(runner)?.get(&account).copied()
    }

    /// Notes a session that a named runner is asked to start.
    pub(crate) fn mint(&self, runner: &RunnerKey, account: AccountId, session: SessionId) {
        let minted = Minted {
            account,
            mode: AttachMode::Deliveries,
            early: None,
            runner: runner.clone(),
            instance: String::new(),
        };
        lock(&self.state).minted.insert(session, minted);
    }

    /// A session minted for this runner.
    pub(crate) fn minted(&self, runner: &RunnerKey, session: SessionId) -> Option<Minted> {
        lock(&self.state).minted.get(&session).filter(|minted| minted.runner == *runner).cloned()
    }

    /// Keeps a state that came before its session was bound; false if the session is not this runner's.
    pub(crate) fn keep_early(&self, runner: &RunnerKey, session: SessionId, state: LifecycleState) -> bool {
        let mut all = lock(&self.state);
        let minted = all.minted.get_mut(&session).filter(|minted| minted.runner == *runner);
        minted.map(|minted| minted.early = Some(state)).is_some()
    }

    /// Takes the state that came early.
    pub(crate) fn take_early(&self, session: SessionId) -> Option<LifecycleState> {
        lock(&self.state).minted.get_mut(&session)?.early.take()
    }

    /// Forgets a session that is over, so that its process is given a new one.
    pub(crate) fn forget_session(&self, session: SessionId) {
        let mut state = lock(&self.state);
        let Some(minted) = state.minted.remove(&session) else { return };
        let instances = state.runners.get_mut(&minted.runner);
        if let Some(entry) = instances.and_then(|instances| instances.get_mut(&minted.instance))
            && entry.session == Some(session)
        {
            entry.session = None;
        }
    }

    /// Forgets processes that have had no stream for `span`.
    pub(crate) fn forget_idle(&self, span: Duration) {
        let mut state = lock(&self.state);
        for instances in state.runners.values_mut() {
            instances.retain(|_, instance| {
                instance.stream.is_some() || instance.session.is_some() || instance.since.elapsed() < span
            });
        }
        state.runners.retain(|_, instances| !instances.is_empty());
        let State { runners, wakes, .. } = &mut *state;
        wakes.retain(|runner, _| runners.contains_key(runner));
    }
}
