//! The client against a server of the contract that is written here: what goes out, and how replies read.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};

use compass_client::{Client, ClientError, NewPost, TopicName};
use compass_domain::message::DraftBlock;
use compass_proto::v1::{
    AcknowledgeRequest, AcknowledgeResponse, CommsCallError, CommsCallRequest, CommsCallResult,
    DeliverControl, FetchRequest, FetchResponse, Message, MessageBlock, PostMessageResponse,
    agent_door_server::{AgentDoor, AgentDoorServer},
    comms_call_request::Call,
    comms_call_result::Result as Outcome,
    message_block::Block,
};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status, transport::Server};

const LARGE: usize = 3 * 1024 * 1024;

#[derive(Clone, Default)]
struct Door {
    headers: Arc<Mutex<Vec<String>>>,
    acknowledged: Arc<Mutex<Vec<String>>>,
}

impl Door {
    fn note<T>(&self, request: &Request<T>) {
        let header = |name: &str| {
            let value = request.metadata().get(name).map(|value| value.to_str().unwrap().to_owned());
            value.unwrap_or_default()
        };
        self.headers.lock().unwrap().extend([header("authorization"), header("grpc-timeout")]);
    }
}

#[tonic::async_trait]
impl AgentDoor for Door {
    async fn call(&self, request: Request<CommsCallRequest>) -> Result<Response<CommsCallResult>, Status> {
        self.note(&request);
        let result = match request.into_inner().call {
            Some(Call::Post(post)) if post.client_request_id == "lost" => {
                return Err(Status::unknown("the commit's outcome is not known"));
            }
            Some(Call::Post(post)) => {
                let message = Message { id: "m".into(), blocks: post.blocks, ..Message::default() };
                Outcome::Post(PostMessageResponse { message: Some(message) })
            }
            Some(Call::CancelAsk(ask)) => Outcome::Error(CommsCallError {
                code: "already_exists".into(),
                message: format!("ask {:?} is already answered", ask.ask_id),
            }),
            _ => Outcome::Post(PostMessageResponse { message: None }),
        };
        Ok(Response::new(CommsCallResult { result: Some(result), ..CommsCallResult::default() }))
    }

    async fn fetch(&self, request: Request<FetchRequest>) -> Result<Response<FetchResponse>, Status> {
        self.note(&request);
        let block = MessageBlock { block: Some(Block::Text("x".repeat(LARGE))) };
        let message = Some(Message { id: "big".into(), blocks: vec![block], ..Message::default() });
        let delivery = DeliverControl { message, from_handle: "ana".into(), ..DeliverControl::default() };
        Ok(Response::new(FetchResponse { deliveries: vec![delivery], waiting: 4 }))
    }

    async fn acknowledge(
        &self,
        request: Request<AcknowledgeRequest>,
    ) -> Result<Response<AcknowledgeResponse>, Status> {
        self.acknowledged.lock().unwrap().extend(request.into_inner().message_ids);
        Ok(Response::new(AcknowledgeResponse {}))
    }
}

async fn connected() -> (Door, Client) {
    let door = Door::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let service = AgentDoorServer::new(door.clone()).max_encoding_message_size(2 * LARGE);
    let serving =
        Server::builder().add_service(service).serve_with_incoming(TcpListenerStream::new(listener));
    tokio_util::task::TaskTracker::new().spawn(serving);
    (door, Client::connect(&url, Some("secret")).await.unwrap())
}

fn post(key: &str) -> NewPost {
    NewPost {
        channel: None,
        topic: TopicName::Name("t".into()),
        existing_topic_only: false,
        blocks: vec![DraftBlock::Text("hello".into())],
        key: key.into(),
    }
}

#[tokio::test]
async fn every_call_carries_the_token_and_a_deadline() {
    let (door, client) = connected().await;
    assert_eq!(client.agent_post(post("k")).await.unwrap().id, "m");
    let headers = door.headers.lock().unwrap().clone();
    assert_eq!(headers[0], "Bearer secret");
    assert!(!headers[1].is_empty());
}

#[tokio::test]
async fn the_server_tells_the_time() {
    let (_, client) = connected().await;
    assert_eq!(client.server_time_unix_ms(), None);
    client.fetch(0, None).await.unwrap();
    assert!(client.server_time_unix_ms().is_some_and(|time| time > 1_700_000_000_000));
}

#[tokio::test]
async fn the_largest_legal_page_comes_through() {
    let (door, client) = connected().await;
    let fetched = client.fetch(0, Some("a")).await.unwrap();
    assert_eq!((fetched.waiting, fetched.deliveries[0].from_handle.as_str()), (4, "ana"));
    client.acknowledge(vec![fetched.deliveries[0].message.id.clone()]).await.unwrap();
    assert_eq!(*door.acknowledged.lock().unwrap(), ["big"]);
}

#[tokio::test]
async fn an_error_inside_a_reply_is_a_refusal_with_its_code() {
    let (_, client) = connected().await;
    let error = client.agent_cancel_ask("a").await.unwrap_err();
    assert_eq!(
        (error.code(), error.to_string()),
        ("already_exists", "ask \"a\" is already answered".to_owned())
    );
}

#[tokio::test]
async fn an_unknown_outcome_is_not_called_a_failure() {
    let (_, client) = connected().await;
    let error = client.agent_post(post("lost")).await.unwrap_err();
    assert!(matches!(error, ClientError::OutcomeUnknown(_)), "{error:?}");
}

#[tokio::test]
async fn a_reply_of_the_wrong_kind_is_a_breach_and_not_a_result() {
    let (_, client) = connected().await;
    let error = client.agent_messages(None, None, &compass_client::Page::default()).await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error:?}");
}

#[tokio::test]
async fn a_door_the_server_does_not_have_is_a_refusal() {
    let (_, client) = connected().await;
    assert_eq!(client.accounts().await.unwrap_err().code(), "unimplemented");
}
