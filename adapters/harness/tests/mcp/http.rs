//! Over HTTP: what counts as a receipt, and what is refused.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    http::{Method, Request, Response, StatusCode, header::CONTENT_TYPE},
};
use compass_harness::mcp::{HttpAgent, HttpParts, PATH, router};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::rig::{
    House, Paper, RANDOM, READER, call, cancel, handed, initialize, owed, request, status, text,
};

/// The agent that a guard found, and whether its connection broke.
#[derive(Clone, Default)]
struct Found(Arc<AtomicBool>);

pub(crate) fn server(house: &Arc<House>) -> Router {
    let (tasks, house) = (house.tasks.clone(), Arc::clone(house));
    router(HttpParts {
        recognise: Box::new(move |extensions| {
            let broken = Arc::clone(&extensions.get::<Found>()?.0);
            Some(HttpAgent {
                key: READER.into(),
                account_id: READER.into(),
                gateway: Arc::<House>::clone(&house),
                mailbox: Arc::<House>::clone(&house),
                is_broken: Box::new(move || broken.load(Ordering::SeqCst)),
            })
        }),
        journal: || Box::new(Paper::default()),
        random: RANDOM,
        tasks,
        stop: CancellationToken::new(),
    })
}

pub(crate) fn post(session: Option<&str>, message: &Value) -> Request<Body> {
    let mut request = Request::post(PATH)
        .header("host", "compass.example:7420")
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2025-11-25");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    request.extension(Found::default()).body(Body::from(message.to_string())).expect("a request")
}

pub(crate) async fn send(server: &Router, request: Request<Body>) -> Response<Body> {
    server.clone().oneshot(request).await.expect("a response")
}

/// Begins a request and gives its response, unread.
fn begin(house: &House, server: &Router, request: Request<Body>) -> JoinHandle<Response<Body>> {
    let server = server.clone();
    house.beside.spawn(async move { server.oneshot(request).await.expect("a response") })
}

pub(crate) async fn read(response: Response<Body>) -> Value {
    assert_eq!(response.status(), StatusCode::OK);
    let bytes = response.into_body().collect().await.expect("a body").to_bytes();
    serde_json::from_slice(&bytes).expect("JSON")
}

/// Calls a tool and reads all of the result; gives the messages in it.
async fn calls(server: &Router, session: Option<&str>, id: u64) -> Vec<String> {
    handed(text(&read(send(server, post(session, &status(id, "x"))).await).await))
}

#[tokio::test]
async fn a_message_is_acknowledged_when_its_session_is_heard_of_again() {
    for session in [Some("one"), None] {
        let house = House::new([owed("m1")]);
        let server = server(&house);
        assert_eq!(calls(&server, session, 1).await, ["m1"]);
        house.settled().await;
        assert_eq!(house.acknowledged(), [""; 0], "nobody knows whether it was read");
        house.owe(owed("m2"));
        assert_eq!(calls(&server, session, 2).await, ["m2"]);
        assert_eq!(house.acknowledged(), ["m1"]);
        let ping = read(send(&server, post(session, &request(3, "ping", &json!({})))).await).await;
        assert_eq!(ping["id"], 3);
        assert_eq!(house.acknowledged(), ["m1", "m2"], "any request will do");
    }
}

#[tokio::test]
async fn a_result_that_was_not_given_away_whole_is_no_receipt() {
    let house = House::new([owed("m1")]);
    let server = server(&house);
    let mut response = send(&server, post(Some("one"), &status(1, "x"))).await;
    // All of the data, and not the end: the connection broke while it was written.
    response.body_mut().frame().await.expect("data").expect("data");
    drop(response);
    let again = read(send(&server, post(Some("one"), &status(2, "x"))).await).await;
    assert_eq!(handed(text(&again)), ["m1"]);
    assert!(text(&again).contains("[delivered before "), "{again}");
    assert_eq!(house.acknowledged(), [""; 0]);
    drop(send(&server, post(Some("one"), &status(3, "x"))).await);
    assert_eq!(house.acknowledged(), ["m1"]);
}

#[tokio::test]
async fn a_request_that_began_before_the_result_was_whole_proves_nothing() {
    let house = House::new([owed("m1")]);
    let server = server(&house);
    let slow = begin(&house, &server, post(Some("one"), &status(1, "slow")));
    house.waiting.acquire().await.expect("open").forget();
    assert_eq!(calls(&server, Some("one"), 2).await, ["m1"]);
    house.gate.add_permits(1);
    let slow = read(slow.await.expect("no panic")).await;
    assert_eq!(handed(text(&slow)), [""; 0], "not twice either");
    house.settled().await;
    assert_eq!(house.acknowledged(), [""; 0]);
}

#[tokio::test]
async fn a_result_that_nobody_has_taken_yet_is_no_receipt_either() {
    let house = House::new([owed("m1")]);
    let server = server(&house);
    let first = send(&server, post(Some("one"), &status(1, "x"))).await;
    assert_eq!(calls(&server, Some("one"), 2).await, [""; 0]);
    house.settled().await;
    assert_eq!(house.acknowledged(), [""; 0]);
    assert_eq!(handed(text(&read(first).await)), ["m1"]);
    calls(&server, Some("one"), 3).await;
    assert_eq!(house.acknowledged(), ["m1"]);
}

#[tokio::test]
async fn a_connection_that_broke_after_the_result_was_given_away_is_no_receipt() {
    let house = House::new([owed("m1")]);
    let server = server(&house);
    let mut request = post(Some("one"), &status(1, "x"));
    let found = Found::default();
    request.extensions_mut().insert(found.clone());
    drop(read(send(&server, request).await).await);
    found.0.store(true, Ordering::SeqCst);
    let again = read(send(&server, post(Some("one"), &status(2, "x"))).await).await;
    assert_eq!(handed(text(&again)), ["m1"]);
    assert!(text(&again).contains("[delivered before "), "{again}");
    assert_eq!(house.acknowledged(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn another_session_gets_it_after_a_while_and_marked() {
    let house = House::new([owed("m1")]);
    let server = server(&house);
    assert_eq!(calls(&server, Some("one"), 1).await, ["m1"]);
    assert_eq!(calls(&server, Some("two"), 1).await, [""; 0]);
    tokio::time::advance(Duration::from_mins(1)).await;
    let two = read(send(&server, post(Some("two"), &status(2, "x"))).await).await;
    assert_eq!(handed(text(&two)), ["m1"]);
    assert!(text(&two).contains("[delivered before "), "{two}");
    assert_eq!(calls(&server, Some("one"), 2).await, [""; 0]);
    assert_eq!(house.acknowledged(), [""; 0], "it is the other's now");
    calls(&server, Some("two"), 3).await;
    assert_eq!(house.acknowledged(), ["m1"]);
}

#[tokio::test]
async fn a_cancelled_request_proves_the_opposite() {
    let house = House::new([owed("m1")]);
    let server = server(&house);
    assert_eq!(calls(&server, Some("one"), 1).await, ["m1"]);
    assert_eq!(send(&server, post(Some("one"), &cancel(1))).await.status(), StatusCode::ACCEPTED);
    assert_eq!(calls(&server, Some("one"), 2).await, ["m1"]);
    assert_eq!(house.acknowledged(), [""; 0]);
    // Of another session it is another request.
    send(&server, post(Some("two"), &cancel(2))).await;
    calls(&server, Some("one"), 3).await;
    assert_eq!(house.acknowledged(), ["m1"]);
}

#[tokio::test]
async fn a_request_that_is_cancelled_under_way_carries_nothing_and_is_done() {
    let house = House::new([owed("m1")]);
    let server = server(&house);
    let slow = begin(&house, &server, post(Some("one"), &status(1, "slow")));
    house.waiting.acquire().await.expect("open").forget();
    send(&server, post(Some("one"), &cancel(1))).await;
    house.gate.add_permits(1);
    drop(read(slow.await.expect("no panic")).await);
    assert_eq!(calls(&server, Some("one"), 2).await, ["m1"]);
    assert_eq!(house.acknowledged(), [""; 0]);
    assert_eq!(house.calls().len(), 2);
}

#[tokio::test]
async fn a_post_of_a_client_that_hangs_up_lands() {
    let house = House::new([owed("m1")]);
    let server = server(&house);
    let slow = begin(&house, &server, post(Some("one"), &status(1, "slow")));
    house.waiting.acquire().await.expect("open").forget();
    slow.abort();
    assert!(slow.await.is_err());
    house.gate.add_permits(1);
    house.settled().await;
    assert_eq!(house.calls().len(), 1);
    let next = read(send(&server, post(Some("one"), &status(2, "x"))).await).await;
    assert_eq!(handed(text(&next)), ["m1"]);
    assert_eq!(house.acknowledged(), [""; 0]);
}

#[tokio::test]
async fn a_client_that_begins_anew_has_no_session_and_is_no_receipt() {
    let house = House::new([owed("m1")]);
    let server = server(&house);
    assert_eq!(calls(&server, None, 1).await, ["m1"]);
    drop(read(send(&server, post(None, &initialize(1))).await).await);
    house.settled().await;
    assert_eq!(house.acknowledged(), [""; 0]);
}

#[tokio::test]
async fn a_session_begins_with_the_first_request_and_its_end_is_a_receipt() {
    let house = House::new([owed("m1")]);
    let server = server(&house);
    let id = |response: &Response<Body>| {
        response.headers().get("mcp-session-id").map(|id| id.to_str().expect("text").to_owned())
    };
    let first = send(&server, post(None, &initialize(1))).await;
    let session = id(&first).expect("a session");
    assert_eq!(session.len(), 32);
    let about = read(first).await;
    assert_eq!(about["result"]["protocolVersion"], "2025-11-25");
    assert_ne!(id(&send(&server, post(None, &initialize(1))).await), Some(session.clone()));
    let called = send(&server, post(Some(&session), &status(2, "x"))).await;
    assert_eq!(id(&called), None);
    assert_eq!(handed(text(&read(called).await)), ["m1"]);
    let mut end = post(Some(&session), &json!({}));
    *end.method_mut() = Method::DELETE;
    assert_eq!(send(&server, end).await.status(), StatusCode::NO_CONTENT);
    assert_eq!(house.acknowledged(), ["m1"]);
}

#[tokio::test]
async fn pages_of_other_origins_and_whom_no_guard_found_are_refused() {
    let house = House::new([]);
    let server = server(&house);
    for (origin, status_code) in [
        ("http://compass.example:7420", StatusCode::OK),
        ("https://Compass.Example:7420", StatusCode::OK),
        ("http://compass.example", StatusCode::FORBIDDEN),
        ("http://evil.example:7420", StatusCode::FORBIDDEN),
        ("null", StatusCode::FORBIDDEN),
        ("", StatusCode::FORBIDDEN),
    ] {
        let mut request = post(None, &status(1, "x"));
        request.headers_mut().insert("origin", origin.parse().expect("a value"));
        assert_eq!(send(&server, request).await.status(), status_code, "{origin:?}");
    }
    let mut stranger = post(None, &status(1, "x"));
    stranger.extensions_mut().clear();
    assert_eq!(send(&server, stranger).await.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn what_is_too_long_or_no_message_is_refused_and_nobody_listens_for_long() {
    let house = House::new([]);
    let server = server(&house);
    let long = call(1, "comms_post_message", &json!({ "text": "x".repeat(4 << 20) }));
    assert_eq!(send(&server, post(None, &long)).await.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let mut listen = post(Some("one"), &json!({}));
    *listen.method_mut() = Method::GET;
    assert_eq!(send(&server, listen).await.status(), StatusCode::METHOD_NOT_ALLOWED);
    for (body, says) in [
        ("[1, 2]", "is JSON, but no message"),
        ("{\"jsonrpc\":\"2.0\"", "is no JSON: EOF"),
        ("", "is no JSON: EOF"),
    ] {
        let mut odd = post(None, &json!({}));
        *odd.body_mut() = Body::from(body);
        let refused = send(&server, odd).await;
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{body}");
        let text = refused.into_body().collect().await.expect("a body").to_bytes();
        let text = String::from_utf8_lossy(&text);
        assert!(text.contains(says), "{body}: {text}");
    }
    let mut form = post(None, &json!({}));
    form.headers_mut().insert(CONTENT_TYPE, "text/plain".parse().unwrap());
    assert_eq!(send(&server, form).await.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(house.calls(), []);
}
