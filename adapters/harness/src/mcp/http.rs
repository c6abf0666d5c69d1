//! Over HTTP: every request stands for itself, so any node can serve it.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes, HttpBody, to_bytes},
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::any,
};
use compass_agent::{
    guard::Randomness,
    ports::{Gateway, Journal, Mailbox},
    tools::PostKeys,
};
use http::{
    Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri,
    header::{CONTENT_TYPE, HOST, ORIGIN},
    uri::Authority,
};
use http_body::Frame;
use http_body_util::Full;
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId},
    transport::{
        StreamableHttpServerConfig, StreamableHttpService,
        streamable_http_server::session::never::NeverSessionManager,
    },
};
use serde::de::IgnoredAny;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    deliveries::Deliveries,
    outbox::{self, Outbox},
    server::{Core, Server},
    sessions::{IsBroken, Leaving, Sessions},
};

/// Where it is served.
pub const PATH: &str = "/mcp";
/// Bytes of one request, as of one message at every other door.
const BODY: usize = 4 * 1024 * 1024;
/// Characters of a session id at the most; ours are shorter.
const SESSION: usize = 128;
/// Agents whose marks are remembered.
const AGENTS: usize = 10_000;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// The agent that a request comes from.
pub struct HttpAgent {
    /// Tells it from every other agent of the server.
    pub key: String,
    /// Its account.
    pub account_id: String,
    /// Where its calls go.
    pub gateway: Arc<dyn Gateway>,
    /// What it is owed.
    pub mailbox: Arc<dyn Mailbox>,
    /// Tells whether the request's connection broke.
    pub is_broken: Box<IsBroken>,
}

/// Finds the agent of a request.
pub type Recognise = dyn Fn(&Extensions) -> Option<HttpAgent> + Send + Sync;

/// What serving over HTTP needs.
pub struct HttpParts {
    /// Finds the agent in what a guard before us left in the request.
    pub recognise: Box<Recognise>,
    /// A journal of an agent; it lives as long as this process.
    pub journal: fn() -> Box<dyn Journal>,
    /// What fences, keys and session ids are made of.
    pub random: &'static Randomness,
    /// Calls and receipts run on tasks of these.
    pub tasks: TaskTracker,
    /// Ends what is open.
    pub stop: CancellationToken,
}

struct Door {
    parts: HttpParts,
    agents: Mutex<HashMap<String, Arc<Sessions>>>,
}

/// Serves agents at [`PATH`]. A message counts as delivered once its session is heard of again after its result.
pub fn router(parts: HttpParts) -> Router {
    let door = Arc::new(Door { parts, agents: Mutex::default() });
    Router::new().route(PATH, any(serve)).with_state(door)
}

async fn serve(State(door): State<Arc<Door>>, request: Request) -> Response {
    if !is_own_origin(request.headers(), request.uri()) {
        return (StatusCode::FORBIDDEN, "a page of another origin may not call this").into_response();
    }
    let Some(agent) = (door.parts.recognise)(request.extensions()) else {
        return (StatusCode::UNAUTHORIZED, "only agents are served here").into_response();
    };
    let sessions = door.sessions(&agent);
    let session = session(request.headers());
    let (head, body) = request.into_parts();
    if head.method == Method::DELETE {
        sessions.heard(session.as_deref(), None).await;
        return StatusCode::NO_CONTENT.into_response();
    }
    let Ok(bytes) = to_bytes(body, BODY).await else {
        let text = format!("the request is longer than {BODY} bytes, or broke off");
        return (StatusCode::PAYLOAD_TOO_LARGE, text).into_response();
    };
    let read = serde_json::from_slice::<ClientJsonRpcMessage>(&bytes);
    let is_first = read.as_ref().is_ok_and(begins);
    if !is_first {
        sessions.heard(session.as_deref(), read.as_ref().ok().and_then(cancels)).await;
    }
    let message = match read {
        Ok(message) => Some(message),
        Err(_) if head.method == Method::POST && is_json(&head.headers) => return unreadable(&bytes),
        // What else is wrong with it is the inner service's to say.
        Err(_) => None,
    };
    let request = Request::from_parts(head, Full::new(bytes));
    match message {
        Some(JsonRpcMessage::Request(asked)) => {
            let id = asked.id.clone();
            let message = JsonRpcMessage::Request(asked);
            let mut response = door.call(agent, &sessions, session, id, &message, request).await;
            if is_first
                && response.status().is_success()
                && let Ok(session) = HeaderValue::try_from(door.nonce())
            {
                response.headers_mut().insert(SESSION_ID, session);
            }
            response
        }
        _ => door.answer(agent, &sessions, Arc::default(), request).await,
    }
}

impl Door {
    async fn call(
        &self,
        mut agent: HttpAgent,
        sessions: &Arc<Sessions>,
        session: Option<String>,
        id: RequestId,
        message: &ClientJsonRpcMessage,
        request: Request<Full<Bytes>>,
    ) -> Response {
        let is_broken = std::mem::replace(&mut agent.is_broken, Box::new(|| false));
        let open = sessions.open(session, id.clone(), is_broken);
        let outbox = Arc::<Outbox>::default();
        outbox.arrived(message);
        let response = self.answer(agent, sessions, Arc::clone(&outbox), request).await;
        match outbox.close(&id).and_then(|carried| open.send(carried)) {
            Some(leaving) => response.map(|inner| Body::new(Watched { inner, leaving, ended: false })),
            None => response,
        }
    }

    async fn answer(
        &self,
        agent: HttpAgent,
        sessions: &Sessions,
        outbox: Arc<Outbox>,
        request: Request<Full<Bytes>>,
    ) -> Response {
        let core = Arc::new(Core {
            gateway: agent.gateway,
            keys: PostKeys::new(self.nonce()),
            random: self.parts.random,
            owed: Some(Arc::new(sessions.deliveries.clone())),
            tasks: self.parts.tasks.clone(),
        });
        let server = move || Ok(Server::new(Arc::clone(&core), Arc::clone(&outbox), Duration::ZERO));
        let service =
            StreamableHttpService::new(server, Arc::new(NeverSessionManager::default()), self.config());
        service.handle(request).await.map(Body::new)
    }

    fn config(&self) -> StreamableHttpServerConfig {
        // Names of the server are its operator's matter; origins were checked before.
        let mut config = StreamableHttpServerConfig::default().disable_allowed_hosts();
        config.legacy_session_mode = false;
        config.json_response = true;
        config.max_request_body_bytes = BODY;
        config.cancellation_token = self.parts.stop.child_token();
        config
    }

    fn sessions(&self, agent: &HttpAgent) -> Arc<Sessions> {
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        if agents.len() >= AGENTS && !agents.contains_key(&agent.key) {
            // Those of the others have nothing on its way; what they forget comes again unmarked at worst.
            agents.retain(|_, sessions| Arc::strong_count(sessions) > 1);
        }
        let sessions = agents.entry(agent.key.clone()).or_insert_with(|| {
            let journal = (self.parts.journal)();
            Arc::new(Sessions::new(Deliveries::new(
                Arc::clone(&agent.mailbox),
                journal,
                agent.account_id.clone(),
                self.parts.random,
                self.parts.tasks.clone(),
            )))
        });
        Arc::clone(sessions)
    }

    fn nonce(&self) -> String {
        let half = || u64::from_be_bytes((self.parts.random)());
        format!("{:016x}{:016x}", half(), half())
    }
}

/// True for what a client says first: it knows of no result before.
fn begins(message: &ClientJsonRpcMessage) -> bool {
    let first = |request: &ClientRequest| {
        matches!(request, ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_))
    };
    matches!(message, JsonRpcMessage::Request(request) if first(&request.request))
}

/// The request that a message cancels.
fn cancels(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Notification(notification) => outbox::cancelled(&notification.notification),
        _ => None,
    }
}

/// True if a body is said to be JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let said = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    said.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// Says what is wrong with a body that is no message of the protocol.
fn unreadable(bytes: &[u8]) -> Response {
    let text = match serde_json::from_slice::<IgnoredAny>(bytes) {
        Err(error) => format!("the body is no JSON: {error}"),
        Ok(_) => "the body is JSON, but no message of the Model Context Protocol".to_owned(),
    };
    (StatusCode::BAD_REQUEST, text).into_response()
}

fn session(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(SESSION_ID)?.to_str().ok()?;
    (text.len() <= SESSION).then(|| text.to_owned())
}

/// True unless a browser says that the request comes from a page of another host. The scheme may differ: a proxy
/// before us may speak TLS.
fn is_own_origin(headers: &HeaderMap, uri: &Uri) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let origin = origin.to_str().ok().and_then(|text| text.parse::<Uri>().ok());
    let origin = origin.as_ref().and_then(Uri::authority);
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = host.and_then(|host| host.parse::<Authority>().ok()).or_else(|| uri.authority().cloned());
    match (origin, host) {
        (Some(origin), Some(host)) => origin.as_str().eq_ignore_ascii_case(host.as_str()),
        _ => false,
    }
}

/// The body of a result that carries messages; it tells when all of it was given away.
struct Watched {
    inner: Body,
    leaving: Leaving,
    ended: bool,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.ended {
            self.leaving.is_whole();
            return Poll::Ready(None);
        }
        if let Some(frame) = ready!(Pin::new(&mut self.inner).poll_frame(context)) {
            return Poll::Ready(Some(frame));
        }
        // The connection writes what it has before it asks again; if that fails, there is no again.
        self.ended = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
