//! Sessions of agents as people run and watch them.

mod commands;
mod events;
mod tail;

use std::sync::Arc;

use compass_comms::{Caller, Comms, accounts::operate_agent};
use compass_domain::{AccountId, SessionId};
use compass_hub::{Hub, ports::StoredSession};
use tonic::Status;

use crate::{auth::Auth, error::DoorError, mapping, runner::RunnerLanes, status::status, stream::Streams};

/// What the calls about sessions need.
#[derive(Clone)]
pub(crate) struct Sessions {
    pub(crate) comms: Comms,
    pub(crate) hub: Arc<Hub>,
    pub(crate) lanes: Arc<RunnerLanes>,
    pub(crate) auth: Auth,
    pub(crate) streams: Streams,
}

impl Sessions {
    /// A session of the caller's tenant.
    async fn session(&self, caller: &Caller, text: &str) -> Result<StoredSession, Status> {
        let session: SessionId =
            mapping::required("session_id", "session", text).map_err(|error| status(&error))?;
        let found = self.hub.find_session(&caller.tenant, session).await;
        found.map_err(|error| status(&error))?.ok_or_else(|| absent("session"))
    }

    /// Lets those pass that may run an agent. For others the thing that leads to the agent does not exist, unless
    /// they see the agent.
    async fn operate(&self, caller: &Caller, agent: AccountId, what: &'static str) -> Result<(), Status> {
        let passed = operate_agent::require_operator(&self.comms, caller, agent).await;
        passed.map_err(|error| hidden(&error, what))
    }

    /// Lets those pass that may watch an agent.
    async fn watch(&self, caller: &Caller, agent: AccountId, what: &'static str) -> Result<(), Status> {
        let passed = operate_agent::require_watcher(&self.comms, caller, agent).await;
        passed.map_err(|error| hidden(&error, what))
    }
}

/// Absent and not visible are told in the same words.
fn hidden(error: &operate_agent::Error, what: &'static str) -> Status {
    match error {
        operate_agent::Error::NotFound => absent(what),
        other => status(other),
    }
}

fn absent(what: &'static str) -> Status {
    status(&DoorError::NotFound(what))
}
