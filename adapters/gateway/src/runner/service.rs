//! What an agent finds at its socket. The socket says who it is; nothing here reads what it says.

use std::{convert::Infallible, sync::Arc};

use compass_proto::v1::{
    self, AgentFrame, AgentSessionState,
    agent_frame::Frame,
    agent_gateway_server::{AgentGateway, AgentGatewayServer},
};
use prost::{Message as _, bytes::Bytes};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::task::TaskTracker;
use tonic::{
    Request, Response, Status, Streaming,
    body::Body,
    codegen::{BoxFuture, Context, Poll, Service, http},
    server::{NamedService, UnaryService},
};

use super::{
    raw::{RawCodec, Relay, deadline},
    seat::Seat,
    uplink::Uplink,
};
use crate::endpoint::MESSAGE_BYTES;

/// The method whose messages are not read.
const COMMS: &str = "/compass.v1.AgentGateway/Comms";
/// What an upstream frame adds to an agent's: session id, number, lengths.
const ENVELOPE_BYTES: usize = 1024;

/// `AgentGateway` for one agent.
#[derive(Clone)]
pub(super) struct Gateway {
    pub(super) seat: Arc<Seat>,
    pub(super) relay: Relay,
    pub(super) uplink: Uplink,
    pub(super) tasks: TaskTracker,
}

impl Gateway {
    async fn forward(&self, request: Request<Bytes>) -> Result<Response<Bytes>, Status> {
        let bound = self.seat.alive()?;
        let deadline = deadline(&request);
        let result = self.relay.call(bound.session_id, request.into_inner(), deadline).await?;
        Ok(Response::new(result))
    }
}

#[tonic::async_trait]
impl AgentGateway for Gateway {
    async fn comms(
        &self,
        request: Request<v1::CommsCallRequest>,
    ) -> Result<Response<v1::CommsCallResult>, Status> {
        let forwarded = self.forward(request.map(|call| call.encode_to_vec().into())).await?;
        let result = v1::CommsCallResult::decode(forwarded.into_inner());
        result.map(Response::new).map_err(|error| Status::internal(error.to_string()))
    }

    async fn publish(
        &self,
        request: Request<Streaming<v1::PublishFrameRequest>>,
    ) -> Result<Response<v1::PublishFrameResponse>, Status> {
        let bound = self.seat.alive()?;
        let mut frames = request.into_inner();
        while let Some(request) = frames.message().await? {
            let Some(frame) = request.frame else { continue };
            match frame.frame {
                Some(Frame::ControlAck(ack)) => bound.life.acknowledge(ack.acked_seq, &ack.applied_above),
                Some(Frame::ReplayCompleteAck(_)) => bound.life.release(),
                Some(Frame::Session(session)) => {
                    if let Some(session) = self.seat.told(&bound, session) {
                        self.up(&bound.session_id, Frame::Session(session)).await?;
                    }
                }
                Some(up @ Frame::DeliveryAck(_)) => self.up(&bound.session_id, up).await?,
                None => {}
            }
        }
        Ok(Response::new(v1::PublishFrameResponse {}))
    }

    type ControlStream = ReceiverStream<Result<v1::AgentControl, Status>>;

    async fn control(
        &self,
        _: Request<v1::ControlSubscribeRequest>,
    ) -> Result<Response<Self::ControlStream>, Status> {
        let life = self.seat.alive()?.life;
        let Some(subscription) = life.subscribe() else { return Err(no_session()) };
        let (out, ops) = mpsc::channel(1);
        self.tasks.spawn(async move { life.drain(subscription, out).await });
        Ok(Response::new(ReceiverStream::new(ops)))
    }
}

impl Gateway {
    async fn up(&self, session_id: &str, frame: Frame) -> Result<(), Status> {
        let frame = AgentFrame { frame: Some(frame) };
        let (bytes, limit) = (frame.encoded_len(), MESSAGE_BYTES - ENVELOPE_BYTES);
        if bytes > limit {
            // One such frame would end the stream that all agents share.
            return Err(Status::resource_exhausted(format!(
                "a frame has {bytes} bytes, the limit is {limit}"
            )));
        }
        if self.uplink.publish(session_id, frame).await {
            Ok(())
        } else {
            Err(Status::unavailable("the runner is ending"))
        }
    }
}

/// What an agent is told that has no session, whatever it asked for.
pub(super) fn no_session() -> Status {
    Status::permission_denied("this agent has no session")
}

/// What of an agent's own word on its session goes up.
///
/// Whether a session begins, is out of reach or is over is the runner's to say: it knows if the program is launched
/// again.
pub(super) fn to_tell(mut frame: v1::SessionFrame) -> Option<v1::SessionFrame> {
    match frame.state() {
        AgentSessionState::Ready | AgentSessionState::Working | AgentSessionState::Unspecified => {}
        AgentSessionState::Starting
        | AgentSessionState::Stopped
        | AgentSessionState::Errored
        | AgentSessionState::Disconnected => frame.set_state(AgentSessionState::Unspecified),
    }
    let says_something = frame.state != AgentSessionState::Unspecified as i32 || frame.typed_event.is_some();
    says_something.then_some(frame)
}

/// The service on the socket: the generated one, with calls taken as bytes.
#[derive(Clone)]
pub(super) struct SocketService {
    gateway: Gateway,
    typed: AgentGatewayServer<Gateway>,
}

impl SocketService {
    pub(super) fn new(gateway: Gateway) -> Self {
        let typed = AgentGatewayServer::new(gateway.clone())
            .max_decoding_message_size(MESSAGE_BYTES)
            .max_encoding_message_size(MESSAGE_BYTES);
        Self { gateway, typed }
    }
}

impl NamedService for SocketService {
    const NAME: &'static str = "compass.v1.AgentGateway";
}

impl Service<http::Request<Body>> for SocketService {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        if request.uri().path() != COMMS {
            return self.typed.call(request);
        }
        let forward = Forward(self.gateway.clone());
        Box::pin(async move {
            let mut grpc = tonic::server::Grpc::new(RawCodec)
                .max_decoding_message_size(MESSAGE_BYTES)
                .max_encoding_message_size(MESSAGE_BYTES);
            Ok(grpc.unary(forward, request).await)
        })
    }
}

struct Forward(Gateway);

impl UnaryService<Bytes> for Forward {
    type Response = Bytes;
    type Future = BoxFuture<Response<Bytes>, Status>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let gateway = self.0.clone();
        Box::pin(async move { gateway.forward(request).await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_says_how_its_turns_are_and_not_whether_its_session_lives() {
        let frame = |state: AgentSessionState, event: Option<v1::SessionEvent>| v1::SessionFrame {
            state: state.into(),
            typed_event: event,
        };
        let event = Some(v1::SessionEvent::default());
        for state in [AgentSessionState::Ready, AgentSessionState::Working] {
            assert_eq!(to_tell(frame(state, None)), Some(frame(state, None)));
        }
        for state in [
            AgentSessionState::Starting,
            AgentSessionState::Stopped,
            AgentSessionState::Errored,
            AgentSessionState::Disconnected,
        ] {
            assert_eq!(to_tell(frame(state, None)), None);
            let kept = Some(frame(AgentSessionState::Unspecified, event.clone()));
            assert_eq!(to_tell(frame(state, event.clone())), kept);
        }
    }
}
