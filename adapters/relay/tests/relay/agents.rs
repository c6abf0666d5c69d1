//! What serves agents over plain HTTP: only an agent's token gets through.

use std::time::Duration;

use compass_proto::v1;
use http::{Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::support::{Server, WHO, with};

async fn ask(server: &Server, path: &str, authorization: Option<&str>) -> Response<String> {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<axum::body::Bytes>>();
    let mut request = http::Request::get(format!("{}{path}", server.url));
    if let Some(value) = authorization {
        request = request.header("authorization", value);
    }
    let response = client.request(request.body(Full::default()).unwrap()).await.unwrap();
    let (head, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    Response::from_parts(head, String::from_utf8(bytes.to_vec()).unwrap())
}

#[tokio::test]
async fn only_agents_get_through_over_plain_http() {
    let server = Server::start().await;
    let bearer = |token: &str| format!("Bearer {token}");
    let let_in = ask(&server, WHO, Some(&bearer(&server.agent.token))).await;
    assert_eq!((let_in.status(), let_in.body()), (StatusCode::OK, &server.agent.id()));
    let unknown = bearer(&"A".repeat(43));
    let basic = format!("Basic {}", server.agent.token);
    for no_credential in
        [None, Some(unknown.as_str()), Some("Bearer "), Some(&basic), Some(&server.agent.token)]
    {
        let refused = ask(&server, WHO, no_credential).await;
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED, "{no_credential:?}");
        assert_eq!(refused.headers()["www-authenticate"], "Bearer");
    }
    for token in [&server.admin.token, &server.member.token, &server.runner] {
        let refused = ask(&server, WHO, Some(&bearer(token))).await;
        assert_eq!(
            (refused.status(), refused.body().as_str()),
            (StatusCode::FORBIDDEN, "this call is for agents")
        );
    }
    assert_eq!(ask(&server, "/elsewhere", None).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_revoked_token_of_an_agent_does_not_get_through_again() {
    let server = Server::start().await;
    let bearer = format!("Bearer {}", server.agent.token);
    assert_eq!(ask(&server, WHO, Some(&bearer)).await.status(), StatusCode::OK);
    let revoke = v1::RevokeTokenRequest { token: server.agent.token.clone() };
    server.server().revoke_token(with(&server.member.token, revoke)).await.unwrap();
    assert_eq!(ask(&server, WHO, Some(&bearer)).await.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_client_that_leaves_something_unread_breaks_its_connection_and_one_that_read_all_does_not() {
    let server = Server::start().await;
    let address = server.url.trim_start_matches("http://");
    let token = &server.agent.token;
    let request = format!("GET {WHO} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n");
    let mut clients = Vec::new();
    for _ in 0..2 {
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(request.as_bytes()).await.unwrap();
        client.readable().await.unwrap();
        clients.push(client);
    }
    let mut read = vec![0; 4096];
    let length = clients[0].read(&mut read).await.unwrap();
    assert!(String::from_utf8_lossy(&read[..length]).ends_with(&server.agent.id()));
    drop(clients);
    let is_broken = |index: usize| server.connections.lock().unwrap()[index].is_broken();
    let noted = async {
        while !is_broken(1) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), noted).await.expect("the break is noted");
    assert!(!is_broken(0), "it closed after it had read everything");
}
