//! A page of a few files, sessions in memory, and a door behind them that says what it was sent.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use axum::{
    Router,
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderMap, StatusCode},
};
use compass_domain::ErrorKind;
use compass_web::{Files, Opened, Refusal, Sessions, admit_sessions, router};
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

/// Whom a token stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    Person,
    Agent,
}

/// Sessions in memory. The sign-in `secret` works once, the token `persons` is a person's and `agents` an agent's.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) tokens: Mutex<HashMap<String, Whose>>,
    pub(crate) spent: Mutex<bool>,
    /// Nothing can be found out.
    pub(crate) is_down: Mutex<bool>,
}

pub(crate) const LASTS: Duration = Duration::from_hours(90 * 24);

impl Kept {
    pub(crate) fn new() -> Arc<Self> {
        let tokens = [("persons", Whose::Person), ("agents", Whose::Agent)];
        let tokens = tokens.map(|(token, whose)| (token.to_owned(), whose));
        Arc::new(Self { tokens: Mutex::new(tokens.into()), ..Self::default() })
    }

    pub(crate) fn has(&self, token: &str) -> bool {
        self.tokens.lock().unwrap().contains_key(token)
    }

    fn open(&self) -> Opened {
        let mut tokens = self.tokens.lock().unwrap();
        let token = format!("session-{}", tokens.len());
        tokens.insert(token.clone(), Whose::Person);
        Opened { token, lasts: LASTS }
    }

    fn up(&self) -> Result<(), Refusal> {
        if *self.is_down.lock().unwrap() { refusal(ErrorKind::Unavailable, "try again") } else { Ok(()) }
    }
}

fn refusal<T>(kind: ErrorKind, text: &str) -> Result<T, Refusal> {
    Err(Refusal { kind, text: text.to_owned() })
}

#[async_trait]
impl Sessions for Kept {
    async fn open_with_sign_in(&self, secret: &str) -> Result<Opened, Refusal> {
        self.up()?;
        if secret != "secret" || std::mem::replace(&mut *self.spent.lock().unwrap(), true) {
            return refusal(ErrorKind::Unauthenticated, "the sign-in does not work");
        }
        Ok(self.open())
    }

    async fn open_with_token(&self, token: &str) -> Result<Opened, Refusal> {
        self.up()?;
        let found = self.tokens.lock().unwrap().get(token).copied();
        match found {
            Some(Whose::Person) => Ok(self.open()),
            Some(Whose::Agent) => refusal(ErrorKind::PermissionDenied, "the page is for people"),
            None => refusal(ErrorKind::Unauthenticated, "the token does not work"),
        }
    }

    async fn is_open(&self, token: &str) -> Result<bool, Refusal> {
        self.up()?;
        Ok(self.tokens.lock().unwrap().get(token) == Some(&Whose::Person))
    }

    async fn close(&self, token: &str) -> Result<(), Refusal> {
        self.up()?;
        self.tokens.lock().unwrap().remove(token);
        Ok(())
    }
}

pub(crate) const INDEX: &str = "<!doctype html><title>Compass</title>";

/// A script that compresses well, without a compressed twin.
pub(crate) fn script() -> String {
    "export const answer = 42;\n".repeat(200)
}

/// Everything as the program puts it together, with a door at `/door` that says what it was sent.
pub(crate) fn house(sessions: &Arc<Kept>) -> Router {
    let files = [
        ("index.html", INDEX.to_owned()),
        ("favicon.svg", "<svg/>".to_owned()),
        ("assets/page-1a2b.js", script()),
        ("assets/twin-3c4d.css", "body{}".repeat(300)),
        ("assets/twin-3c4d.css.br", "as brotli".to_owned()),
        ("assets/twin-3c4d.css.gz", "as gzip".to_owned()),
        ("assets/font-5e6f.woff2", "w".repeat(3000)),
    ];
    let files = files.map(|(path, content)| (path.to_owned(), Bytes::from(content)));
    let sessions: Arc<dyn Sessions> = Arc::<Kept>::clone(sessions);
    let page = router(Files::new(files).unwrap(), Arc::clone(&sessions));
    let door = async |request: Request| {
        let of = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        format!("{:?} {:?}", of("authorization"), of("cookie"))
    };
    admit_sessions(Router::new().route("/door", axum::routing::any(door)).fallback_service(page), sessions)
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// The text of a refusal.
    pub(crate) fn error(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        let body: serde_json::Value = serde_json::from_slice(&self.body).unwrap();
        body["error"].as_str().unwrap().to_owned()
    }
}

/// Sends one request.
pub(crate) async fn send(
    house: &Router,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = house.clone().oneshot(request.body(body.into()).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    Answer { status: parts.status, headers: parts.headers, body: body.collect().await.unwrap().to_bytes() }
}

/// Asks for a path.
pub(crate) async fn get(house: &Router, path: &str, headers: &[(&str, &str)]) -> Answer {
    send(house, "GET", path, headers, Body::empty()).await
}
