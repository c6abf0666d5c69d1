//! How streams end, and what takes their place.

use compass_proto::v1::{self, AttachMode, sessions_response::Command};
use tonic::Code;

use crate::{
    process::{Process, client, enrolment, second_agent},
    support::{Server, refused, text, with},
};

#[tokio::test]
async fn a_second_process_is_refused_and_one_that_takes_over_ends_the_first() {
    let server = Server::start().await;
    let token = server.agent.token.clone();
    let mut first = Process::attach(&server, &token, "a").await;
    let (code, _) = refused(client(&server).enroll(with(&token, enrolment("b"))).await);
    assert_eq!(code, Code::AlreadyExists);
    let take_over = v1::EnrollRequest { take_over: true, ..enrolment("b") };
    let reattached = client(&server).enroll(with(&token, take_over)).await.unwrap().into_inner().reattached;
    assert!(reattached);
    assert_eq!(first.end().await.code(), Code::Aborted);
    let mut second = Process::stream(&server, &token, "b").await.unwrap();
    second.start().await;
    assert_ne!(second.session, first.session);
    let posted = server.post(&server.member, vec![text("for the second")]).await.unwrap();
    assert_eq!(second.delivered().await.message.unwrap().id, posted.id);
}

#[tokio::test]
async fn the_same_process_comes_back_and_its_old_stream_is_aborted() {
    let server = Server::start().await;
    let mut first = Process::attach(&server, &server.agent.token, "a").await;
    let mut again = Process::open(&server, &server.agent.token, "a").await;
    assert_eq!(first.end().await.code(), Code::Aborted);
    again.start().await;
    assert_eq!(again.session, first.session, "it runs the same session on");
    let posted = server.post(&server.member, vec![text("hello again")]).await.unwrap();
    assert_eq!(again.delivered().await.message.unwrap().id, posted.id);
}

#[tokio::test]
async fn two_agents_stay_live_side_by_side() {
    let server = Server::start().await;
    let other = second_agent(&server).await;
    let mut one = Process::attach(&server, &server.agent.token, "a").await;
    let two = Process::attach(&server, &other.token, "a").await;
    assert_ne!(one.session, two.session);
    let posted = server.post(&server.member, vec![text("hello")]).await.unwrap();
    assert_eq!(one.delivered().await.message.unwrap().id, posted.id);
}

#[tokio::test]
async fn a_presence_only_process_is_started_beside_a_delivering_one_and_sent_nothing() {
    let server = Server::start().await;
    let token = server.agent.token.clone();
    let mut delivering = Process::attach(&server, &token, "a").await;
    let watch = v1::EnrollRequest { mode: AttachMode::PresenceOnly.into(), ..enrolment("w") };
    client(&server).enroll(with(&token, watch)).await.unwrap();
    let mut watcher = Process::stream(&server, &token, "w").await.unwrap();
    watcher.start().await;
    let posted = server.post(&server.member, vec![text("hello")]).await.unwrap();
    assert_eq!(delivering.delivered().await.message.unwrap().id, posted.id);
    server.stop.cancel();
    let end = watcher.next().await;
    assert_eq!(end.unwrap_err().code(), Code::Unavailable, "the first thing it hears is the end");
}

#[tokio::test]
async fn a_server_that_stops_ends_every_stream_with_a_reason() {
    let server = Server::start().await;
    let mut process = Process::attach(&server, &server.agent.token, "a").await;
    server.stop.cancel();
    assert_eq!(process.end().await.code(), Code::Unavailable);
}

#[tokio::test]
async fn a_revoked_token_ends_its_stream() {
    let server = Server::start().await;
    let mut process = Process::attach(&server, &server.agent.token, "a").await;
    let revoke = v1::RevokeTokenRequest { token: server.agent.token.clone() };
    server.server().revoke_token(with(&server.admin.token, revoke)).await.unwrap();
    assert_eq!(process.end().await.code(), Code::Unauthenticated);
}

#[tokio::test]
async fn a_runner_with_a_token_of_its_own_is_asked_what_it_runs_and_started_nothing() {
    let server = Server::start().await;
    let mut first = Process::open(&server, &server.runner, "a").await;
    let asked = first.next().await.unwrap().command;
    assert_eq!(asked, Some(Command::Status(v1::GetAgentStatusRequest::default())));
    let reattached = client(&server).enroll(with(&server.runner, enrolment("b"))).await.unwrap();
    assert!(reattached.into_inner().reattached);
    assert_eq!(first.next().await.unwrap_err().code(), Code::Aborted, "nothing else was sent before the end");
}
