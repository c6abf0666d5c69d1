//! Binding sessions to accounts, and what their runners report of them.

use std::sync::{Arc, atomic::Ordering};

use compass_domain::{AccountId, Event, LifecycleState, MessageId, SessionId, TenantId, WakePolicy};
use compass_ports::StorageError;

use super::{Attached, Enroll, EnrollError, NotEnrolled, RunnerKey, Session, Source, Ticket, Who};
use crate::{
    Hub,
    delivery::{Mailbox, router::Urgency, sender::Sender},
    notes::NoteKind,
    ports::{Address, AttachMode, OpenSession},
};

/// How a note about a program that failed begins.
const PROGRAM_FAILED: &str = "its program failed: ";

/// A session that starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRequest {
    /// Through which runner; says whose rows as well.
    pub runner: RunnerKey,
    /// Whose, as the server knows it.
    pub account: AccountId,
    /// Whether it takes deliveries.
    pub mode: AttachMode,
    /// Which; minted by the server.
    pub session: SessionId,
}

impl Hub {
    /// Enrolls a process of a runner and ends what it replaces. True if the runner was enrolled before.
    ///
    /// # Errors
    ///
    /// [`EnrollError`] if another process holds the place; nothing changed.
    pub async fn enroll(&self, request: &Enroll) -> Result<bool, EnrollError> {
        if self.runs_elsewhere(request) {
            return Err(EnrollError::AlreadyAttached);
        }
        let replaced = self.enrollments.enroll(request)?;
        for session in replaced.closed {
            self.close_logged(session).await;
        }
        for session in replaced.detached {
            self.detached(session).await;
        }
        if let RunnerKey::Named { .. } = request.runner {
            // This process may run other sessions than the one before: it is asked when its stream is open.
            for session in self.registry.of_runner(&request.runner).into_keys() {
                self.registry.confirm(session, false);
                self.detached(session).await;
            }
        }
        Ok(replaced.reattached)
    }

    /// True if a process wants the deliveries of an agent that a named runner runs, and does not take over.
    fn runs_elsewhere(&self, request: &Enroll) -> bool {
        let RunnerKey::Agent { tenant, account } = &request.runner else { return false };
        if request.take_over || request.mode != AttachMode::Deliveries {
            return false;
        }
        let delivering = self.registry.delivering(&(tenant.clone(), *account));
        let delivering = delivering.and_then(|session| self.registry.get(session));
        delivering.is_some_and(|session| session.runner != request.runner && session.is_attached())
    }

    /// Keeps for what a named runner's agents are woken; also for those that are placed on it later.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if it cannot be kept.
    pub async fn set_wake_policies(
        &self,
        runner: &RunnerKey,
        policies: Vec<(AccountId, WakePolicy)>,
    ) -> Result<(), StorageError> {
        // An agent's own process is started by a person and is no placement.
        let RunnerKey::Named { tenant, name } = runner else { return Ok(()) };
        self.ports.placements.set_wake_policies(tenant, name, &policies).await?;
        self.enrollments.set_wake_policies(runner, policies);
        Ok(())
    }

    /// Notes that an enrolled process opened its stream; an earlier stream of it is superseded.
    ///
    /// # Errors
    ///
    /// [`NotEnrolled`] if the process did not enroll or was superseded.
    pub fn open_stream(&self, runner: &RunnerKey, instance: &str) -> Result<Attached, NotEnrolled> {
        self.enrollments.open_stream(runner, instance, || self.ports.ids.session())
    }

    /// Notes the end of a stream. The sessions it led to are detached, unless a later stream took its place.
    pub async fn close_stream(&self, runner: &RunnerKey, instance: &str, ticket: Ticket) {
        if !self.enrollments.close_stream(runner, instance, ticket) {
            return;
        }
        if let RunnerKey::Named { .. } = runner {
            for session in self.registry.of_runner(runner).into_keys() {
                self.detached(session).await;
            }
            return;
        }
        let Some(session) = self.enrollments.session_of(runner, instance) else { return };
        if self.registry.get(session).is_none() {
            self.enrollments.forget_session(session);
        }
        self.detached(session).await;
    }

    /// The runner started a session that was minted for it: binds it and applies what it reported early.
    /// False if the session is not this runner's.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if the row cannot be written; the session is not bound.
    pub async fn started(&self, runner: &RunnerKey, session: SessionId) -> Result<bool, StorageError> {
        let Some(minted) = self.enrollments.minted(runner, session) else { return Ok(false) };
        let request =
            OpenRequest { runner: runner.clone(), account: minted.account, mode: minted.mode, session };
        self.open(request).await?;
        if self.enrollments.minted(runner, session).is_none() {
            // Superseded while the row was written.
            self.close(session).await?;
            return Ok(false);
        }
        if let Some(state) = self.enrollments.take_early(session) {
            self.report_bound(session, state, Source::Early).await?;
        }
        Ok(true)
    }

    /// Binds a session to its account. For one that takes deliveries, its sender task starts with the start sweep;
    /// another session of the account that takes deliveries ends.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if the row cannot be written; nothing was bound.
    pub async fn open(&self, request: OpenRequest) -> Result<(), StorageError> {
        self.open_as(request, true).await
    }

    /// The same; what waits for a person is swept if the session starts, and not if it goes on.
    pub(super) async fn open_as(&self, request: OpenRequest, starts: bool) -> Result<(), StorageError> {
        let OpenRequest { runner, account, mode, session } = request;
        let tenant = runner.tenant().clone();
        let row = OpenSession { session, account, runner: runner.name(), mode };
        self.ports.ledger.open_session(&tenant, self.ports.node, &row).await?;
        let mut starts = starts;
        if let Some((before, released)) = self.registry.remove(session) {
            before.closed.cancel();
            starts = before.mailbox.is_none_or(|mailbox| mailbox.is_starting());
            self.route_all(&tenant, released);
        }
        let who: Who = (tenant, account);
        if mode == AttachMode::Deliveries
            && let Some(rival) = self.registry.delivering(&who).and_then(|rival| self.registry.get(rival))
        {
            rival.is_unwanted.store(true, Ordering::Relaxed);
            self.close_logged(rival.id).await;
            if let RunnerKey::Named { .. } = rival.runner {
                self.stop_unwanted_later(Address::Runner(rival.runner), rival.id);
            }
        }
        let closed = self.ports.stop.child_token();
        let mailbox = (mode == AttachMode::Deliveries).then(|| Arc::new(Mailbox::new(session, starts)));
        if let RunnerKey::Named { .. } = runner {
            self.ports.launcher.lead(&runner, session);
        }
        let entry = Session::new(session, runner, account, mode, mailbox.clone(), closed.clone());
        self.registry.insert(entry);
        if let Some(mailbox) = mailbox {
            let sender =
                Sender::new(self.ports.clone(), Arc::clone(&self.notes), who.clone(), mailbox, closed);
            self.ports.tasks.spawn(sender.run());
        }
        self.report_bound(session, LifecycleState::Starting, Source::Server).await
    }

    /// Takes a state the session's runner reported. False if the session is not this runner's.
    ///
    /// STOPPED and ERRORED end the session.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if the state cannot be recorded; what waited for it was let go.
    pub async fn report_state(
        &self,
        runner: &RunnerKey,
        session: SessionId,
        state: LifecycleState,
    ) -> Result<bool, StorageError> {
        match self.registry.get(session) {
            Some(entry) if entry.runner == *runner => {
                self.report_bound(session, state, Source::Runner).await?;
                Ok(true)
            }
            Some(_) => Ok(false),
            None => Ok(self.enrollments.keep_early(runner, session, state)),
        }
    }

    pub(super) async fn report_bound(
        &self,
        session: SessionId,
        state: LifecycleState,
        source: Source,
    ) -> Result<(), StorageError> {
        if state == LifecycleState::Unspecified {
            return Ok(());
        }
        let Some(entry) = self.registry.get(session) else { return Ok(()) };
        let floor = u64::try_from(self.ports.clock.now().0).unwrap_or(0);
        let reported = self.registry.report(session, state, source, floor);
        let Some((number, released)) = reported else { return Ok(()) };
        self.route_all(&entry.tenant, released);
        let recorded = self.ports.ledger.record_state(&entry.tenant, session, state, number).await;
        let changed = Event::AgentSessionChanged { session, agent: entry.account, state };
        self.ports.bus.publish(&entry.tenant, vec![changed]);
        self.dirty.mark(entry.tenant, entry.account);
        if state == LifecycleState::Stopped {
            entry.has_stopped.store(true, Ordering::Relaxed);
        }
        if matches!(state, LifecycleState::Stopped | LifecycleState::Errored) {
            self.end(session).await?;
        }
        recorded.map(|_| ())
    }

    /// Ends a session; ending one that is not live changes nothing.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if its row cannot be closed; it is over on this node all the same.
    pub async fn close(&self, session: SessionId) -> Result<(), StorageError> {
        let entry = self.registry.get(session);
        let closed = self.end(session).await;
        if let Some(Session { tenant, account: agent, .. }) = entry {
            // Its runner's own word, if it still comes, is not taken any more.
            let state = LifecycleState::Stopped;
            self.ports.bus.publish(&tenant, vec![Event::AgentSessionChanged { session, agent, state }]);
        }
        closed
    }

    /// Ends a session whose runner did not come back; one that came back to another node is that node's now.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if its row cannot be read or closed.
    pub(super) async fn close_abandoned(&self, session: SessionId) -> Result<(), StorageError> {
        let Some(entry) = self.registry.get(session) else { return Ok(()) };
        let live = self.ports.ledger.live_sessions(&entry.tenant, Some(&[entry.account])).await?;
        if live.iter().any(|row| row.session == session && row.node != self.ports.node) {
            self.unbind(session);
            return Ok(());
        }
        self.close(session).await
    }

    /// Takes a session off this node.
    fn unbind(&self, session: SessionId) -> Option<Session> {
        self.enrollments.forget_session(session);
        let (entry, released) = self.registry.remove(session)?;
        entry.closed.cancel();
        self.ports.launcher.leave(session);
        self.route_all(&entry.tenant, released);
        Some(entry)
    }

    async fn end(&self, session: SessionId) -> Result<(), StorageError> {
        let Some(entry) = self.unbind(session) else { return Ok(()) };
        let closed = self.ports.ledger.close_session(&entry.tenant, session).await;
        self.dirty.mark(entry.tenant, entry.account);
        closed
    }

    /// The stream to a session is gone: nothing is sent to it until [`Hub::attached`] or [`Hub::open`].
    pub async fn detached(&self, session: SessionId) {
        let Some(entry) = self.registry.set_attached(session, false) else { return };
        if let Some(mailbox) = &entry.mailbox {
            mailbox.set_attached(false);
        }
        if let Err(error) = self.report_bound(session, LifecycleState::Disconnected, Source::Server).await {
            tracing::warn!(session.id = %session, %error, "a session's disconnection was not recorded");
        }
    }

    /// A stream leads to the session again: it is swept anew, because what was in flight may be lost.
    pub fn attached(&self, session: SessionId) {
        let Some(entry) = self.registry.set_attached(session, true) else { return };
        if let Some(mailbox) = &entry.mailbox
            && !entry.is_away()
        {
            mailbox.set_attached(true);
        }
    }

    /// The account of a session that is live here.
    pub fn account_of(&self, session: SessionId) -> Option<(TenantId, AccountId)> {
        self.registry.get(session).map(|entry| (entry.tenant, entry.account))
    }

    /// The account of a session that is this runner's: bound to it, or minted for it and starting. Of a named
    /// runner that enrolled again, only once it said that it still runs the session.
    pub fn account_for(&self, runner: &RunnerKey, session: SessionId) -> Option<AccountId> {
        let account = self.owner_for(runner, session)?;
        let confirmed = self.registry.get(session).is_none_or(|entry| entry.confirmed);
        confirmed.then_some(account)
    }

    /// The same for what a session reports, which is taken from a runner that has yet to confirm it.
    pub fn owner_for(&self, runner: &RunnerKey, session: SessionId) -> Option<AccountId> {
        match self.registry.get(session) {
            Some(entry) => (entry.runner == *runner).then_some(entry.account),
            None => self.enrollments.minted(runner, session).map(|minted| minted.account),
        }
    }

    /// A runner refused a message for a session; it stays owed.
    pub fn refused(&self, session: SessionId, why: &str) {
        if let Some((tenant, account)) = self.account_of(session) {
            self.note(&tenant, account, NoteKind::Refused, &format!("its runner refused a message: {why}"));
        }
    }

    /// The program of an agent's session failed; it may be launched again.
    pub fn failed(&self, tenant: &TenantId, account: AccountId, why: &str) {
        self.note(tenant, account, NoteKind::Failed, &format!("{PROGRAM_FAILED}{why}"));
    }

    /// A runner reported something of a session that is not its own.
    pub fn foreign(&self, runner: &RunnerKey, session: SessionId) {
        if let Some((tenant, account)) = self.account_of(session).filter(|(of, _)| of == runner.tenant()) {
            let name = runner.name();
            tracing::warn!(session.id = %session, runner = name, "a runner reports a session of another one");
            let text = format!("runner {name} reported a session of another runner");
            self.note(&tenant, account, NoteKind::Refused, &text);
        }
    }

    fn route_all(&self, tenant: &TenantId, released: Vec<MessageId>) {
        for message in released {
            self.router.request(tenant, message, Urgency::Now);
        }
    }

    async fn close_logged(&self, session: SessionId) {
        if let Err(error) = self.close(session).await {
            tracing::warn!(session.id = %session, %error, "a replaced session's row was not closed");
        }
    }
}
