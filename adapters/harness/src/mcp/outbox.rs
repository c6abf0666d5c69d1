//! Which request's result carries messages, from the request's arrival until its result leaves.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};

use super::deliveries::Carried;

/// The open calls of one connection.
#[derive(Debug, Default)]
pub(super) struct Outbox(Mutex<HashMap<RequestId, Call>>);

#[derive(Debug)]
enum Call {
    /// It runs.
    Running,
    /// It is done, and its result carries these.
    Carrying(Carried),
    /// Two open requests have this id, so nobody could tell whose result left.
    Ambiguous,
}

impl Outbox {
    /// Notes a message of the client: a call begins, or is cancelled and will have no result.
    pub(super) fn arrived(&self, message: &ClientJsonRpcMessage) {
        match message {
            JsonRpcMessage::Request(request)
                if matches!(request.request, ClientRequest::CallToolRequest(_)) =>
            {
                match self.calls().entry(request.id.clone()) {
                    Entry::Vacant(vacant) => drop(vacant.insert(Call::Running)),
                    Entry::Occupied(mut occupied) => drop(occupied.insert(Call::Ambiguous)),
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let Some(id) = cancelled(&notification.notification) {
                    self.calls().remove(id);
                }
            }
            _ => {}
        }
    }

    /// Lets the result of a call carry messages; false if the call will have no result that we would know of.
    pub(super) fn attach(&self, id: &RequestId, carried: Carried) -> bool {
        match self.calls().get_mut(id) {
            Some(call @ Call::Running) => {
                *call = Call::Carrying(carried);
                true
            }
            _ => false,
        }
    }

    /// What the result carries that leaves now.
    pub(super) fn leaves(&self, message: &ServerJsonRpcMessage) -> Option<Carried> {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        self.close(id?)
    }

    /// What the result of a call carries; the call is over.
    pub(super) fn close(&self, id: &RequestId) -> Option<Carried> {
        match self.calls().remove(id)? {
            Call::Carrying(carried) => Some(carried),
            Call::Running | Call::Ambiguous => None,
        }
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<RequestId, Call>> {
        // A panic elsewhere leaves at worst a call that carries nothing.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The request that a notification cancels.
pub(super) fn cancelled(notification: &ClientNotification) -> Option<&RequestId> {
    match notification {
        ClientNotification::CancelledNotification(cancelled) => cancelled.params.request_id.as_ref(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
