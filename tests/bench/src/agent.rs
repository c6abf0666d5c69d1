//! An attached agent: the least of a runner that the server accepts.

use std::time::Duration;

use compass_proto::v1::{
    self, agent_control::Control, agent_frame::Frame, comms_call_request::Call,
    comms_call_result::Result as Outcome, runner_service_client::RunnerServiceClient,
    sessions_request::Result as Reply, sessions_response::Command,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::task::TaskTracker;
use tonic::{
    Request, Status, Streaming,
    metadata::{Ascii, MetadataValue},
    service::{Interceptor, interceptor::InterceptedService},
    transport::Channel,
};

use crate::BenchError;

/// Frames, results and deliveries that wait at the most.
const QUEUE: usize = 1024;
/// How long a session has to start.
const START: Duration = Duration::from_secs(30);

/// A connection with the caller's token on every call.
pub(crate) type Carrier = InterceptedService<Channel, Bearer>;

/// Puts a token on every call.
#[derive(Clone)]
pub(crate) struct Bearer(MetadataValue<Ascii>);

impl Bearer {
    pub(crate) fn new(token: &str) -> Result<Self, BenchError> {
        let value = format!("Bearer {token}").parse();
        value.map(Self).map_err(|_| BenchError::Broken("a token holds characters that no token has"))
    }
}

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.0.clone());
        Ok(request)
    }
}

/// An agent with a live session. Its deliveries wait in a queue; it acknowledges what it is told to.
pub(crate) struct Agent {
    door: RunnerServiceClient<Carrier>,
    session: String,
    /// The channel it talks in.
    pub(crate) channel: String,
    deliveries: mpsc::Receiver<v1::Message>,
    calls: u64,
}

/// Acknowledgements under way on one stream.
pub(crate) struct Receipts {
    frames: mpsc::Sender<v1::PublishEventsRequest>,
    taken: tokio::task::JoinHandle<Result<(), Status>>,
    session: String,
    seq: u64,
}

impl Agent {
    /// Enrols, opens the command stream and waits for the session.
    pub(crate) async fn attach(
        carrier: Carrier,
        channel: String,
        instance: String,
        tasks: &TaskTracker,
    ) -> Result<Self, BenchError> {
        let mut door = RunnerServiceClient::new(carrier);
        let enroll = v1::EnrollRequest { instance_id: instance.clone(), ..v1::EnrollRequest::default() };
        door.enroll(enroll).await?;
        let (results, queued) = mpsc::channel(QUEUE);
        let hello = v1::SessionsRequest { instance_id: instance, ..v1::SessionsRequest::default() };
        results.send(hello).await.map_err(|_| BenchError::Broken("the command stream closed"))?;
        let commands = door.sessions(ReceiverStream::new(queued)).await?.into_inner();
        let (tell, deliveries) = mpsc::channel(QUEUE);
        let (started, mut session) = mpsc::channel(1);
        tasks.spawn(obey(commands, results, tell, started));
        let session = tokio::time::timeout(START, session.recv()).await;
        let session = session.map_err(|_| BenchError::Stuck("the start of a session".to_owned()))?;
        let session =
            session.ok_or(BenchError::Broken("the command stream ended before a session started"))?;
        Ok(Self { door, session, channel, deliveries, calls: 0 })
    }

    /// Posts an ask in its home channel; returns the ask's id.
    pub(crate) async fn ask(&mut self, post: v1::PostMessageRequest) -> Result<String, BenchError> {
        self.calls += 1;
        let call = v1::CommsCallRequest {
            call_id: self.calls.to_string(),
            call: Some(Call::Post(post)),
            ..v1::CommsCallRequest::default()
        };
        let request = v1::RelayCommsCallRequest { session_id: self.session.clone(), call: Some(call) };
        let reply = self.door.relay_comms_call(request).await?.into_inner();
        let Some(Outcome::Post(posted)) = reply.result.and_then(|result| result.result) else {
            return Err(BenchError::Broken("an ask was refused"));
        };
        let blocks = posted.message.unwrap_or_default().blocks;
        let ask = blocks.into_iter().find_map(|block| match block.block {
            Some(v1::message_block::Block::Ask(ask)) => Some(ask.ask_id),
            _ => None,
        });
        ask.ok_or(BenchError::Broken("a posted ask came back without an ask"))
    }

    /// Waits for the delivery that `wanted` accepts; returns the message's id.
    pub(crate) async fn delivered(
        &mut self,
        wanted: impl Fn(&v1::Message) -> bool,
    ) -> Result<String, BenchError> {
        loop {
            let message = self.deliveries.recv().await;
            let message = message.ok_or(BenchError::Broken("the command stream ended"))?;
            if wanted(&message) {
                return Ok(message.id);
            }
        }
    }

    /// Opens a stream for acknowledgements.
    pub(crate) fn receipts(&self, tasks: &TaskTracker) -> Receipts {
        let (frames, queued) = mpsc::channel(QUEUE);
        let mut door = self.door.clone();
        let publish = async move { door.publish_events(ReceiverStream::new(queued)).await.map(drop) };
        Receipts { frames, taken: tasks.spawn(publish), session: self.session.clone(), seq: 0 }
    }

    /// Acknowledges one message and returns when that is durable.
    pub(crate) async fn acknowledge(&mut self, message: String) -> Result<(), BenchError> {
        let frame = receipt(self.session.clone(), 1, message);
        self.door.publish_events(tokio_stream::once(frame)).await?;
        Ok(())
    }
}

impl Receipts {
    /// Acknowledges a message; [`Receipts::finish`] says that it is durable.
    pub(crate) async fn acknowledge(&mut self, message: String) -> Result<(), BenchError> {
        self.seq += 1;
        let frame = receipt(self.session.clone(), self.seq, message);
        self.frames.send(frame).await.map_err(|_| BenchError::Broken("the stream of receipts closed"))
    }

    /// Waits until every acknowledgement is durable.
    pub(crate) async fn finish(self) -> Result<(), BenchError> {
        drop(self.frames);
        let taken = self.taken.await.map_err(|_| BenchError::Broken("the task of the receipts failed"))?;
        Ok(taken?)
    }
}

fn receipt(session_id: String, runner_seq: u64, message_id: String) -> v1::PublishEventsRequest {
    let frame = Frame::DeliveryAck(v1::DeliveryAck { message_id });
    v1::PublishEventsRequest {
        runner_seq,
        session_id,
        frame: Some(v1::AgentFrame { frame: Some(frame) }),
        idempotency_key: String::new(),
    }
}

/// Follows the command stream until either side ends it.
async fn obey(
    mut commands: Streaming<v1::SessionsResponse>,
    results: mpsc::Sender<v1::SessionsRequest>,
    tell: mpsc::Sender<v1::Message>,
    started: mpsc::Sender<String>,
) {
    while let Ok(Some(command)) = commands.message().await {
        let going = match command.command {
            Some(Command::Start(start)) => {
                let reply =
                    Reply::Start(v1::StartAgentSessionResponse { session_id: start.session_id.clone() });
                let result = v1::SessionsRequest {
                    request_id: command.request_id,
                    result: Some(reply),
                    ..v1::SessionsRequest::default()
                };
                results.send(result).await.is_ok() && started.send(start.session_id).await.is_ok()
            }
            Some(Command::DeliverControl(control)) => match delivered(control) {
                Some(message) => tell.send(message).await.is_ok(),
                None => true,
            },
            _ => true,
        };
        if !going {
            return;
        }
    }
}

fn delivered(control: v1::DispatchControl) -> Option<v1::Message> {
    match control.op?.control? {
        Control::Deliver(deliver) => deliver.message,
        Control::Steer(steer) => steer.message,
        Control::Prompt(_) | Control::ReplayComplete(_) => None,
    }
}
