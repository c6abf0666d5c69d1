//! Making an agent ready: versions and abilities, then a conversation, if need be a new one.

use std::{fs, io, path::PathBuf, time::Duration};

use agent_client_protocol::{
    Agent, Error, JsonRpcRequest, is_incoming_transport_closed,
    schema::ProtocolVersion,
    v1::{
        ConnectionTo,
        schema::{
            AuthMethod, ClientCapabilities, ElicitationCapabilities, ElicitationFormCapabilities,
            EnvVariable, ErrorCode, Implementation, InitializeRequest, InitializeResponse,
            LoadSessionRequest, McpServer, McpServerStdio, NewSessionRequest, ResumeSessionRequest,
            SessionId,
        },
    },
};

use super::{ToolServer, connection::text};

/// How long each step may take; a first start may have to fetch the agent.
pub(super) const STEP: Duration = Duration::from_mins(2);

/// What an agent is made ready with.
pub(super) struct Setup {
    pub(super) directory: PathBuf,
    pub(super) tools: ToolServer,
    pub(super) session_file: PathBuf,
}

/// An agent with a conversation.
pub(super) struct Ready {
    pub(super) connection: ConnectionTo<Agent>,
    pub(super) session: SessionId,
    /// What people are told of it.
    pub(super) remark: String,
}

/// Why an agent cannot be made ready.
#[derive(Debug, thiserror::Error)]
pub(super) enum SetupError {
    /// It is gone.
    #[error("it ended before it could be prompted")]
    Gone,
    /// It took too long.
    #[error("it did not answer {step} within {} s", STEP.as_secs())]
    Late {
        /// Which request.
        step: &'static str,
    },
    /// Somebody has to sign it in first.
    #[error("it needs to be signed in before a runner can run it: {methods} ({reason})")]
    SignIn {
        /// How that is done, in its own words.
        methods: String,
        /// Its words.
        reason: String,
    },
    /// It refused.
    #[error("it refused {step}: {reason}")]
    Refused {
        /// Which request.
        step: &'static str,
        /// Its words.
        reason: String,
    },
    /// The id of the conversation cannot be kept or read.
    #[error("{}: {error}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// Says who we are, then goes on with the kept conversation or begins one.
pub(super) async fn make_ready(connection: ConnectionTo<Agent>, setup: Setup) -> Result<Ready, SetupError> {
    let us = Implementation::new("compass", env!("CARGO_PKG_VERSION"));
    let hello = InitializeRequest::new(ProtocolVersion::V1)
        .client_capabilities(
            ClientCapabilities::new()
                .elicitation(ElicitationCapabilities::new().form(ElicitationFormCapabilities::new())),
        )
        .client_info(us);
    // The library refuses an agent of another version and names both.
    let agent = step(&connection, "initialize", hello, &[]).await?;
    let who = agent.agent_info.as_ref().map_or_else(
        || "The agent".to_owned(),
        |info| format!("{} {}", info.title.as_ref().unwrap_or(&info.name), info.version),
    );
    let (session, how) = match go_on(&connection, &agent, &setup).await? {
        GoneOn::Yes(session) => (session, "goes on with its earlier conversation".to_owned()),
        GoneOn::No(why) => {
            let new = NewSessionRequest::new(&setup.directory).mcp_servers(vec![tools(&setup.tools)]);
            let session = step(&connection, "session/new", new, &agent.auth_methods).await?.session_id;
            keep(&setup, &session)?;
            (session, format!("begins a new conversation{why}"))
        }
    };
    Ok(Ready { connection, session, remark: format!("{who} {how}.") })
}

enum GoneOn {
    Yes(SessionId),
    /// Why not, as the end of a sentence.
    No(String),
}

/// Takes the kept conversation up again, if there is one and the agent can.
async fn go_on(
    connection: &ConnectionTo<Agent>,
    agent: &InitializeResponse,
    setup: &Setup,
) -> Result<GoneOn, SetupError> {
    let Some(kept) = kept(setup)? else { return Ok(GoneOn::No(String::new())) };
    let servers = vec![tools(&setup.tools)];
    let able = &agent.agent_capabilities;
    let done = if able.session_capabilities.resume.is_some() {
        let resume = ResumeSessionRequest::new(kept.clone(), &setup.directory).mcp_servers(servers);
        step(connection, "session/resume", resume, &agent.auth_methods).await.map(drop)
    } else if able.load_session {
        let load = LoadSessionRequest::new(kept.clone(), &setup.directory).mcp_servers(servers);
        step(connection, "session/load", load, &agent.auth_methods).await.map(drop)
    } else {
        return Ok(GoneOn::No("; it cannot go on with an earlier one".to_owned()));
    };
    match done {
        Ok(()) => Ok(GoneOn::Yes(kept)),
        // The conversation may be gone, or another program's.
        Err(error @ SetupError::Refused { .. }) => {
            Ok(GoneOn::No(format!("; it cannot go on with the earlier one: {error}")))
        }
        Err(error) => Err(error),
    }
}

fn tools(server: &ToolServer) -> McpServer {
    let env = server.env.iter().map(|(name, value)| EnvVariable::new(name, value));
    let tools = McpServerStdio::new("compass", &server.program).args(server.args.clone()).env(env.collect());
    McpServer::Stdio(tools)
}

/// Sends a request and waits for its answer, not for ever.
async fn step<R: JsonRpcRequest>(
    connection: &ConnectionTo<Agent>,
    step: &'static str,
    request: R,
    methods: &[AuthMethod],
) -> Result<R::Response, SetupError> {
    let answer = tokio::time::timeout(STEP, connection.send_request(request).block_task()).await;
    let answer = answer.map_err(|_| SetupError::Late { step })?;
    answer.map_err(|error: Error| {
        if is_incoming_transport_closed(&error) {
            SetupError::Gone
        } else if error.code == ErrorCode::AuthRequired {
            SetupError::SignIn { methods: sign_in(methods), reason: text(&error) }
        } else {
            SetupError::Refused { step, reason: text(&error) }
        }
    })
}

/// The ways to sign an agent in, as it names them.
fn sign_in(methods: &[AuthMethod]) -> String {
    let named = methods.iter().map(|method| match method.description() {
        Some(description) => format!("{} ({description})", method.name()),
        None => method.name().to_owned(),
    });
    let named: Vec<String> = named.collect();
    if named.is_empty() { "it names no way to do so".to_owned() } else { named.join(", or ") }
}

fn kept(setup: &Setup) -> Result<Option<SessionId>, SetupError> {
    let path = &setup.session_file;
    match fs::read_to_string(path) {
        // A file that was not written by us names no conversation.
        Ok(text) => Ok(serde_json::from_str(&text).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SetupError::File { path: path.clone(), error }),
    }
}

/// Keeps the conversation's id; a crash leaves the one before or this one.
fn keep(setup: &Setup, session: &SessionId) -> Result<(), SetupError> {
    let path = &setup.session_file;
    let written = path.with_extension("new");
    let keeping = serde_json::to_vec(session).map_err(io::Error::other);
    let keeping = keeping.and_then(|id| fs::write(&written, id)).and_then(|()| fs::rename(&written, path));
    keeping.map_err(|error| SetupError::File { path: path.clone(), error })
}
