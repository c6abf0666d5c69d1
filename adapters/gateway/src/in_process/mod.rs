//! The agent's calls and mailbox inside the server's own process, for agents that speak to the server over HTTP.

mod call;
mod seen;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use compass_agent::ports::{Call, CallError, CallResult, Gateway, Mailbox, Owed};
use compass_comms::{Caller, Comms, handles::handles, relay_union};
use compass_domain::{Classified, MessageId};
use compass_hub::{Hub, delivery::FetchQuery};

/// A call that takes longer has an unknown outcome.
const DEADLINE: Duration = Duration::from_secs(30);

/// The status token of an error and the text that may be sent: the server has one table of both.
pub type Refusals = fn(&dyn Classified) -> (String, String);

/// One agent of the server.
#[derive(Clone)]
pub struct InProcess {
    /// Conversation.
    pub comms: Comms,
    /// Sessions and delivery.
    pub hub: Arc<Hub>,
    /// The agent, as a guard found out.
    pub caller: Caller,
    /// How errors read.
    pub refusals: Refusals,
}

impl InProcess {
    fn refused(&self, error: &dyn Classified) -> CallError {
        let (code, message) = (self.refusals)(error);
        CallError::Refused { code, message }
    }
}

#[async_trait]
impl Gateway for InProcess {
    async fn call(&self, _: &str, call: Call) -> Result<CallResult, CallError> {
        let Some(call) = call::call(call).map_err(|error| self.refused(&error))? else {
            // A channel or topic that cannot exist holds nothing.
            return Ok(CallResult::List(Vec::new()));
        };
        let outcome = within_deadline(relay_union::call(&self.comms, &self.caller, call)).await?;
        let outcome = outcome.map_err(|error| self.refused(&error))?;
        // What was done is done: without handles the result still stands, with ids alone.
        let named = tokio::time::timeout(DEADLINE, handles(&self.comms, &self.caller, &outcome)).await;
        let handles = match named {
            Ok(Ok(handles)) => handles,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the handles for a call's result cannot be read");
                Vec::new()
            }
            Err(_) => {
                tracing::warn!("the handles for a call's result were not read in time");
                Vec::new()
            }
        };
        let handles = handles.into_iter().map(|(account, handle)| (account.to_string(), handle.to_string()));
        Ok(seen::result(&outcome).with_handles(&handles.collect()))
    }
}

#[async_trait]
impl Mailbox for InProcess {
    async fn fetch(&self, limit: u32, answers_ask_id: Option<&str>) -> Result<Owed, CallError> {
        let answers_ask = match answers_ask_id.map(str::parse) {
            None => None,
            Some(Ok(ask)) => Some(ask),
            // An ask that cannot exist has no answer.
            Some(Err(_)) => return Ok(Owed::default()),
        };
        let query = FetchQuery { limit, answers_ask };
        let owed = within_deadline(self.hub.fetch(&self.caller.tenant, self.caller.actor.id, query)).await?;
        let owed = owed.map_err(|error| self.refused(&error))?;
        let deliveries = owed.items.iter().map(|item| seen::delivery(&item.message)).collect();
        Ok(Owed { deliveries, waiting: owed.waiting })
    }

    async fn acknowledge(&self, message_ids: &[String]) -> Result<(), CallError> {
        // A text that is no id is a message that does not exist, whose receipt changes nothing.
        let messages = message_ids.iter().filter_map(|id| id.parse::<MessageId>().ok()).collect();
        let kept = self.hub.acknowledge(&self.caller.tenant, self.caller.actor.id, messages);
        within_deadline(kept).await?.map(drop).map_err(|error| self.refused(&error))
    }
}

async fn within_deadline<T>(work: impl Future<Output = T>) -> Result<T, CallError> {
    let late = |_| CallError::OutcomeUnknown(format!("the call took longer than {} s", DEADLINE.as_secs()));
    tokio::time::timeout(DEADLINE, work).await.map_err(late)
}
