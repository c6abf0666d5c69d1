//! Tokens: what is no credential, what a credential is not enough for, and when it stops working.

use std::{sync::Arc, time::Duration};

use compass_comms::{Comms, tokens::revoke::revoke_value};
use compass_proto::v1;
use compass_relay::auth::{Auth, Ended, RECHECKED};
use compass_testkit::CountedStorage;
use http::HeaderMap;
use tokio::{task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;
use tonic::{Code, Request};

use crate::support::{House, Server, post_in, refused, text, with};

#[tokio::test]
async fn whatever_is_no_credential_gets_one_answer() {
    let server = Server::start().await;
    let mut client = server.conversation();
    let mut answers = Vec::new();
    answers.push(refused(client.list_channels(Request::new(v1::ListChannelsRequest::default())).await));
    let unknown = "A".repeat(43);
    for token in [unknown.as_str(), "", "x", &server.sign_in, &server.runner] {
        answers.push(refused(client.list_channels(with(token, v1::ListChannelsRequest::default())).await));
    }
    let mut basic = Request::new(v1::ListChannelsRequest::default());
    basic.metadata_mut().insert("authorization", format!("Basic {}", server.admin.token).parse().unwrap());
    answers.push(refused(client.list_channels(basic).await));
    assert_eq!(answers[0].0, Code::Unauthenticated);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
}

#[tokio::test]
async fn a_persons_token_is_no_credential_at_the_runners_door() {
    let server = Server::start().await;
    let mut client = v1::runner_service_client::RunnerServiceClient::new(server.channel.clone());
    for token in [&server.admin.token, &server.member.token] {
        let (code, _) = refused(client.enroll(with(token, v1::EnrollRequest::default())).await);
        assert_eq!(code, Code::Unauthenticated);
        let frame = v1::PublishEventsRequest::default();
        let published = client.publish_events(with(token, tokio_stream::iter([frame]))).await;
        assert_eq!(refused(published).0, Code::Unauthenticated);
    }
    assert_eq!(server.counters.dropped_frames(), 0, "none of their frames was looked at");
}

#[tokio::test]
async fn services_of_people_refuse_agents_and_the_agents_door_refuses_people() {
    let server = Server::start().await;
    let agent = &server.agent.token;
    let mut people = v1::people_service_client::PeopleServiceClient::new(server.channel.clone());
    let answers = [
        refused(server.inbox().list_open_asks(with(agent, v1::ListOpenAsksRequest::default())).await),
        refused(server.inbox().mark_read(with(agent, v1::MarkReadRequest::default())).await),
        refused(people.open_dm(with(agent, v1::OpenDmRequest::default())).await),
        refused(server.sessions().list_tokens(with(agent, v1::ListTokensRequest::default())).await),
        refused(
            server.sessions().create_runner_token(with(agent, v1::CreateRunnerTokenRequest::default())).await,
        ),
        refused(server.server().issue_token(with(agent, v1::IssueTokenRequest::default())).await),
        refused(server.agent_door().fetch(with(&server.admin.token, v1::FetchRequest::default())).await),
    ];
    assert!(answers.iter().all(|(code, _)| *code == Code::PermissionDenied), "{answers:?}");
}

#[tokio::test]
async fn only_an_admin_creates_people_runner_tokens_and_sign_ins() {
    let server = Server::start().await;
    let create = || v1::CreateUserRequest { handle: "eve".into(), ..Default::default() };
    let runner = || v1::CreateRunnerTokenRequest { runner_id: "r2".into() };
    let link = || v1::CreateSignInLinkRequest { account_id: server.member.id() };
    let member = &server.member.token;
    let answers = [
        refused(server.conversation().create_user(with(member, create())).await).0,
        refused(server.sessions().create_runner_token(with(member, runner())).await).0,
        refused(server.sessions().create_sign_in_link(with(member, link())).await).0,
    ];
    assert_eq!(answers, [Code::PermissionDenied; 3]);
    let admin = &server.admin.token;
    server.conversation().create_user(with(admin, create())).await.unwrap();
    server.sessions().create_runner_token(with(admin, runner())).await.unwrap();
    let link = server.sessions().create_sign_in_link(with(admin, link())).await.unwrap().into_inner();
    let trade = v1::TradeSignInRequest { secret: link.secret };
    let signed_in = server.sessions().trade_sign_in(trade.clone()).await.unwrap().into_inner();
    assert_eq!(signed_in.account_id, server.member.id());
    assert_eq!(refused(server.sessions().trade_sign_in(trade).await).0, Code::Unauthenticated);
    let who = server.server().who_am_i(with(&signed_in.token, v1::WhoAmIRequest {})).await.unwrap();
    assert_eq!(who.into_inner().account_id, server.member.id());
}

#[tokio::test]
async fn a_post_is_the_tokens_accounts() {
    let server = Server::start().await;
    for seat in [&server.member, &server.agent] {
        let posted = server.post(seat, vec![text("x")]).await.unwrap();
        assert_eq!(posted.author_account_id, seat.id());
    }
}

#[tokio::test]
async fn a_revoked_token_stops_working_at_once_on_this_node() {
    let server = Server::start().await;
    let who = async |token: &str| server.server().who_am_i(with(token, v1::WhoAmIRequest {})).await;
    let issue = v1::IssueTokenRequest { account_id: server.agent.id() };
    let issued = server.server().issue_token(with(&server.member.token, issue)).await.unwrap();
    let token = issued.into_inner().token;
    // Believed from here on.
    who(&token).await.unwrap();
    let revoke = v1::RevokeTokenRequest { token: token.clone() };
    server.server().revoke_token(with(&server.member.token, revoke.clone())).await.unwrap();
    assert_eq!(refused(who(&token).await).0, Code::Unauthenticated);
    server.server().revoke_token(with(&server.member.token, revoke)).await.unwrap();

    let list = v1::ListTokensRequest { account_id: server.agent.id() };
    let listed = server.sessions().list_tokens(with(&server.member.token, list)).await.unwrap().into_inner();
    assert_eq!(listed.tokens.len(), 1, "the revoked one is gone: {listed:?}");
    who(&server.agent.token).await.unwrap();
    let by_id = v1::RevokeTokenByIdRequest { token_id: listed.tokens[0].id.clone() };
    server.sessions().revoke_token_by_id(with(&server.member.token, by_id)).await.unwrap();
    assert_eq!(refused(who(&server.agent.token).await).0, Code::Unauthenticated);
}

#[tokio::test]
async fn a_post_without_a_token_stores_nothing() {
    let server = Server::start().await;
    let request = post_in(&server.agent.home(), vec![text("x")]);
    assert_eq!(refused(server.conversation().post_message(request).await).0, Code::Unauthenticated);
    assert_eq!(server.listed().await, []);
}

#[tokio::test(start_paused = true)]
async fn a_token_revoked_elsewhere_works_no_longer_than_it_is_believed_and_ends_streams_in_time() {
    let house = House::new().await;
    let auth = Auth::new(house.comms.clone());
    let mut headers = HeaderMap::new();
    headers.insert("authorization", format!("Bearer {}", house.token).parse().unwrap());
    let identity = auth.identify(&headers).await.unwrap();
    // As another node would: without a word to this one.
    revoke_value(&house.comms, &house.admin, &house.token).await.unwrap();
    auth.identify(&headers).await.unwrap();
    let opened = Instant::now();
    let ended = auth.clone().ended(identity, CancellationToken::new()).await;
    assert!(matches!(&ended, Ended::Refused(status) if status.code() == Code::Unauthenticated), "{ended:?}");
    assert_eq!(opened.elapsed(), RECHECKED);
    assert_eq!(auth.identify(&headers).await.unwrap_err().code(), Code::Unauthenticated);
}

#[tokio::test(start_paused = true)]
async fn a_stream_whose_token_works_ends_only_with_the_server() {
    let house = House::new().await;
    let auth = Auth::new(house.comms.clone());
    let mut headers = HeaderMap::new();
    headers.insert("authorization", format!("Bearer {}", house.token).parse().unwrap());
    let identity = auth.identify(&headers).await.unwrap();
    let stop = CancellationToken::new();
    let ended = auth.ended(identity, stop.clone());
    let stopped = async {
        tokio::time::sleep(RECHECKED * 100).await;
        stop.cancel();
    };
    let (ended, ()) = tokio::join!(ended, stopped);
    assert!(matches!(ended, Ended::Stopping), "{ended:?}");
}

#[tokio::test(start_paused = true)]
async fn open_streams_share_the_reads_that_check_their_tokens_and_all_end() {
    const STREAMS: usize = 1_000;
    let house = House::new().await;
    let storage = Arc::clone(&house.comms.storage);
    let counted = Arc::new(CountedStorage::over(storage));
    let auth = Auth::new(Comms { storage: Arc::clone(&counted) as _, ..house.comms.clone() });
    let mut headers = HeaderMap::new();
    headers.insert("authorization", format!("Bearer {}", house.token).parse().unwrap());
    let identity = auth.identify(&headers).await.unwrap();
    let mut streams = JoinSet::new();
    for _ in 0..STREAMS {
        // Opened at different times, and checked at the same.
        tokio::time::sleep(Duration::from_millis(7)).await;
        streams.spawn(auth.clone().ended(identity.clone(), CancellationToken::new()));
    }
    counted.take_token_reads();
    tokio::time::sleep(RECHECKED).await;
    assert_eq!(streams.len(), STREAMS, "they go on");
    let reads = counted.take_token_reads();
    assert!((4..=5).contains(&reads), "{reads} reads for {STREAMS} streams");
    revoke_value(&house.comms, &house.admin, &house.token).await.unwrap();
    let revoked = Instant::now();
    while let Some(ended) = streams.join_next().await {
        assert!(matches!(&ended, Ok(Ended::Refused(status)) if status.code() == Code::Unauthenticated));
    }
    assert!(revoked.elapsed() <= RECHECKED, "{:?}", revoked.elapsed());
}
