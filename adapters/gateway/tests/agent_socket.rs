//! The agent's end of a runner's socket, over a real Unix socket.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    path::PathBuf,
    pin::Pin,
    sync::{Arc, Mutex},
};

use compass_agent::ports::{
    Activity, Call, CallError, CallResult, Control, ControlSource as _, Frame, Gateway as _, Publisher as _,
    SessionEvent, SessionState,
};
use compass_gateway::AgentSocket;
use compass_proto::v1::{
    self, AgentSessionState,
    agent_control::Control as WireControl,
    agent_frame::Frame as WireFrame,
    agent_gateway_server::{AgentGateway, AgentGatewayServer},
    comms_call_request, comms_call_result, session_event,
};
use tokio::{net::UnixListener, task::JoinSet};
use tokio_stream::{Stream, StreamExt as _, wrappers::UnixListenerStream};
use tonic::{Request, Response, Status, Streaming, transport::Server};

/// A runner that answers one kind of call, sends a fixed stream and keeps what it is handed.
#[derive(Clone, Default)]
struct Runner {
    control: Arc<Mutex<Vec<Result<v1::AgentControl, Status>>>>,
    batches: Arc<Mutex<Vec<Vec<WireFrame>>>>,
    refuses_frames: bool,
}

#[tonic::async_trait]
impl AgentGateway for Runner {
    async fn comms(
        &self,
        request: Request<v1::CommsCallRequest>,
    ) -> Result<Response<v1::CommsCallResult>, Status> {
        let request = request.into_inner();
        let result = match request.call {
            Some(comms_call_request::Call::SetStatus(_)) => {
                comms_call_result::Result::SetStatus(v1::SetAgentStatusResponse {})
            }
            Some(comms_call_request::Call::CancelAsk(_)) => {
                return Err(Status::permission_denied("the agent has no session"));
            }
            _ => comms_call_result::Result::Error(v1::CommsCallError {
                code: "not_found".into(),
                message: "no such channel".into(),
            }),
        };
        Ok(Response::new(v1::CommsCallResult {
            call_id: request.call_id,
            result: Some(result),
            ..Default::default()
        }))
    }

    async fn publish(
        &self,
        request: Request<Streaming<v1::PublishFrameRequest>>,
    ) -> Result<Response<v1::PublishFrameResponse>, Status> {
        if self.refuses_frames {
            return Err(Status::unavailable("not now"));
        }
        let mut stream = request.into_inner();
        let mut batch = Vec::new();
        while let Some(request) = stream.next().await {
            batch.extend(request?.frame.and_then(|frame| frame.frame));
        }
        self.batches.lock().expect("not poisoned").push(batch);
        Ok(Response::new(v1::PublishFrameResponse {}))
    }

    type ControlStream = Pin<Box<dyn Stream<Item = Result<v1::AgentControl, Status>> + Send>>;

    async fn control(
        &self,
        _: Request<v1::ControlSubscribeRequest>,
    ) -> Result<Response<Self::ControlStream>, Status> {
        let ops = std::mem::take(&mut *self.control.lock().expect("not poisoned"));
        Ok(Response::new(Box::pin(tokio_stream::iter(ops))))
    }
}

struct World {
    socket: AgentSocket,
    _folder: tempfile::TempDir,
    _tasks: JoinSet<()>,
}

fn world(runner: Runner) -> World {
    let folder = tempfile::tempdir().expect("a folder");
    // A name that would mean something in an address.
    let path = folder.path().join("agent 50%.sock");
    let incoming = UnixListenerStream::new(UnixListener::bind(&path).expect("bound"));
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let server = Server::builder().add_service(AgentGatewayServer::new(runner));
        server.serve_with_incoming(incoming).await.expect("served");
    });
    World { socket: AgentSocket::new(&path).expect("a path"), _folder: folder, _tasks: tasks }
}

fn op(control_seq: u64, control: Option<WireControl>) -> v1::AgentControl {
    v1::AgentControl { control_seq, control }
}

#[tokio::test]
async fn a_call_comes_back_and_a_refusal_in_band_or_not_keeps_its_code() {
    let world = world(Runner::default());
    let status = Call::SetStatus { activity: "a".into() };
    assert_eq!(world.socket.call("1", status).await, Ok(CallResult::SetStatus));
    let list = Call::List {
        channel: compass_agent::ports::Channel::Home,
        topic: None,
        limit: 0,
        before_message_id: String::new(),
    };
    let refused =
        |code: &str, message: &str| Err(CallError::Refused { code: code.into(), message: message.into() });
    assert_eq!(world.socket.call("2", list).await, refused("not_found", "no such channel"));
    let cancel = Call::CancelAsk { ask_id: "a".into() };
    let no_session = refused("permission_denied", "the agent has no session");
    assert_eq!(world.socket.call("3", cancel).await, no_session);
    let long = Call::SetStatus { activity: "x".repeat(5 << 20) };
    assert!(
        matches!(world.socket.call("4", long).await, Err(CallError::Refused { code, .. }) if code == "invalid_argument")
    );
}

#[tokio::test]
async fn a_socket_that_is_not_there_is_unreachable_and_a_path_that_cannot_be_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = AgentSocket::new(&folder.path().join("none.sock")).expect("a path");
    let call = Call::CancelAsk { ask_id: "a".into() };
    assert!(matches!(socket.call("1", call).await, Err(CallError::Unreachable(_))));
    assert!(socket.open().await.is_err());
    assert!(socket.publish(&[Frame::ReplayCompleteAck]).await.is_err());
    assert!(AgentSocket::new(&PathBuf::new()).is_err());
}

#[tokio::test]
async fn control_comes_as_it_was_sent_until_a_clean_close_or_a_break() {
    let message = Some(v1::Message { id: "m".into(), ..v1::Message::default() });
    let deliver = v1::DeliverControl { message, topic_name: "t".into(), ..v1::DeliverControl::default() };
    let ops = [
        op(1, Some(WireControl::ReplayComplete(v1::ReplayComplete {}))),
        op(2, Some(WireControl::Prompt(v1::PromptControl { input: "go".into() }))),
        op(3, Some(WireControl::Deliver(deliver))),
        op(4, None),
    ];
    let broken = vec![Err(Status::unavailable("gone"))];
    let runner = Runner { control: Arc::new(Mutex::new(ops.map(Ok).into())), ..Runner::default() };
    let world = world(runner.clone());
    let mut stream = world.socket.open().await.expect("open");
    let mut seen = Vec::new();
    while let Some(op) = stream.next().await.expect("well") {
        seen.push(op);
    }
    assert_eq!(seen.iter().map(|op| op.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(seen[0].control, Control::ReplayComplete);
    assert_eq!(seen[1].control, Control::Prompt("go".into()));
    let Control::Message(delivery) = &seen[2].control else { panic!("a message") };
    assert_eq!((delivery.message.id.as_str(), delivery.topic_name.as_str()), ("m", "t"));
    assert_eq!(seen[3].control, Control::Unknown);
    *runner.control.lock().expect("not poisoned") = broken;
    let mut stream = world.socket.open().await.expect("open");
    assert!(stream.next().await.is_err());
}

#[tokio::test]
async fn a_batch_of_frames_is_one_stream_in_order_and_a_refused_one_is_an_error() {
    let runner = Runner::default();
    let world = world(runner.clone());
    let activity = Activity::Text { text: "hi".into() };
    let frames = [
        Frame::State(SessionState::Working),
        Frame::DeliveryAck { message_id: "m".into() },
        Frame::ControlAck { acked_seq: 2, applied_above: vec![4] },
        Frame::ReplayCompleteAck,
        Frame::Event(SessionEvent { id: "e".into(), at_unix_ms: 5, activity }),
    ];
    world.socket.publish(&frames).await.expect("published");
    let batches = runner.batches.lock().expect("not poisoned").clone();
    let [batch] = batches.as_slice() else { panic!("one stream") };
    assert!(matches!(&batch[0], WireFrame::Session(frame) if frame.state() == AgentSessionState::Working));
    assert!(matches!(&batch[1], WireFrame::DeliveryAck(ack) if ack.message_id == "m"));
    assert!(
        matches!(&batch[2], WireFrame::ControlAck(ack) if ack.acked_seq == 2 && ack.applied_above == [4])
    );
    assert!(matches!(&batch[3], WireFrame::ReplayCompleteAck(_)));
    let WireFrame::Session(frame) = &batch[4] else { panic!("an event") };
    let event = frame.typed_event.as_ref().expect("an event");
    assert_eq!((event.event_id.as_str(), event.at_unix_ms), ("e", 5));
    assert!(matches!(&event.event, Some(session_event::Event::AssistantText(said)) if said.text == "hi"));

    let refusing = self::world(Runner { refuses_frames: true, ..Runner::default() });
    assert!(refusing.socket.publish(&frames).await.is_err());
}
