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

fn agent(
    abilities: &Abilities,
    tell: &mpsc::UnboundedSender<Got>,
) -> agent_client_protocol::v1::Builder<Agent, impl agent_client_protocol::HandleDispatchFrom<Client> + use<>>
{
    let tells = || tell.clone();
    let (initialized, created, loaded, resumed, prompted, cancelled) =
        (tells(), tells(), tells(), tells(), tells(), tells());
    let (abilities, on_new, on_load, on_resume) =
        (abilities.clone(), abilities.clone(), abilities.clone(), abilities.clone());
    // Owed answers that never come: dropping them would answer.
    let mut owed = Vec::new();
    Agent
        .v1()
        .on_receive_request(
            async move |hello: InitializeRequest,
                        responder: Responder<InitializeResponse>,
                        _: ConnectionTo<Client>| {
                drop(initialized.send(Got::Initialize(Box::new(hello))));
                if abilities.silent {
                    owed.push(responder);
                    return Ok(());
                }
                let mut able = SessionCapabilities::new();
                if abilities.resumes {
                    able = able.resume(SessionResumeCapabilities::new());
                }
                let able = AgentCapabilities::new().load_session(abilities.loads).session_capabilities(able);
                let method =
                    AuthMethodAgent::new("login", "Log in").description("run `peer login`".to_owned());
                responder.respond(
                    InitializeResponse::new(ProtocolVersion::V1)
                        .agent_capabilities(able)
                        .auth_methods(vec![AuthMethod::Agent(method)])
                        .agent_info(Implementation::new("peer", "1.2")),
                )
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |new: NewSessionRequest,
                        responder: Responder<NewSessionResponse>,
                        _: ConnectionTo<Client>| {
                drop(created.send(Got::New(Box::new(new))));
                if on_new.needs_sign_in {
                    return responder.respond_with_error(Error::auth_required());
                }
                responder.respond(NewSessionResponse::new(on_new.session.unwrap_or(SESSION)))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |load: LoadSessionRequest,
                        responder: Responder<LoadSessionResponse>,
                        client: ConnectionTo<Client>| {
                drop(loaded.send(Got::Load(load.session_id.to_string())));
                if on_load.forgets {
                    return responder.respond_with_error(Error::invalid_params().data("unknown session"));
                }
                let update = SessionUpdate::AgentMessageChunk(chunk("history"));
                client.send_notification(SessionNotification::new(load.session_id, update))?;
                responder.respond(LoadSessionResponse::new())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |resume: ResumeSessionRequest,
                        responder: Responder<ResumeSessionResponse>,
                        _: ConnectionTo<Client>| {
                drop(resumed.send(Got::Resume(resume.session_id.to_string())));
                if on_resume.forgets {
                    return responder.respond_with_error(Error::invalid_params().data("unknown session"));
                }
                responder.respond(ResumeSessionResponse::new())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |prompt: PromptRequest,
                        responder: Responder<PromptResponse>,
                        _: ConnectionTo<Client>| {
                let text = match prompt.prompt.as_slice() {
                    [ContentBlock::Text(text)] => text.text.clone(),
                    other => panic!("{other:?}"),
                };
                drop(prompted.send(Got::Prompt(text, Ends(Box::new(responder)))));
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |_: CancelNotification, _: ConnectionTo<Client>| {
                drop(cancelled.send(Got::Cancel));
                Ok(())
            },
            on_receive_notification!(),
        )
}
