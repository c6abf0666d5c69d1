//! The other end: an agent of the official library that hands everything to the test.

use agent_client_protocol::{
    Agent, Client, Error, Lines, on_receive_notification, on_receive_request,
    schema::ProtocolVersion,
    v1::{
        ConnectionTo, Responder,
        schema::{
            AgentCapabilities, AuthMethod, AuthMethodAgent, CancelNotification, ContentBlock, ContentChunk,
            Implementation, InitializeRequest, InitializeResponse, LoadSessionRequest, LoadSessionResponse,
            NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, ResumeSessionRequest,
            ResumeSessionResponse, SessionCapabilities, SessionNotification, SessionResumeCapabilities,
            SessionUpdate, StopReason, TextContent,
        },
    },
};
use tokio::{
    io::{BufReader, DuplexStream},
    sync::mpsc,
    task::JoinSet,
};

use super::super::lines;

pub(super) const SESSION: &str = "session 1";

/// What the agent can, and how it fails.
#[derive(Debug, Clone, Default)]
pub(super) struct Abilities {
    pub(super) loads: bool,
    pub(super) resumes: bool,
    /// Refuses to go on with a conversation.
    pub(super) forgets: bool,
    pub(super) needs_sign_in: bool,
    /// Never answers `initialize`.
    pub(super) silent: bool,
    /// The id of new conversations, if not the usual one.
    pub(super) session: Option<&'static str>,
}

/// What the agent got.
#[derive(Debug)]
pub(super) enum Got {
    Initialize(Box<InitializeRequest>),
    New(Box<NewSessionRequest>),
    Load(String),
    Resume(String),
    Prompt(String, Ends),
    Cancel,
}

/// Ends a turn.
#[derive(Debug)]
pub(super) struct Ends(Box<Responder<PromptResponse>>);

impl Ends {
    pub(super) fn with(self, reason: StopReason) {
        self.0.respond(PromptResponse::new(reason)).unwrap();
    }

    pub(super) fn well(self) {
        self.with(StopReason::EndTurn);
    }

    pub(super) fn failing(self, error: Error) {
        self.0.respond_with_error(error).unwrap();
    }
}

pub(super) struct Peer {
    pub(super) got: mpsc::UnboundedReceiver<Got>,
    connected: tokio::sync::watch::Receiver<Option<ConnectionTo<Client>>>,
    running: JoinSet<()>,
}

impl Peer {
    pub(super) fn start(abilities: Abilities, input: DuplexStream, output: DuplexStream) -> Self {
        let (tell, got) = mpsc::unbounded_channel();
        let (connect, connected) = tokio::sync::watch::channel(None);
        let lines = Lines::new(
            lines::outgoing(output, lines::Unheard::default()),
            lines::incoming(BufReader::new(input), drop),
        );
        let mut running = JoinSet::new();
        running.spawn(async move {
            let agent = agent(&abilities, &tell);
            // Its client's end, or its kill, ends it.
            drop(
                agent
                    .connect_with(lines, async move |client: ConnectionTo<Client>| {
                        drop(connect.send(Some(client.clone())));
                        client.incoming_closed().await;
                        Ok(())
                    })
                    .await,
            );
        });
        Self { got, connected, running }
    }

    /// Ends without a word, as a process that is killed does.
    pub(super) fn kill(&mut self) {
        self.running.abort_all();
    }

    /// Waits until it is over.
    pub(super) async fn over(&mut self) {
        while self.running.join_next().await.is_some() {}
    }

    pub(super) fn client(&self) -> ConnectionTo<Client> {
        self.connected.borrow().clone().expect("connected")
    }

    /// Says something to whoever watches.
    pub(super) fn update(&self, update: SessionUpdate) {
        self.client().send_notification(SessionNotification::new(SESSION, update)).unwrap();
    }

    pub(super) fn says(&self, text: &str) {
        self.update(SessionUpdate::AgentMessageChunk(chunk(text)));
    }
}

pub(super) fn chunk(text: &str) -> ContentChunk {
    ContentChunk::new(ContentBlock::Text(TextContent::new(text)))
}

/// What answers, one method for each request.
#[derive(Clone)]
struct Handlers {
    abilities: Abilities,
    tell: mpsc::UnboundedSender<Got>,
}

impl Handlers {
    fn got(&self, got: Got) {
        // Nobody listens any more once the test is over.
        drop(self.tell.send(got));
    }

    fn initialize(&self, responder: Responder<InitializeResponse>) -> Result<(), Error> {
        let mut able = SessionCapabilities::new();
        if self.abilities.resumes {
            able = able.resume(SessionResumeCapabilities::new());
        }
        let able = AgentCapabilities::new().load_session(self.abilities.loads).session_capabilities(able);
        let method = AuthMethodAgent::new("login", "Log in").description("run `peer login`".to_owned());
        responder.respond(
            InitializeResponse::new(ProtocolVersion::V1)
                .agent_capabilities(able)
                .auth_methods(vec![AuthMethod::Agent(method)])
                .agent_info(Implementation::new("peer", "1.2")),
        )
    }

    fn create(&self, responder: Responder<NewSessionResponse>) -> Result<(), Error> {
        if self.abilities.needs_sign_in {
            return responder.respond_with_error(Error::auth_required());
        }
        responder.respond(NewSessionResponse::new(self.abilities.session.unwrap_or(SESSION)))
    }

    fn load(
        &self,
        load: LoadSessionRequest,
        responder: Responder<LoadSessionResponse>,
        client: &ConnectionTo<Client>,
    ) -> Result<(), Error> {
        if self.abilities.forgets {
            return responder.respond_with_error(unknown_session());
        }
        let update = SessionUpdate::AgentMessageChunk(chunk("history"));
        client.send_notification(SessionNotification::new(load.session_id, update))?;
        responder.respond(LoadSessionResponse::new())
    }

    fn resume(&self, responder: Responder<ResumeSessionResponse>) -> Result<(), Error> {
        if self.abilities.forgets {
            return responder.respond_with_error(unknown_session());
        }
        responder.respond(ResumeSessionResponse::new())
    }
}

fn unknown_session() -> Error {
    Error::invalid_params().data("unknown session")
}

fn prompted(prompt: &PromptRequest, responder: Responder<PromptResponse>) -> Got {
    match prompt.prompt.as_slice() {
        [ContentBlock::Text(text)] => Got::Prompt(text.text.clone(), Ends(Box::new(responder))),
        other => panic!("{other:?}"),
    }
}

fn agent(
    abilities: &Abilities,
    tell: &mpsc::UnboundedSender<Got>,
) -> agent_client_protocol::v1::Builder<Agent, impl agent_client_protocol::HandleDispatchFrom<Client> + use<>>
{
    type Whom = ConnectionTo<Client>;
    let on = Handlers { abilities: abilities.clone(), tell: tell.clone() };
    let [created, loaded, resumed, turned, cancelled] = [(); 5].map(|()| on.clone());
    // Owed answers that never come: dropping them would answer.
    let mut owed = Vec::new();
    Agent
        .v1()
        .on_receive_request(
            async move |hello: InitializeRequest, responder: Responder<InitializeResponse>, _: Whom| {
                on.got(Got::Initialize(Box::new(hello)));
                if on.abilities.silent {
                    owed.push(responder);
                    return Ok(());
                }
                on.initialize(responder)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |new: NewSessionRequest, responder: Responder<NewSessionResponse>, _: Whom| {
                created.got(Got::New(Box::new(new)));
                created.create(responder)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |load: LoadSessionRequest, responder: Responder<LoadSessionResponse>, client: Whom| {
                loaded.got(Got::Load(load.session_id.to_string()));
                loaded.load(load, responder, &client)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |resume: ResumeSessionRequest,
                        responder: Responder<ResumeSessionResponse>,
                        _: Whom| {
                resumed.got(Got::Resume(resume.session_id.to_string()));
                resumed.resume(responder)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |prompt: PromptRequest, responder: Responder<PromptResponse>, _: Whom| {
                turned.got(prompted(&prompt, responder));
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |_: CancelNotification, _: Whom| {
                cancelled.got(Got::Cancel);
                Ok(())
            },
            on_receive_notification!(),
        )
}
