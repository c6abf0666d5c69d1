//! A server as a runner sees it: enrolment, commands, results, frames, calls.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use compass_proto::v1::{
    self,
    agent_control::Control,
    agent_frame::Frame,
    runner_service_server::{RunnerService, RunnerServiceServer},
    sessions_request::Result as Reply,
    sessions_response::Command,
};
use tokio::{
    net::TcpListener,
    sync::{Mutex, Semaphore, mpsc},
};
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::{Request, Response, Status, Streaming, transport::Server};

/// How long anything may take that must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Waits for what must come.
pub(crate) async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("{what} did not come"))
}

/// What a runner sent.
#[derive(Debug)]
pub(crate) enum Heard {
    Enrolled(v1::EnrollRequest),
    /// The stream is open, and commands go this way.
    Opened(mpsc::Sender<Result<v1::SessionsResponse, Status>>),
    Result(v1::SessionsRequest),
    Frame(v1::PublishEventsRequest),
}

/// The server's end, for a test to drive.
pub(crate) struct FakeServer {
    pub(crate) address: SocketAddr,
    heard: mpsc::UnboundedReceiver<Heard>,
    /// Heard and not asked for yet.
    kept: Vec<Heard>,
    commands: Option<mpsc::Sender<Result<v1::SessionsResponse, Status>>>,
    /// A permit for each stream of frames whose end is answered.
    pub(crate) frames_answered: Arc<Semaphore>,
    stop: CancellationToken,
    tasks: TaskTracker,
    requests: u32,
}

struct Door {
    tell: mpsc::UnboundedSender<Heard>,
    refuse: Arc<Mutex<Option<Status>>>,
    frames_answered: Arc<Semaphore>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

#[tonic::async_trait]
impl RunnerService for Door {
    async fn enroll(
        &self,
        request: Request<v1::EnrollRequest>,
    ) -> Result<Response<v1::EnrollResponse>, Status> {
        if let Some(status) = self.refuse.lock().await.clone() {
            return Err(status);
        }
        self.tell.send(Heard::Enrolled(request.into_inner())).unwrap();
        Ok(Response::new(v1::EnrollResponse::default()))
    }

    type SessionsStream = ReceiverStream<Result<v1::SessionsResponse, Status>>;

    async fn sessions(
        &self,
        request: Request<Streaming<v1::SessionsRequest>>,
    ) -> Result<Response<Self::SessionsStream>, Status> {
        let (commands, queued) = mpsc::channel(64);
        let mut results = request.into_inner();
        let hello = results.message().await?.unwrap();
        assert!(!hello.instance_id.is_empty() && hello.result.is_none());
        self.tell.send(Heard::Opened(commands)).unwrap();
        let (tell, stop) = (self.tell.clone(), self.stop.clone());
        self.tasks.spawn(async move {
            loop {
                tokio::select! {
                    result = results.message() => match result {
                        Ok(Some(result)) => drop(tell.send(Heard::Result(result))),
                        _ => return,
                    },
                    () = stop.cancelled() => return,
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(queued)))
    }

    async fn publish_events(
        &self,
        request: Request<Streaming<v1::PublishEventsRequest>>,
    ) -> Result<Response<v1::PublishEventsResponse>, Status> {
        let mut frames = request.into_inner();
        while let Some(frame) = frames.message().await? {
            drop(self.tell.send(Heard::Frame(frame)));
        }
        self.frames_answered.acquire().await.unwrap().forget();
        Ok(Response::new(v1::PublishEventsResponse {}))
    }

    async fn relay_comms_call(
        &self,
        request: Request<v1::RelayCommsCallRequest>,
    ) -> Result<Response<v1::RelayCommsCallResponse>, Status> {
        let request = request.into_inner();
        let call_id = format!("{} as {}", request.call.unwrap().call_id, request.session_id);
        let result = v1::CommsCallResult { call_id, ..Default::default() };
        Ok(Response::new(v1::RelayCommsCallResponse { result: Some(result) }))
    }
}

impl FakeServer {
    pub(crate) async fn start() -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap(), None).await
    }

    /// One that refuses every enrolment.
    pub(crate) async fn refusing(status: Status) -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap(), Some(status)).await
    }

    async fn start_at(address: SocketAddr, refuse: Option<Status>) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, heard) = mpsc::unbounded_channel();
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let refuse = Arc::new(Mutex::new(refuse));
        let frames_answered = Arc::new(Semaphore::new(1000));
        let door = Door {
            tell,
            refuse,
            frames_answered: Arc::clone(&frames_answered),
            tasks: tasks.clone(),
            stop: stop.clone(),
        };
        let server = Server::builder().add_service(RunnerServiceServer::new(door));
        let incoming = TcpListenerStream::new(listener);
        tasks.spawn(server.serve_with_incoming(incoming));
        Self { address, heard, kept: Vec::new(), commands: None, frames_answered, stop, tasks, requests: 0 }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The first thing heard that `pick` takes; the rest is kept for later, in order.
    pub(crate) async fn hear<T>(&mut self, what: &str, mut pick: impl FnMut(&Heard) -> Option<T>) -> T {
        for place in 0..self.kept.len() {
            if let Some(found) = pick(&self.kept[place]) {
                self.kept.remove(place);
                return found;
            }
        }
        in_time(what, async {
            loop {
                let heard = self.heard.recv().await.expect("the server runs");
                if let Some(found) = pick(&heard) {
                    return found;
                }
                self.kept.push(heard);
            }
        })
        .await
    }

    /// Waits until a runner is attached.
    pub(crate) async fn attached(&mut self) -> v1::EnrollRequest {
        let enrolled = self
            .hear("an enrolment", |heard| match heard {
                Heard::Enrolled(request) => Some(request.clone()),
                _ => None,
            })
            .await;
        let commands = self
            .hear("a stream", |heard| match heard {
                Heard::Opened(commands) => Some(commands.clone()),
                _ => None,
            })
            .await;
        self.commands = Some(commands);
        enrolled
    }

    /// Breaks the stream of commands.
    pub(crate) async fn cut(&mut self) {
        let commands = self.commands.take().unwrap();
        drop(commands.send(Err(Status::unavailable("cut"))).await);
    }

    pub(crate) async fn command(&mut self, request_id: &str, command: Command) {
        let command = v1::SessionsResponse { request_id: request_id.to_owned(), command: Some(command) };
        self.commands.as_ref().unwrap().send(Ok(command)).await.unwrap();
    }

    /// Sends a command that this version of the contract does not have.
    pub(crate) async fn send_unknown(&mut self, request_id: &str) {
        let command = v1::SessionsResponse { request_id: request_id.to_owned(), command: None };
        self.commands.as_ref().unwrap().send(Ok(command)).await.unwrap();
    }

    /// The next result of a request.
    pub(crate) async fn result(&mut self, request_id: &str) -> Reply {
        self.hear(&format!("the result of {request_id}"), |heard| match heard {
            Heard::Result(result) if result.request_id == request_id => result.result.clone(),
            _ => None,
        })
        .await
    }

    /// Gives a command and waits for its result.
    pub(crate) async fn ask(&mut self, command: Command) -> Reply {
        self.requests += 1;
        let request_id = format!("request {}", self.requests);
        self.command(&request_id, command).await;
        self.result(&request_id).await
    }

    pub(crate) async fn deliver(&mut self, session: &str, message: &str) {
        let message = Some(v1::Message { id: message.to_owned(), ..Default::default() });
        let op = Control::Deliver(v1::DeliverControl { message, ..Default::default() });
        self.control(session, op).await;
    }

    pub(crate) async fn control(&mut self, session: &str, control: Control) {
        let op = v1::AgentControl { control: Some(control), control_seq: 0 };
        let command = v1::DispatchControl { session_id: session.to_owned(), op: Some(op) };
        self.command("control", Command::DeliverControl(command)).await;
    }

    pub(crate) async fn start_session(&mut self, account: &str, session: &str) -> Reply {
        let request = v1::StartAgentSessionRequest {
            container_name: account.to_owned(),
            session_id: session.to_owned(),
            ..Default::default()
        };
        self.ask(Command::Start(request)).await
    }

    pub(crate) async fn stop_session(&mut self, session: &str) -> Reply {
        self.ask(Command::Stop(v1::StopAgentSessionRequest { session_id: session.to_owned() })).await
    }

    pub(crate) async fn status(&mut self) -> Vec<v1::AgentSessionStatus> {
        match self.ask(Command::Status(v1::GetAgentStatusRequest::default())).await {
            Reply::Status(status) => status.statuses,
            other => panic!("{other:?}"),
        }
    }

    /// The next state a session is said to be in.
    pub(crate) async fn state(&mut self, session: &str) -> v1::AgentSessionState {
        self.hear(&format!("a state of {session}"), |heard| match heard {
            Heard::Frame(frame) if frame.session_id == session => match &frame.frame.as_ref()?.frame {
                Some(Frame::Session(session)) => Some(session.state()),
                _ => None,
            },
            _ => None,
        })
        .await
    }

    /// The next remark about a session, and the state it came with.
    pub(crate) async fn remark(&mut self, session: &str) -> (v1::AgentSessionState, String) {
        self.hear(&format!("a remark about {session}"), |heard| match heard {
            Heard::Frame(frame) if frame.session_id == session => match &frame.frame.as_ref()?.frame {
                Some(Frame::Session(session)) => match session.typed_event.as_ref()?.event.as_ref()? {
                    v1::session_event::Event::Notice(notice) => Some((session.state(), notice.text.clone())),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        })
        .await
    }

    /// Waits until a session is said to be ready.
    pub(crate) async fn ready(&mut self, session: &str) {
        while self.state(session).await != v1::AgentSessionState::Ready {}
    }

    /// The next message a session acknowledged.
    pub(crate) async fn acknowledged(&mut self, session: &str) -> String {
        self.hear(&format!("an acknowledgement of {session}"), |heard| match heard {
            Heard::Frame(frame) if frame.session_id == session => match &frame.frame.as_ref()?.frame {
                Some(Frame::DeliveryAck(ack)) => Some(ack.message_id.clone()),
                _ => None,
            },
            _ => None,
        })
        .await
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.stop.cancel();
        self.tasks.close();
    }
}
