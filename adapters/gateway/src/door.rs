//! The agent's door: calls, fetch and acknowledge without a session, for short-lived commands.

use async_trait::async_trait;
use compass_agent::{
    ports::{Call, CallError, CallResult, Gateway},
    seen::Delivery,
};
use compass_proto::v1::{self, agent_door_client::AgentDoorClient};
use tonic::{Request, service::interceptor::InterceptedService, transport::Channel};

use crate::{
    calls,
    endpoint::{Bearer, CALL_DEADLINE, Endpoint, MESSAGE_BYTES},
    mapping,
};

/// A connection to the agent's door.
#[derive(Clone)]
pub struct AgentDoor {
    client: AgentDoorClient<InterceptedService<Channel, Bearer>>,
}

/// A page of what the agent is owed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The messages; fetching consumes none of them.
    pub deliveries: Vec<Delivery>,
    /// How many more wait.
    pub waiting: u32,
}

impl AgentDoor {
    /// Prepares a connection; it is made with the first call.
    pub fn new(endpoint: &Endpoint) -> Self {
        let client = AgentDoorClient::with_interceptor(endpoint.channel(), endpoint.bearer())
            .max_decoding_message_size(MESSAGE_BYTES)
            .max_encoding_message_size(MESSAGE_BYTES);
        Self { client }
    }

    /// Reads what the agent is owed; with `answers_ask_id` only that ask's answer.
    ///
    /// # Errors
    ///
    /// [`CallError`] that tells a refusal from a broken connection.
    pub async fn fetch(&self, limit: u32, answers_ask_id: &str) -> Result<Fetched, CallError> {
        let request = v1::FetchRequest { limit, answers_ask_id: answers_ask_id.to_owned() };
        let fetched = self.client.clone().fetch(timed(request)).await;
        let fetched = fetched.map_err(|status| calls::failure(&status))?.into_inner();
        let deliveries = fetched.deliveries.into_iter().map(mapping::deliver).collect();
        Ok(Fetched { deliveries, waiting: fetched.waiting })
    }

    /// Acknowledges messages that were taken.
    ///
    /// # Errors
    ///
    /// [`CallError`] that tells a refusal from a broken connection.
    pub async fn acknowledge(&self, message_ids: Vec<String>) -> Result<(), CallError> {
        let request = v1::AcknowledgeRequest { message_ids };
        let done = self.client.clone().acknowledge(timed(request)).await;
        done.map(drop).map_err(|status| calls::failure(&status))
    }
}

#[async_trait]
impl Gateway for AgentDoor {
    async fn call(&self, call_id: &str, call: Call) -> Result<CallResult, CallError> {
        let request = timed(calls::request(call_id, call));
        let result = self.client.clone().call(request).await.map_err(|status| calls::failure(&status))?;
        calls::result(Some(result.into_inner()))
    }
}

fn timed<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(CALL_DEADLINE);
    request
}
