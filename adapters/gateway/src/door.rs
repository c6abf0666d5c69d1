//! An agent's calls and mailbox without a session: the server's AgentDoor, with the agent's own token.

use async_trait::async_trait;
use compass_agent::ports::{Call, CallError, CallResult, Gateway, Mailbox, Owed};
use compass_proto::{
    contact::Contact,
    v1::{self, agent_door_client::AgentDoorClient, compass_service_client::CompassServiceClient},
};
use tonic::{Request, service::interceptor::InterceptedService, transport::Channel};

use crate::{
    calls,
    endpoint::{Bearer, CALL_DEADLINE, Endpoint, MESSAGE_BYTES},
    mapping,
};

type Carrier = InterceptedService<Contact<Channel>, Bearer>;

/// The door of one agent. It is connected to on first use and again after it broke; cloning it shares the connection.
#[derive(Clone)]
pub struct AgentDoor {
    agent: AgentDoorClient<Carrier>,
    server: CompassServiceClient<Carrier>,
}

/// The account that a token belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Its id.
    pub account_id: String,
    /// Its handle; empty if the server does not tell.
    pub handle: String,
}

impl AgentDoor {
    /// A door by its address and the agent's token; nothing is connected yet.
    pub fn new(endpoint: &Endpoint) -> Self {
        let carrier = InterceptedService::new(endpoint.channel(), endpoint.bearer());
        let agent = AgentDoorClient::new(carrier.clone())
            .max_decoding_message_size(MESSAGE_BYTES)
            .max_encoding_message_size(MESSAGE_BYTES);
        Self { agent, server: CompassServiceClient::new(carrier) }
    }

    /// The account that the token belongs to.
    ///
    /// # Errors
    ///
    /// [`CallError`] that tells a refusal from a broken connection.
    pub async fn owner(&self) -> Result<Owner, CallError> {
        let reply = self.server.clone().who_am_i(within_deadline(v1::WhoAmIRequest::default())).await;
        let reply = reply.map_err(|status| calls::failure(&status))?.into_inner();
        Ok(Owner { account_id: reply.account_id, handle: reply.handle })
    }
}

#[async_trait]
impl Gateway for AgentDoor {
    async fn call(&self, call_id: &str, call: Call) -> Result<CallResult, CallError> {
        let request = calls::request(call_id, call);
        calls::check_size(&request)?;
        let response = self.agent.clone().call(within_deadline(request)).await;
        calls::result(Some(response.map_err(|status| calls::failure(&status))?.into_inner()))
    }
}

#[async_trait]
impl Mailbox for AgentDoor {
    async fn fetch(&self, limit: u32, answers_ask_id: Option<&str>) -> Result<Owed, CallError> {
        let answers_ask_id = answers_ask_id.unwrap_or_default().to_owned();
        let request = within_deadline(v1::FetchRequest { limit, answers_ask_id });
        let reply = self.agent.clone().fetch(request).await.map_err(|status| calls::failure(&status))?;
        let reply = reply.into_inner();
        let deliveries = reply.deliveries.into_iter().map(mapping::deliver).collect();
        Ok(Owed { deliveries, waiting: reply.waiting })
    }

    async fn acknowledge(&self, message_ids: &[String]) -> Result<(), CallError> {
        let request = within_deadline(v1::AcknowledgeRequest { message_ids: message_ids.to_vec() });
        let reply = self.agent.clone().acknowledge(request).await;
        reply.map(drop).map_err(|status| calls::failure(&status))
    }
}

fn within_deadline<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(CALL_DEADLINE);
    request
}
