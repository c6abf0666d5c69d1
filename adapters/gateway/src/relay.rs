//! Calls through the runner's door, as the agent whose session this link holds.

use async_trait::async_trait;
use compass_agent::ports::{Call, CallError, CallResult, Gateway};
use compass_proto::v1;
use prost::Message as _;
use tonic::Request;

use crate::{
    calls,
    endpoint::{CALL_DEADLINE, MESSAGE_BYTES},
    link::LinkHandle,
};

#[async_trait]
impl Gateway for LinkHandle {
    async fn call(&self, call_id: &str, call: Call) -> Result<CallResult, CallError> {
        let Some(session_id) = self.session() else {
            return Err(CallError::Unreachable("no session is attached".into()));
        };
        let call = Some(calls::request(call_id, call));
        let request = v1::RelayCommsCallRequest { session_id, call };
        // The server would cut the stream instead of answering.
        let size = request.encoded_len();
        if size > MESSAGE_BYTES {
            let message = format!("the call is too long: {size} bytes, the limit is {MESSAGE_BYTES}");
            return Err(CallError::Refused { code: "invalid_argument".to_owned(), message });
        }
        let mut request = Request::new(request);
        request.set_timeout(CALL_DEADLINE);
        let response = self.client().relay_comms_call(request).await;
        calls::result(response.map_err(|status| calls::failure(&status))?.into_inner().result)
    }
}
