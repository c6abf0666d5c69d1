//! The way from the hub to sessions and runners: bounded queues of the streams that lead to them.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use compass_domain::{SessionId, TenantId, delivery::Lane};
use compass_hub::{
    ports::{Address, Command, Dispatch, LaneError, Lanes, LaunchError, Launcher, Outcome},
    sessions::{RunnerKey, Ticket},
};
use compass_proto::v1::{
    self, agent_control::Control, sessions_request::Result as Answer, sessions_response::Command as Wire,
};
use tokio::sync::mpsc::{self, error::TrySendError};

use super::{
    commands::{Lines, SentTo},
    tails::Tails,
};
use crate::mapping;

/// Which stream leads to which session and runner. Sending never waits: a full stream is the hub's to handle.
#[derive(Debug, Default)]
pub struct RunnerLanes {
    state: Mutex<State>,
    tails: Tails,
}

#[derive(Debug, Default)]
struct State {
    sessions: HashMap<SessionId, Ticket>,
    lines: Lines,
}

impl RunnerLanes {
    /// Lanes that lead nowhere yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Who watches sessions.
    pub(crate) fn tails(&self) -> &Tails {
        &self.tails
    }

    /// Adds a runner's stream, in place of an earlier one.
    pub(super) fn attach(
        &self,
        runner: &RunnerKey,
        ticket: Ticket,
        queue: mpsc::Sender<v1::SessionsResponse>,
    ) {
        self.state().lines.attach(runner, ticket, queue);
    }

    /// Leads a session through a stream, in place of an earlier one.
    pub(super) fn bind(&self, session: SessionId, ticket: Ticket) {
        self.state().sessions.insert(session, ticket);
    }

    /// Ends a stream and what it led to; a session that a later stream leads to stays.
    pub(super) fn detach(&self, ticket: Ticket) {
        let mut state = self.state();
        state.sessions.retain(|_, current| *current != ticket);
        state.lines.detach(ticket);
    }

    /// Hands a result to whoever waits for it; gives it back if nobody does.
    pub(super) fn answer(&self, ticket: Ticket, request_id: &str, answer: Answer) -> Option<Answer> {
        self.state().lines.answer(ticket, request_id, answer)
    }

    /// To whom an operation was sent on this stream.
    pub(super) fn sent_to(&self, ticket: Ticket, request_id: &str) -> Option<SentTo> {
        self.state().lines.sent_to(ticket, request_id)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is a few map operations, so a poisoned map is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn ticket(&self, address: &Address) -> Option<Ticket> {
        match address {
            Address::Runner(runner) => self.lines.ticket(runner),
            Address::Session(session) => self.sessions.get(session).copied(),
        }
    }
}

impl Lanes for RunnerLanes {
    fn dispatch(&self, session: SessionId, dispatch: Dispatch) -> Result<(), LaneError> {
        let queue = {
            let mut state = self.state();
            let ticket = *state.sessions.get(&session).ok_or(LaneError::Detached)?;
            state.lines.note_sent(ticket, dispatch.message.message.id(), session);
            state.lines.queue(ticket).ok_or(LaneError::Detached)?
        };
        // Room first: a message that finds none is not worth encoding.
        let room = queue.try_reserve().map_err(|full| match full {
            TrySendError::Full(()) => LaneError::Full,
            TrySendError::Closed(()) => LaneError::Detached,
        })?;
        room.send(command(session, &dispatch));
        Ok(())
    }

    fn is_attached(&self, session: SessionId) -> bool {
        let state = self.state();
        let queue = state.sessions.get(&session).and_then(|ticket| state.lines.queue(*ticket));
        queue.is_some_and(|queue| !queue.is_closed())
    }
}

#[tonic::async_trait]
impl Launcher for RunnerLanes {
    async fn send(
        &self,
        address: &Address,
        request_id: &str,
        command: Command,
    ) -> Result<Outcome, LaunchError> {
        let waiting = {
            let mut state = self.state();
            let ticket = state.ticket(address).ok_or(LaunchError::NotAttached)?;
            state.lines.send(ticket, request_id, command)?
        };
        waiting.result().await
    }

    fn attached(&self, tenant: &TenantId) -> Vec<String> {
        let state = self.state();
        let of_tenant = state.lines.runners().filter(|runner| runner.tenant() == tenant);
        let mut names: Vec<String> = of_tenant.map(RunnerKey::name).collect();
        names.sort_unstable();
        names
    }

    fn lead(&self, runner: &RunnerKey, session: SessionId) {
        let mut state = self.state();
        if let Some(ticket) = state.lines.ticket(runner) {
            state.sessions.insert(session, ticket);
        }
    }

    fn leave(&self, session: SessionId) {
        self.state().sessions.remove(&session);
        self.tails.finish(session);
    }
}

fn command(session: SessionId, dispatch: &Dispatch) -> v1::SessionsResponse {
    let control = match dispatch.lane {
        Lane::Deliver => Control::Deliver(mapping::delivery(&dispatch.message)),
        Lane::Steer => Control::Steer(mapping::steer(&dispatch.message)),
    };
    let op = v1::AgentControl { control_seq: 0, control: Some(control) };
    let control = v1::DispatchControl { session_id: session.to_string(), op: Some(op) };
    // A message's id names its command, so that a refusal says what was refused.
    v1::SessionsResponse {
        request_id: dispatch.message.message.id().to_string(),
        command: Some(Wire::DeliverControl(control)),
    }
}
