//! Calls of an agent over its real socket to a server that sees bytes.

use std::{convert::Infallible, path::Path, sync::Arc, time::Duration};

use compass_domain::AccountId;
use compass_proto::v1;
use prost::{Message as _, bytes::Bytes};
use tempfile::TempDir;
use tokio::{
    net::TcpListener,
    sync::{Notify, mpsc},
};
use tokio_stream::wrappers::TcpListenerStream;
use tokio_util::task::TaskTracker;
use tonic::{
    Code, Request, Response, Status,
    body::Body,
    codegen::{BoxFuture, Context, Poll, Service, http},
    server::{NamedService, UnaryService},
    transport::{Channel, Endpoint as Address, Server},
};

use super::{
    raw::{RawCodec, RawRequest, RawResponse, Relay, deadline},
    seat::Seat,
    service::{Gateway, SocketService},
    socket::{self, AgentSocket, SocketError},
    uplink::Uplink,
};
use crate::Endpoint;

/// What the server makes of a call.
#[derive(Clone)]
enum Answer {
    /// Gives this as the result.
    Result(Bytes),
    /// Gives no result.
    Nothing,
    Refuse(Code),
    /// Says that it was called, and that the caller went away.
    Hang(Arc<Notify>),
}

/// A server of the relay's one method.
#[derive(Clone)]
struct RawServer {
    answer: Answer,
    seen: mpsc::UnboundedSender<(RawRequest, Option<Duration>)>,
}

impl NamedService for RawServer {
    const NAME: &'static str = "compass.v1.RunnerService";
}

impl Service<http::Request<Body>> for RawServer {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        assert_eq!(request.uri().path(), "/compass.v1.RunnerService/RelayCommsCall");
        assert_eq!(request.headers()["authorization"], "Bearer token");
        let method = self.clone();
        Box::pin(async move { Ok(tonic::server::Grpc::new(RawCodec).unary(method, request).await) })
    }
}

impl UnaryService<Bytes> for RawServer {
    type Response = Bytes;
    type Future = BoxFuture<Response<Bytes>, Status>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let server = self.clone();
        Box::pin(async move {
            let deadline = deadline(&request);
            let decoded = RawRequest::decode(request.into_inner()).unwrap();
            server.seen.send((decoded, deadline)).unwrap();
            let result = match server.answer {
                Answer::Result(result) => Some(result),
                Answer::Nothing => None,
                Answer::Refuse(code) => {
                    return Err(Status::with_details(code, "no", Bytes::from_static(b"more")));
                }
                Answer::Hang(gone) => {
                    let _gone = OnDrop(gone);
                    std::future::pending().await
                }
            };
            Ok(Response::new(RawResponse { result }.encode_to_vec().into()))
        })
    }
}

struct OnDrop(Arc<Notify>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// An agent's end of its socket, and what the server sees.
struct Rig {
    seat: Arc<Seat>,
    agent: tonic::client::Grpc<Channel>,
    seen: mpsc::UnboundedReceiver<(RawRequest, Option<Duration>)>,
    socket: AgentSocket,
    _folder: TempDir,
}

fn door(endpoint: &Endpoint, seat: &Arc<Seat>, tasks: &TaskTracker) -> SocketService {
    let (uplink, _) = Uplink::new();
    SocketService::new(Gateway {
        seat: Arc::clone(seat),
        relay: Relay::new(endpoint),
        uplink,
        tasks: tasks.clone(),
    })
}

async fn rig(answer: Answer) -> Rig {
    let (listener, tasks) = (TcpListener::bind("127.0.0.1:0").await.unwrap(), TaskTracker::new());
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (tell, seen) = mpsc::unbounded_channel();
    let server = Server::builder().add_service(RawServer { answer, seen: tell });
    tasks.spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    at(&url, seen, &tasks).await
}

async fn at(
    url: &str,
    seen: mpsc::UnboundedReceiver<(RawRequest, Option<Duration>)>,
    tasks: &TaskTracker,
) -> Rig {
    let folder = tempfile::tempdir().unwrap();
    let seat = Seat::new(AccountId::from_bytes([1; 16]));
    seat.take("s");
    seat.enter();
    let endpoint = Endpoint::new(url, "token").unwrap();
    let path = socket::path(folder.path(), "a");
    let socket = AgentSocket::open(path.clone(), door(&endpoint, &seat, tasks), None, tasks).unwrap();
    let channel = Address::new(format!("unix://{}", path.display())).unwrap().connect().await.unwrap();
    Rig { seat, agent: tonic::client::Grpc::new(channel), seen, socket, _folder: folder }
}

impl Rig {
    async fn call(&mut self, call: &'static [u8], wait: Option<Duration>) -> Result<Bytes, Status> {
        self.agent.ready().await.unwrap();
        let mut request = Request::new(Bytes::from_static(call));
        if let Some(wait) = wait {
            request.set_timeout(wait);
        }
        let path = http::uri::PathAndQuery::from_static("/compass.v1.AgentGateway/Comms");
        self.agent.unary(request, path, RawCodec).await.map(Response::into_inner)
    }
}

/// A call with an arm 99 and a field that no build knows.
const UNKNOWN_CALL: &[u8] = b"\x0a\x01c\x9a\x06\x03new\xa0\x06\x07";
/// A result with an arm 98.
const UNKNOWN_RESULT: &[u8] = b"\x0a\x01c\x92\x06\x05fresh";

#[tokio::test]
async fn b7_b12_a_call_this_build_does_not_know_passes_byte_for_byte_and_so_does_its_result() {
    let mut rig = rig(Answer::Result(Bytes::from_static(UNKNOWN_RESULT))).await;
    let result = rig.call(UNKNOWN_CALL, None).await.unwrap();
    assert_eq!(result, UNKNOWN_RESULT);
    let (seen, _) = rig.seen.recv().await.unwrap();
    assert_eq!((seen.session_id.as_str(), seen.call.unwrap()), ("s", Bytes::from_static(UNKNOWN_CALL)));
}

#[tokio::test]
async fn b8_an_error_in_band_is_a_result() {
    let error = v1::CommsCallError { code: "not_found".into(), message: "no such channel".into() };
    let result = v1::CommsCallResult {
        call_id: "c".into(),
        result: Some(v1::comms_call_result::Result::Error(error)),
        ..Default::default()
    };
    let bytes = Bytes::from(result.encode_to_vec());
    let mut rig = rig(Answer::Result(bytes.clone())).await;
    assert_eq!(rig.call(b"", None).await.unwrap(), bytes);
}

#[tokio::test]
async fn b9_no_result_is_internal() {
    let mut rig = rig(Answer::Nothing).await;
    assert_eq!(rig.call(b"", None).await.unwrap_err().code(), Code::Internal);
}

#[tokio::test]
async fn b10_a_failure_of_the_server_keeps_its_code_its_words_and_its_details() {
    for code in [Code::NotFound, Code::Unavailable, Code::ResourceExhausted] {
        let mut rig = rig(Answer::Refuse(code)).await;
        let status = rig.call(b"", None).await.unwrap_err();
        assert_eq!((status.code(), status.message(), status.details()), (code, "no", b"more".as_slice()));
    }
}

#[tokio::test]
async fn b10_a_server_that_is_not_there_is_unavailable() {
    let (_, seen) = mpsc::unbounded_channel();
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let mut rig = at(&url, seen, &TaskTracker::new()).await;
    assert_eq!(rig.call(b"", None).await.unwrap_err().code(), Code::Unavailable);
}

#[tokio::test]
async fn b11_the_agents_patience_and_its_going_away_reach_the_server() {
    let gone = Arc::new(Notify::new());
    let mut rig = rig(Answer::Hang(Arc::clone(&gone))).await;
    let wait = Duration::from_millis(300);
    let status = rig.call(b"", Some(wait)).await.unwrap_err();
    assert!(matches!(status.code(), Code::Cancelled | Code::DeadlineExceeded), "{status:?}");
    let (_, told) = rig.seen.recv().await.unwrap();
    assert_eq!(told, Some(wait));
    tokio::time::timeout(Duration::from_secs(20), gone.notified()).await.unwrap();
}

#[tokio::test]
async fn b3_the_end_of_a_socket_ends_the_calls_in_flight_and_can_be_repeated() {
    let gone = Arc::new(Notify::new());
    let mut rig = rig(Answer::Hang(Arc::clone(&gone))).await;
    let mut agent = rig.agent.clone();
    let tasks = TaskTracker::new();
    let calling = tasks.spawn(async move {
        agent.ready().await.unwrap();
        let path = http::uri::PathAndQuery::from_static("/compass.v1.AgentGateway/Comms");
        let called: Result<Response<Bytes>, Status> =
            agent.unary(Request::new(Bytes::new()), path, RawCodec).await;
        called.map(drop)
    });
    rig.seen.recv().await.unwrap();
    rig.socket.close().await;
    tokio::time::timeout(Duration::from_secs(20), gone.notified()).await.unwrap();
    assert!(calling.await.unwrap().is_err());
    rig.socket.close().await;
}

#[tokio::test]
async fn b6_without_a_session_nothing_is_asked_of_the_server() {
    let mut rig = rig(Answer::Nothing).await;
    rig.seat.clear();
    assert_eq!(rig.call(b"", None).await.unwrap_err().code(), Code::PermissionDenied);
    rig.seat.take("");
    rig.seat.enter();
    assert_eq!(rig.call(b"", None).await.unwrap_err().code(), Code::PermissionDenied);
    assert!(rig.seen.try_recv().is_err());
}

#[tokio::test]
async fn b1_the_longest_path_the_system_takes_can_be_bound_and_one_byte_more_is_refused() {
    let (folder, tasks) = (tempfile::tempdir().unwrap(), TaskTracker::new());
    let endpoint = Endpoint::new("http://127.0.0.1:1", "token").unwrap();
    let seat = Seat::new(AccountId::from_bytes([1; 16]));
    let open = |path: &Path| AgentSocket::open(path.to_owned(), door(&endpoint, &seat, &tasks), None, &tasks);
    let base = folder.path().as_os_str().len() + 1;
    let longest = folder.path().join("x".repeat(socket::PATH_BYTES - base));
    open(&longest).unwrap().close().await;
    let longer = folder.path().join("y".repeat(socket::PATH_BYTES + 1 - base));
    assert!(matches!(open(&longer).unwrap_err(), SocketError::TooLong { .. }));
}
