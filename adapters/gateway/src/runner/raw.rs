//! Calls as bytes: what an agent sends reaches the server, and the answer the agent, without being read here.
//!
//! A call or a result that this build does not know passes unchanged.

use std::time::Duration;

use compass_proto::contact::Contact;
use prost::{
    Message as _,
    bytes::{Buf as _, BufMut as _, Bytes},
};
use tonic::{
    Request, Status,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
    codegen::http::uri::PathAndQuery,
    service::interceptor::InterceptedService,
    transport::Channel,
};

use crate::endpoint::{Bearer, CALL_DEADLINE, Endpoint, MESSAGE_BYTES};

/// The method that makes a call as the agent of a session.
const RELAY: &str = "/compass.v1.RunnerService/RelayCommsCall";

/// Takes messages for what they are on the wire.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RawCodec;

impl Codec for RawCodec {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for RawCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        into.put(item);
        Ok(())
    }
}

impl Decoder for RawCodec {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

/// `RelayCommsCallRequest` with its call unread.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct RawRequest {
    #[prost(string, tag = "1")]
    pub(super) session_id: String,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub(super) call: Option<Bytes>,
}

/// `RelayCommsCallResponse` with its result unread.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct RawResponse {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub(super) result: Option<Bytes>,
}

/// Calls at the server as the agents of sessions.
#[derive(Clone)]
pub(super) struct Relay {
    channel: InterceptedService<Contact<Channel>, Bearer>,
}

impl Relay {
    pub(super) fn new(endpoint: &Endpoint) -> Self {
        Self { channel: InterceptedService::new(endpoint.channel(), endpoint.bearer()) }
    }

    /// Makes the call as the agent of `session`, for as long as the agent is willing to wait.
    ///
    /// # Errors
    ///
    /// The server's own, or `Internal` if it gave no result.
    pub(super) async fn call(
        &self,
        session: String,
        call: Bytes,
        deadline: Option<Duration>,
    ) -> Result<Bytes, Status> {
        let mut grpc = tonic::client::Grpc::new(self.channel.clone())
            .max_decoding_message_size(MESSAGE_BYTES)
            .max_encoding_message_size(MESSAGE_BYTES);
        grpc.ready().await.map_err(|error| Status::unavailable(format!("the server: {error}")))?;
        let body = RawRequest { session_id: session, call: Some(call) }.encode_to_vec();
        let mut request = Request::new(Bytes::from(body));
        request.set_timeout(deadline.unwrap_or(CALL_DEADLINE));
        let path = PathAndQuery::from_static(RELAY);
        let response = grpc.unary(request, path, RawCodec).await.map_err(|status| passed_on(&status))?;
        let decoded = RawResponse::decode(response.into_inner())
            .map_err(|error| Status::internal(format!("the server's answer cannot be read: {error}")))?;
        decoded.result.ok_or_else(|| Status::internal("the server gave no result"))
    }
}

/// The same failure without the connection it came over.
fn passed_on(status: &Status) -> Status {
    Status::with_details(status.code(), status.message(), Bytes::copy_from_slice(status.details()))
}

/// How long a caller is willing to wait, by its `grpc-timeout`.
pub(super) fn deadline<T>(request: &Request<T>) -> Option<Duration> {
    let value = request.metadata().get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = value.split_at_checked(value.len().checked_sub(1)?)?;
    let amount: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(amount.saturating_mul(3600))),
        "M" => Some(Duration::from_secs(amount.saturating_mul(60))),
        "S" => Some(Duration::from_secs(amount)),
        "m" => Some(Duration::from_millis(amount)),
        "u" => Some(Duration::from_micros(amount)),
        "n" => Some(Duration::from_nanos(amount)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use compass_proto::v1;

    use super::*;

    #[test]
    fn the_unread_forms_are_the_contracts_on_the_wire() {
        let call = v1::CommsCallRequest { call_id: "c".into(), ..v1::CommsCallRequest::default() };
        let typed = v1::RelayCommsCallRequest { session_id: "s".into(), call: Some(call.clone()) };
        let raw = RawRequest { session_id: "s".into(), call: Some(call.encode_to_vec().into()) };
        assert_eq!(typed.encode_to_vec(), raw.encode_to_vec());
        let result = v1::CommsCallResult { call_id: "c".into(), ..Default::default() };
        let typed = v1::RelayCommsCallResponse { result: Some(result.clone()) };
        let raw = RawResponse { result: Some(result.encode_to_vec().into()) };
        assert_eq!(typed.encode_to_vec(), raw.encode_to_vec());
    }

    #[test]
    fn a_deadline_is_read_in_every_unit() {
        for (text, expected) in [
            ("2H", Some(Duration::from_hours(2))),
            ("3M", Some(Duration::from_mins(3))),
            ("4S", Some(Duration::from_secs(4))),
            ("5m", Some(Duration::from_millis(5))),
            ("6u", Some(Duration::from_micros(6))),
            ("7n", Some(Duration::from_nanos(7))),
            ("7x", None),
            ("m", None),
            ("", None),
        ] {
            let mut request = Request::new(());
            request.metadata_mut().insert("grpc-timeout", text.parse().unwrap());
            assert_eq!(deadline(&request), expected, "{text}");
        }
        assert_eq!(deadline(&Request::new(())), None);
    }
}
