//! A server on 127.0.0.1 with an admin, a member and an agent, each with a token.

use std::{
    num::NonZeroU64,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{Extension, Router, extract::State, routing::get};
use compass_comms::{
    Caller, Comms,
    accounts::{
        bootstrap::{Bootstrap, bootstrap},
        create_agent::{CreateAgent, create_agent},
        create_user::{CreateUser, create_user},
    },
    channels::Homes,
    tokens::{issue::issue_account_token, issue::issue_runner_token},
};
use compass_domain::{Account, AccountKind, TenantId, UnixMillis};
use compass_hub::{Hub, HubPorts};
use compass_memory::{MemoryBus, MemoryStorage, MemoryWriter};
use compass_ports::{Clock, EventBus, Ids, Turns, Writer};
use compass_proto::v1::{
    self, agent_door_client::AgentDoorClient, comms_service_client::CommsServiceClient,
    compass_service_client::CompassServiceClient, inbox_service_client::InboxServiceClient,
    message_block::Block, people_service_client::PeopleServiceClient,
    session_service_client::SessionServiceClient,
};
use compass_relay::{
    Connection, Doors, Drained,
    auth::{Auth, Identity, Principal},
    runner::{Counters, RunnerLanes},
    serve, services,
};
use http_body_util::{BodyExt as _, Full};
use hyper_util::{
    client::legacy::Client,
    rt::{TokioExecutor, TokioTimer},
};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::{Code, Request, Response, Status, transport::Channel};

/// Milliseconds at which the fixed clock stands.
const NOW: i64 = 1_700_000_000_000;

pub(crate) struct Server {
    pub(crate) comms: Comms,
    pub(crate) hub: Arc<Hub>,
    pub(crate) url: String,
    pub(crate) channel: Channel,
    pub(crate) stop: CancellationToken,
    pub(crate) admin: Seat,
    pub(crate) member: Seat,
    pub(crate) agent: Seat,
    pub(crate) runner: String,
    pub(crate) sign_in: String,
    pub(crate) serving: JoinHandle<Drained>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) connections: Connections,
}

/// An account and its token.
#[derive(Clone)]
pub(crate) struct Seat {
    pub(crate) account: Account,
    pub(crate) token: String,
}

impl Seat {
    pub(crate) fn id(&self) -> String {
        self.account.id.to_string()
    }

    pub(crate) fn home(&self) -> String {
        match self.account.kind {
            AccountKind::Agent { home_channel, .. } => home_channel.to_string(),
            _ => panic!("only an agent has a home channel"),
        }
    }
}

/// Where the server tells an agent who it is.
pub(crate) const WHO: &str = "/who";

/// The connections that agents' requests came on.
pub(crate) type Connections = Arc<Mutex<Vec<Connection>>>;

async fn who(
    Extension(identity): Extension<Identity>,
    Extension(connection): Extension<Connection>,
    State(connections): State<Connections>,
) -> String {
    connections.lock().unwrap().push(connection);
    match identity.principal() {
        Principal::Account(caller) => caller.actor.id.to_string(),
        Principal::Runner { .. } => panic!("a runner got through"),
    }
}

struct FixedClock(AtomicI64);

impl Clock for FixedClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.0.load(Ordering::SeqCst))
    }
}

#[derive(Default)]
struct Counted(AtomicU64);

impl Counted {
    fn fill<const N: usize>(&self, byte: u8) -> [u8; N] {
        let mut bytes = [byte; N];
        bytes[N - 8..].copy_from_slice(&self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes());
        bytes
    }
}

impl Ids for Counted {
    fn ordered(&self) -> [u8; 16] {
        self.fill(1)
    }

    fn random(&self) -> [u8; 16] {
        self.fill(2)
    }

    fn secret(&self) -> [u8; 32] {
        self.fill(3)
    }
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::start_over(|writer| writer).await
    }

    /// A server whose writer is what `over` makes of the one in memory.
    pub(crate) async fn start_over(over: impl FnOnce(Arc<dyn Writer>) -> Arc<dyn Writer>) -> Self {
        let (comms, hub, lanes, stop) = house(over).await;
        let tenant = TenantId::default_tenant();
        let made = bootstrap(&comms, &tenant, Bootstrap { admin_handle: "root".into() }).await.unwrap();
        let admin = Caller { tenant: tenant.clone(), actor: made.admin.actor() };
        let create = CreateUser { handle: "ann".into(), display_name: "Ann".into() };
        let member = create_user(&comms, &admin, create).await.unwrap();
        let owner = Caller { tenant, actor: member.actor() };
        let create = CreateAgent { handle: "bot".into(), ..Default::default() };
        let agent = create_agent(&comms, &owner, create).await.unwrap();
        let runner = issue_runner_token(&comms, &admin, "r1".into()).await.unwrap().token;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let connections = Connections::default();
        let doors = Doors {
            comms: comms.clone(),
            auth: Auth::new(comms.clone()),
            hub: Arc::clone(&hub),
            lanes,
            version: "1.2.3".into(),
            stop: stop.clone(),
            agents: Some(Router::new().route(WHO, get(who)).with_state(Arc::clone(&connections))),
            fallback: None,
        };
        let services = services(doors).unwrap();
        let counters = Arc::clone(&services.counters);
        let served = serve(listener, services, stop.clone(), Duration::from_secs(5));
        let serving = comms.tasks.spawn(async move { served.await.unwrap() });
        let channel = Channel::from_shared(url.clone()).unwrap().connect().await.unwrap();
        Self {
            admin: seat(&comms, &admin, made.admin).await,
            member: seat(&comms, &admin, member).await,
            agent: seat(&comms, &admin, agent).await,
            sign_in: made.sign_in.unwrap(),
            comms,
            hub,
            url,
            channel,
            stop,
            runner,
            serving,
            counters,
            connections,
        }
    }

    pub(crate) fn conversation(&self) -> CommsServiceClient<Channel> {
        CommsServiceClient::new(self.channel.clone())
    }

    pub(crate) fn server(&self) -> CompassServiceClient<Channel> {
        CompassServiceClient::new(self.channel.clone())
    }

    pub(crate) fn inbox(&self) -> InboxServiceClient<Channel> {
        InboxServiceClient::new(self.channel.clone())
    }

    pub(crate) fn people(&self) -> PeopleServiceClient<Channel> {
        PeopleServiceClient::new(self.channel.clone())
    }

    pub(crate) fn sessions(&self) -> SessionServiceClient<Channel> {
        SessionServiceClient::new(self.channel.clone())
    }

    pub(crate) fn agent_door(&self) -> AgentDoorClient<Channel> {
        AgentDoorClient::new(self.channel.clone())
    }

    /// Posts blocks into topic `t` of the agent's home channel.
    pub(crate) async fn post(
        &self,
        seat: &Seat,
        blocks: Vec<v1::MessageBlock>,
    ) -> Result<v1::Message, Status> {
        let request = post_in(&self.agent.home(), blocks);
        let posted = self.conversation().post_message(with(&seat.token, request)).await?;
        Ok(posted.into_inner().message.unwrap())
    }

    /// The messages of the agent's home channel, newest first.
    pub(crate) async fn listed(&self) -> Vec<v1::Message> {
        let request = v1::ListMessagesRequest {
            container: Some(v1::list_messages_request::Container::ChannelId(self.agent.home())),
            ..Default::default()
        };
        let listed = self.conversation().list_messages(with(&self.member.token, request)).await.unwrap();
        listed.into_inner().messages
    }
}

/// Use cases without a door: an admin and a token of the admin's.
pub(crate) struct House {
    pub(crate) comms: Comms,
    pub(crate) admin: Caller,
    pub(crate) token: String,
}

impl House {
    pub(crate) async fn new() -> Self {
        let (comms, ..) = house(|writer| writer).await;
        let tenant = TenantId::default_tenant();
        let made = bootstrap(&comms, &tenant, Bootstrap { admin_handle: "root".into() }).await.unwrap();
        let admin = Caller { tenant, actor: made.admin.actor() };
        let token = seat(&comms, &admin, made.admin).await.token;
        Self { comms, admin, token }
    }
}

async fn house(
    over: impl FnOnce(Arc<dyn Writer>) -> Arc<dyn Writer>,
) -> (Comms, Arc<Hub>, Arc<RunnerLanes>, CancellationToken) {
    let clock: Arc<dyn Clock> = Arc::new(FixedClock(AtomicI64::new(NOW)));
    let ids: Arc<dyn Ids> = Arc::new(Counted::default());
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let storage = MemoryStorage::new(Arc::clone(&clock));
    let bus: Arc<dyn EventBus> = Arc::new(MemoryBus::new(NonZeroU64::new(7).unwrap(), Arc::clone(&clock)));
    let writer = MemoryWriter::start(storage.clone(), Arc::clone(&bus), &tasks, stop.clone());
    let writer = over(Arc::new(writer));
    let lanes = Arc::new(RunnerLanes::new());
    let hub = Hub::new(HubPorts {
        ledger: Arc::new(storage.clone()),
        audience: Arc::new(storage.clone()),
        placements: Arc::new(storage.clone()),
        overview: Arc::new(storage.clone()),
        lanes: Arc::clone(&lanes) as _,
        launcher: Arc::clone(&lanes) as _,
        writer: Arc::clone(&writer),
        bus: Arc::clone(&bus),
        clock: Arc::clone(&clock),
        ids: Arc::clone(&ids),
        tasks: tasks.clone(),
        stop: stop.clone(),
        node: ids.node(),
    });
    hub.run().await.unwrap();
    let presence = Arc::clone(&hub) as _;
    let comms = Comms {
        storage: Arc::new(storage),
        writer,
        bus,
        presence,
        clock,
        ids,
        tasks,
        homes: Homes::default(),
        turns: Turns::default(),
    };
    (comms, hub, lanes, stop)
}

async fn seat(comms: &Comms, admin: &Caller, account: Account) -> Seat {
    let token = issue_account_token(comms, admin, account.id).await.unwrap().token;
    Seat { account, token }
}

/// A request that carries a token.
pub(crate) fn with<T>(token: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    request
}

pub(crate) fn post_in(channel: &str, blocks: Vec<v1::MessageBlock>) -> v1::PostMessageRequest {
    v1::PostMessageRequest {
        container: Some(v1::post_message_request::Container::ChannelId(channel.to_owned())),
        topic: Some(v1::post_message_request::Topic::TopicName("t".into())),
        blocks,
        ..Default::default()
    }
}

pub(crate) fn text(text: &str) -> v1::MessageBlock {
    v1::MessageBlock { block: Some(Block::Text(text.into())) }
}

pub(crate) fn yes_or_no() -> v1::Ask {
    let option = |id: &str| v1::AskOption { id: id.into(), label: id.into(), ..Default::default() };
    let question = v1::AskQuestion {
        question_id: "q".into(),
        question: "Ship it?".into(),
        options: vec![option("yes"), option("no")],
        ..Default::default()
    };
    v1::Ask { questions: vec![question], ..Default::default() }
}

pub(crate) fn ask_block(ask: v1::Ask) -> v1::MessageBlock {
    v1::MessageBlock { block: Some(Block::Ask(ask)) }
}

/// The ask of a message's first block.
pub(crate) fn ask_of(message: &v1::Message) -> v1::Ask {
    match &message.blocks[0].block {
        Some(Block::Ask(ask)) => ask.clone(),
        other => panic!("not an ask: {other:?}"),
    }
}

pub(crate) fn answer_yes(ask_id: &str) -> v1::RespondToAskRequest {
    let answer = v1::AskQuestionAnswer {
        question_id: "q".into(),
        chosen_option_ids: vec!["yes".into()],
        custom_text: String::new(),
    };
    v1::RespondToAskRequest { ask_id: ask_id.to_owned(), answers: vec![answer] }
}

/// The gRPC code of one call with an encoded message, told by the first thing the server says.
pub(crate) async fn code(server: &Server, path: &str, token: Option<&str>, message: &[u8]) -> Code {
    let client = Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .build_http::<Full<axum::body::Bytes>>();
    let mut frame = vec![0];
    frame.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    frame.extend(message);
    let mut request = http::Request::post(format!("{}{path}", server.url))
        .header("content-type", "application/grpc-web+proto");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let response = client.request(request.body(Full::new(frame.into())).unwrap()).await.unwrap();
    if let Some(status) = response.headers().get("grpc-status") {
        return Code::from_bytes(status.as_bytes());
    }
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.unwrap().into_data() else { continue };
        let text = String::from_utf8_lossy(&data).into_owned();
        return match text.split_once("grpc-status:") {
            Some((_, rest)) => Code::from_bytes(rest.trim_start().split('\r').next().unwrap().as_bytes()),
            None => Code::Ok,
        };
    }
    Code::Ok
}

/// The code and text of a call that must fail.
#[track_caller]
pub(crate) fn refused<T>(result: Result<Response<T>, Status>) -> (Code, String) {
    match result {
        Ok(_) => panic!("the call succeeded"),
        Err(status) => (status.code(), status.message().to_owned()),
    }
}
