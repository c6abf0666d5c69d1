//! A runner's end of an agent's socket, as far as the agent can tell.

use std::{
    collections::BTreeMap,
    path::Path,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
};

use compass_proto::v1::{
    self, AgentSessionState,
    agent_control::Control,
    agent_frame::Frame,
    agent_gateway_server::{AgentGateway, AgentGatewayServer},
    comms_call_result,
};
use tokio::{net::UnixListener, runtime::Runtime, sync::mpsc};
use tokio_stream::{
    Stream, StreamExt as _,
    wrappers::{UnboundedReceiverStream, UnixListenerStream},
};
use tonic::{Request, Response, Status, Streaming, transport::Server};

use super::until;

type Ops = mpsc::UnboundedSender<Result<v1::AgentControl, Status>>;

#[derive(Default)]
struct State {
    last_seq: u64,
    retained: BTreeMap<u64, v1::AgentControl>,
    subscriber: Option<Ops>,
    frames: Vec<Frame>,
}

/// It keeps every operation until it is acknowledged and every frame for ever.
#[derive(Clone, Default)]
pub(crate) struct Runner(Arc<Mutex<State>>);

impl Runner {
    /// Serves a socket as long as the runtime lives.
    pub(crate) fn serve(socket: &Path, runtime: &Runtime) -> Self {
        let runner = Self::default();
        let _entered = runtime.enter();
        let listener = UnixListenerStream::new(UnixListener::bind(socket).unwrap());
        let service = AgentGatewayServer::new(runner.clone());
        runtime.spawn(async move {
            Server::builder().add_service(service).serve_with_incoming(listener).await.unwrap();
        });
        runner
    }

    /// Says that everything from before is sent.
    pub(crate) fn replay_complete(&self) {
        self.send(Control::ReplayComplete(v1::ReplayComplete {}));
    }

    /// Sends an operation that no version knows yet.
    pub(crate) fn unknown(&self) {
        self.send(None);
    }

    /// Delivers a message that says its id.
    pub(crate) fn deliver(&self, id: &str) {
        self.send(Control::Deliver(v1::DeliverControl {
            message: Some(message(id)),
            topic_name: "t".into(),
            channel_name: "c".into(),
            asker_handle: String::new(),
            from_handle: "ana".into(),
            traceparent: String::new(),
        }));
    }

    /// Interrupts with a message.
    pub(crate) fn steer(&self, id: &str) {
        self.send(Control::Steer(v1::SteerControl {
            message: Some(message(id)),
            ..v1::SteerControl::default()
        }));
    }

    /// Closes the stream of control on purpose.
    pub(crate) fn close(&self) {
        self.state().subscriber = None;
    }

    /// Forgets what the agent of the life before was sent, as a runner does for a new process.
    pub(crate) fn new_life(&self) {
        let mut state = self.state();
        state.retained.clear();
        state.subscriber = None;
    }

    /// Every message that was acknowledged, as often as it was.
    pub(crate) fn acknowledged(&self) -> Vec<String> {
        let acked = |frame: &Frame| match frame {
            Frame::DeliveryAck(ack) => Some(ack.message_id.clone()),
            _ => None,
        };
        self.state().frames.iter().filter_map(acked).collect()
    }

    /// Every state that was reported.
    pub(crate) fn states(&self) -> Vec<AgentSessionState> {
        let state = |frame: &Frame| match frame {
            Frame::Session(frame) => Some(frame.state()),
            _ => None,
        };
        self.state().frames.iter().filter_map(state).collect()
    }

    /// Operations that are not acknowledged.
    pub(crate) fn retained(&self) -> usize {
        self.state().retained.len()
    }

    /// Waits until a message was acknowledged this often.
    pub(crate) async fn until_acknowledged(&self, id: &str, times: usize) {
        until(&format!("acknowledgement {times} of {id}"), async || {
            let acked = self.acknowledged().iter().filter(|acked| *acked == id).count();
            (acked >= times).then_some(())
        })
        .await;
    }

    fn send(&self, control: impl Into<Option<Control>>) {
        let mut state = self.state();
        state.last_seq += 1;
        let op = v1::AgentControl { control_seq: state.last_seq, control: control.into() };
        state.retained.insert(op.control_seq, op.clone());
        if let Some(subscriber) = &state.subscriber {
            let _ = subscriber.send(Ok(op));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

fn message(id: &str) -> v1::Message {
    let block = Some(v1::message_block::Block::Text(format!("text of {id}")));
    v1::Message { id: id.into(), blocks: vec![v1::MessageBlock { block }], ..v1::Message::default() }
}

#[tonic::async_trait]
impl AgentGateway for Runner {
    async fn comms(
        &self,
        request: Request<v1::CommsCallRequest>,
    ) -> Result<Response<v1::CommsCallResult>, Status> {
        let call_id = request.into_inner().call_id;
        let result = Some(comms_call_result::Result::SetStatus(v1::SetAgentStatusResponse {}));
        Ok(Response::new(v1::CommsCallResult { call_id, result, ..Default::default() }))
    }

    async fn publish(
        &self,
        request: Request<Streaming<v1::PublishFrameRequest>>,
    ) -> Result<Response<v1::PublishFrameResponse>, Status> {
        let mut stream = request.into_inner();
        while let Some(request) = stream.next().await {
            let Some(frame) = request?.frame.and_then(|frame| frame.frame) else { continue };
            let mut state = self.state();
            if let Frame::ControlAck(ack) = &frame {
                state.retained.retain(|seq, _| *seq > ack.acked_seq && !ack.applied_above.contains(seq));
            }
            state.frames.push(frame);
        }
        Ok(Response::new(v1::PublishFrameResponse {}))
    }

    type ControlStream = Pin<Box<dyn Stream<Item = Result<v1::AgentControl, Status>> + Send>>;

    async fn control(
        &self,
        _: Request<v1::ControlSubscribeRequest>,
    ) -> Result<Response<Self::ControlStream>, Status> {
        let (ops, stream) = mpsc::unbounded_channel();
        let mut state = self.state();
        for op in state.retained.values() {
            let _ = ops.send(Ok(op.clone()));
        }
        state.subscriber = Some(ops);
        drop(state);
        Ok(Response::new(Box::pin(UnboundedReceiverStream::new(stream))))
    }
}
