//! The agent's half of its runner's socket: calls, control, and frames.

mod control;
mod frames;

use std::path::Path;

pub(crate) use frames::wire_event;

use async_trait::async_trait;
use compass_agent::ports::{Call, CallError, CallResult, Gateway};
use compass_proto::v1::agent_gateway_client::AgentGatewayClient;
use tonic::{
    Request,
    transport::{Channel, Endpoint},
};

use crate::{
    calls,
    endpoint::{CALL_DEADLINE, EndpointError, MESSAGE_BYTES},
};

/// The socket of one agent; the socket is what tells who calls. Cloning it shares the connection.
#[derive(Debug, Clone)]
pub struct AgentSocket {
    client: AgentGatewayClient<Channel>,
}

impl AgentSocket {
    /// A socket by its path; it is connected to on first use, and again after it broke.
    ///
    /// # Errors
    ///
    /// [`EndpointError`] if the path cannot be the path of a socket.
    pub fn new(path: &Path) -> Result<Self, EndpointError> {
        let bad = |reason: String| EndpointError::Url { url: path.display().to_string(), reason };
        let text = path.to_str().ok_or_else(|| bad("it is not valid UTF-8".to_owned()))?;
        if text.is_empty() {
            return Err(bad("the path is empty".to_owned()));
        }
        let endpoint =
            Endpoint::from_shared(format!("unix:{text}")).map_err(|error| bad(error.to_string()))?;
        let client = AgentGatewayClient::new(endpoint.connect_lazy())
            .max_decoding_message_size(MESSAGE_BYTES)
            .max_encoding_message_size(MESSAGE_BYTES);
        Ok(Self { client })
    }

    fn client(&self) -> AgentGatewayClient<Channel> {
        self.client.clone()
    }
}

#[async_trait]
impl Gateway for AgentSocket {
    async fn call(&self, call_id: &str, call: Call) -> Result<CallResult, CallError> {
        let request = calls::request(call_id, call);
        calls::check_size(&request)?;
        let mut request = Request::new(request);
        request.set_timeout(CALL_DEADLINE);
        let response = self.client().comms(request).await;
        calls::result(Some(response.map_err(|status| calls::failure(&status))?.into_inner()))
    }
}
