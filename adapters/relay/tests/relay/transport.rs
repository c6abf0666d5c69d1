//! One port: gRPC, gRPC-Web over HTTP/1.1, health, reflection, and everything else.

use compass_proto::v1;
use compass_relay::MESSAGE_BYTES;
use http_body_util::{BodyExt as _, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use tonic::{Code, Request};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tonic_reflection::pb::{
    v1::{
        ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
        server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
    },
    v1alpha,
};
use tonic_web::GrpcWebClientService;

use crate::support::{Server, post_in, refused, text, with};

#[tokio::test]
async fn a_unary_call_works_over_grpc_web_and_http_1() {
    let server = Server::start().await;
    let http = Client::builder(TokioExecutor::new()).build_http();
    let web = GrpcWebClientService::new(http);
    let mut client =
        v1::compass_service_client::CompassServiceClient::with_origin(web, server.url.parse().unwrap());
    let info = client.get_server_info(with(&server.member.token, v1::GetServerInfoRequest {})).await.unwrap();
    let info = info.into_inner();
    assert_eq!((info.version.as_str(), info.api_version.as_str()), ("1.2.3", "compass.v1"));
    let refusal = refused(client.get_server_info(Request::new(v1::GetServerInfoRequest {})).await);
    assert_eq!(refusal.0, Code::Unauthenticated);
    let revoke = v1::RevokeTokenRequest { token: String::new() };
    let refusal = refused(client.revoke_token(with(&server.member.token, revoke)).await);
    assert_eq!(refusal, (Code::InvalidArgument, "token is empty".into()));
}

#[tokio::test]
async fn health_answers_without_a_token() {
    let server = Server::start().await;
    let mut health = HealthClient::new(server.channel.clone());
    for service in ["", "compass.v1.CommsService", "compass.v1.RunnerService"] {
        let checked = health.check(HealthCheckRequest { service: service.into() }).await.unwrap();
        assert_eq!(checked.into_inner().status(), ServingStatus::Serving, "{service}");
    }
}

#[tokio::test]
async fn reflection_answers_in_both_versions_and_needs_a_token() {
    let server = Server::start().await;
    let mut client = ServerReflectionClient::new(server.channel.clone());
    let list = || ServerReflectionRequest {
        message_request: Some(MessageRequest::ListServices(String::new())),
        ..Default::default()
    };
    let asked = with(&server.member.token, tokio_stream::once(list()));
    let mut answers = client.server_reflection_info(asked).await.unwrap().into_inner();
    let answer = answers.message().await.unwrap().unwrap().message_response;
    let Some(MessageResponse::ListServicesResponse(listed)) = answer else { panic!("{answer:?}") };
    assert!(listed.service.iter().any(|service| service.name == "compass.v1.AgentDoor"), "{listed:?}");
    let refusal = refused(client.server_reflection_info(tokio_stream::once(list())).await);
    assert_eq!(refusal.0, Code::Unauthenticated);

    let mut old = v1alpha::server_reflection_client::ServerReflectionClient::new(server.channel.clone());
    let list = v1alpha::ServerReflectionRequest {
        message_request: Some(
            v1alpha::server_reflection_request::MessageRequest::ListServices(String::new()),
        ),
        ..Default::default()
    };
    let asked = with(&server.member.token, tokio_stream::once(list));
    let mut answers = old.server_reflection_info(asked).await.unwrap().into_inner();
    assert!(answers.message().await.unwrap().unwrap().message_response.is_some());
}

#[tokio::test]
async fn a_message_over_the_limit_is_refused_and_one_below_is_read() {
    let server = Server::start().await;
    let sized = |bytes: usize| post_in(&server.agent.home(), vec![text(&"a".repeat(bytes))]);
    let mut client = server.conversation();
    let over = refused(client.post_message(with(&server.member.token, sized(MESSAGE_BYTES + 1))).await);
    assert_eq!(over.0, Code::OutOfRange);
    let below = refused(client.post_message(with(&server.member.token, sized(MESSAGE_BYTES - 1024))).await);
    assert_eq!(below.0, Code::InvalidArgument, "read, and refused by the limit of a message: {}", below.1);
}

#[tokio::test]
async fn an_invented_rpc_is_denied_and_an_invented_service_is_not_offered() {
    let server = Server::start().await;
    let post = async |path: &str, kind: &str, token: Option<&str>| {
        let client = Client::builder(TokioExecutor::new()).build_http::<Full<axum::body::Bytes>>();
        let mut request = http::Request::post(format!("{}{path}", server.url)).header("content-type", kind);
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let response = client.request(request.body(Full::default()).unwrap()).await.unwrap();
        let status = response.headers().get("grpc-status").map(|status| Code::from_bytes(status.as_bytes()));
        let http = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let in_body = String::from_utf8_lossy(&body)
            .split_once("grpc-status:")
            .map(|(_, rest)| Code::from_bytes(rest.trim_start().split('\r').next().unwrap().as_bytes()));
        (http, status.or(in_body))
    };
    let admin = Some(server.admin.token.as_str());
    let web = "application/grpc-web+proto";
    let invented = "/compass.v1.CommsService/Invented";
    assert_eq!(post(invented, web, admin).await.1, Some(Code::PermissionDenied));
    assert_eq!(post(invented, web, None).await.1, Some(Code::Unauthenticated));
    assert_eq!(post("/other.v1.Service/Call", web, admin).await.1, Some(Code::Unimplemented));
    assert_eq!(post("/page", "text/html", admin).await, (404, None));
}
