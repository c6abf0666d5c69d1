//! Calls through the runner's door, as the agent whose session this link holds.

use async_trait::async_trait;
use compass_agent::ports::{Call, CallError, CallResult, Gateway};
use compass_proto::v1;
use tonic::Request;

use crate::{calls, endpoint::CALL_DEADLINE, link::LinkHandle};

#[async_trait]
impl Gateway for LinkHandle {
    async fn call(&self, call_id: &str, call: Call) -> Result<CallResult, CallError> {
        let Some(session_id) = self.session() else {
            return Err(CallError::Unreachable("no session is attached".into()));
        };
        let call = Some(calls::request(call_id, call));
        let request = v1::RelayCommsCallRequest { session_id, call };
        calls::check_size(&request)?;
        let mut request = Request::new(request);
        request.set_timeout(CALL_DEADLINE);
        let response = self.client().relay_comms_call(request).await;
        calls::result(response.map_err(|status| calls::failure(&status))?.into_inner().result)
    }
}
