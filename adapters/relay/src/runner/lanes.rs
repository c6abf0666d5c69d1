//! The way from the hub to sessions: bounded queues of the streams that lead to them.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use compass_domain::{SessionId, delivery::Lane};
use compass_hub::{
    ports::{Dispatch, LaneError, Lanes},
    sessions::Ticket,
};
use compass_proto::v1::{self, agent_control::Control, sessions_response::Command};
use tokio::sync::mpsc::{self, error::TrySendError};

use crate::mapping;

/// Which stream leads to which session. Sending never waits: a full stream is the hub's to handle.
#[derive(Debug, Default)]
pub struct RunnerLanes {
    streams: Mutex<HashMap<SessionId, Stream>>,
}

#[derive(Debug)]
struct Stream {
    ticket: Ticket,
    queue: mpsc::Sender<v1::SessionsResponse>,
}

impl RunnerLanes {
    /// Lanes that lead nowhere yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Leads a session through a stream, in place of an earlier one.
    pub(super) fn bind(&self, session: SessionId, ticket: Ticket, queue: mpsc::Sender<v1::SessionsResponse>) {
        self.streams().insert(session, Stream { ticket, queue });
    }

    /// Ends what a stream led to; a session that a later stream leads to stays.
    pub(super) fn unbind(&self, ticket: Ticket) {
        self.streams().retain(|_, stream| stream.ticket != ticket);
    }

    fn queue(&self, session: SessionId) -> Option<mpsc::Sender<v1::SessionsResponse>> {
        self.streams().get(&session).map(|stream| stream.queue.clone())
    }

    fn streams(&self) -> MutexGuard<'_, HashMap<SessionId, Stream>> {
        // Each change is one insert or removal, so a poisoned map is whole.
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lanes for RunnerLanes {
    fn dispatch(&self, session: SessionId, dispatch: Dispatch) -> Result<(), LaneError> {
        let queue = self.queue(session).ok_or(LaneError::Detached)?;
        // Room first: a message that finds none is not worth encoding.
        let room = queue.try_reserve().map_err(|full| match full {
            TrySendError::Full(()) => LaneError::Full,
            TrySendError::Closed(()) => LaneError::Detached,
        })?;
        room.send(command(session, &dispatch));
        Ok(())
    }

    fn is_attached(&self, session: SessionId) -> bool {
        self.queue(session).is_some_and(|queue| !queue.is_closed())
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
        command: Some(Command::DeliverControl(control)),
    }
}
