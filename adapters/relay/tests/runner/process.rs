//! A process of a runner, as far as its own words on the wire.

use std::time::Duration;

use compass_comms::{
    Caller,
    accounts::create_agent::{CreateAgent, create_agent},
    tokens::issue::issue_account_token,
};
use compass_domain::TenantId;
use compass_proto::v1::{
    self, AgentSessionState, agent_control::Control, agent_frame::Frame,
    runner_service_client::RunnerServiceClient, sessions_request::Result as Outcome,
    sessions_response::Command,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming, transport::Channel};

use crate::support::{Seat, Server, with};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Process {
    pub(crate) client: RunnerServiceClient<Channel>,
    pub(crate) token: String,
    pub(crate) session: String,
    pub(crate) results: mpsc::Sender<v1::SessionsRequest>,
    pub(crate) commands: Streaming<v1::SessionsResponse>,
}

pub(crate) fn client(server: &Server) -> RunnerServiceClient<Channel> {
    RunnerServiceClient::new(server.channel.clone())
}

pub(crate) fn enrolment(instance: &str) -> v1::EnrollRequest {
    v1::EnrollRequest { instance_id: instance.into(), ..Default::default() }
}

/// A second agent of the member's.
pub(crate) async fn second_agent(server: &Server) -> Seat {
    let tenant = TenantId::default_tenant();
    let owner = Caller { tenant, actor: server.member.account.actor() };
    let create = CreateAgent { handle: "other".into(), ..Default::default() };
    let account = create_agent(&server.comms, &owner, create).await.unwrap();
    let token = issue_account_token(&server.comms, &owner, account.id).await.unwrap().token;
    Seat { account, token }
}

impl Process {
    /// Enrolls, opens the stream and answers the start.
    pub(crate) async fn attach(server: &Server, token: &str, instance: &str) -> Self {
        let mut process = Self::open(server, token, instance).await;
        process.start().await;
        process
    }

    /// Enrolls and opens the stream.
    pub(crate) async fn open(server: &Server, token: &str, instance: &str) -> Self {
        client(server).enroll(with(token, enrolment(instance))).await.unwrap();
        Self::stream(server, token, instance).await.unwrap()
    }

    /// Opens the stream.
    pub(crate) async fn stream(server: &Server, token: &str, instance: &str) -> Result<Self, Status> {
        let (results, queued) = mpsc::channel(64);
        let first = v1::SessionsRequest { instance_id: instance.into(), ..Default::default() };
        results.send(first).await.unwrap();
        let mut client = client(server);
        let commands = client.sessions(with(token, ReceiverStream::new(queued))).await?.into_inner();
        Ok(Self { client, token: token.to_owned(), session: String::new(), results, commands })
    }

    /// Takes the start and answers it.
    pub(crate) async fn start(&mut self) -> v1::StartAgentSessionRequest {
        let (request_id, start) = self.take_start().await;
        let started = v1::StartAgentSessionResponse { session_id: self.session.clone() };
        self.answer(request_id, Outcome::Start(started)).await;
        start
    }

    /// Takes the start and leaves it unanswered.
    pub(crate) async fn take_start(&mut self) -> (String, v1::StartAgentSessionRequest) {
        let command = self.next().await.unwrap();
        let Some(Command::Start(start)) = command.command else { panic!("not a start") };
        self.session.clone_from(&start.session_id);
        (command.request_id, start)
    }

    pub(crate) async fn answer(&self, request_id: String, outcome: Outcome) {
        let result = v1::SessionsRequest { request_id, result: Some(outcome), ..Default::default() };
        self.results.send(result).await.unwrap();
    }

    /// The next command, or how the stream ended.
    pub(crate) async fn next(&mut self) -> Result<v1::SessionsResponse, Status> {
        let next = tokio::time::timeout(PATIENCE, self.commands.message()).await;
        next.expect("something comes")?.ok_or_else(|| Status::ok("the stream ended"))
    }

    /// The next delivered message.
    pub(crate) async fn delivered(&mut self) -> v1::DeliverControl {
        let Some(Command::DeliverControl(control)) = self.next().await.unwrap().command else {
            panic!("not control")
        };
        assert_eq!(control.session_id, self.session);
        match control.op.unwrap().control.unwrap() {
            Control::Deliver(deliver) => deliver,
            other => panic!("not a deliver: {other:?}"),
        }
    }

    /// How the stream ended, past what was queued.
    pub(crate) async fn end(&mut self) -> Status {
        loop {
            if let Err(end) = self.next().await {
                return end;
            }
        }
    }

    /// Publishes frames as `session` and waits until they are taken in.
    pub(crate) async fn publish_as(&mut self, session: &str, frames: Vec<Frame>) {
        let frames: Vec<_> = (1..).zip(frames).map(|(seq, frame)| published(seq, session, frame)).collect();
        self.client.publish_events(with(&self.token, tokio_stream::iter(frames))).await.unwrap();
    }

    pub(crate) async fn publish(&mut self, frames: Vec<Frame>) {
        let session = self.session.clone();
        self.publish_as(&session, frames).await;
    }

    /// Relays a call as `session`.
    pub(crate) async fn relay_as(
        &mut self,
        session: &str,
        call: v1::CommsCallRequest,
    ) -> Result<v1::CommsCallResult, Status> {
        let request = v1::RelayCommsCallRequest { session_id: session.into(), call: Some(call) };
        let relayed = self.client.relay_comms_call(with(&self.token, request)).await?;
        Ok(relayed.into_inner().result.unwrap())
    }
}

pub(crate) fn published(seq: u64, session: &str, frame: Frame) -> v1::PublishEventsRequest {
    v1::PublishEventsRequest {
        runner_seq: seq,
        session_id: session.into(),
        frame: Some(v1::AgentFrame { frame: Some(frame) }),
        idempotency_key: String::new(),
    }
}

pub(crate) fn receipt(message_id: &str) -> Frame {
    Frame::DeliveryAck(v1::DeliveryAck { message_id: message_id.into() })
}

pub(crate) fn state(state: AgentSessionState) -> Frame {
    Frame::Session(v1::SessionFrame { state: state.into(), typed_event: None })
}

/// How many messages the agent of a token is owed.
pub(crate) async fn owed(server: &Server, token: &str) -> usize {
    let fetched = server.agent_door().fetch(with(token, v1::FetchRequest::default())).await.unwrap();
    fetched.into_inner().deliveries.len()
}
