//! What people see of sessions: what they do, and their states.

use std::time::Duration;

use compass_proto::v1::{
    self, AgentSessionState, agent_frame::Frame, session_event::Event, subscribe_events_response::Payload,
};
use tonic::{Code, Status, Streaming};

use crate::{
    fleet::{Fleet, PATIENCE},
    running::{events, spawn, statuses},
    support::{Server, with},
};

pub(crate) async fn tail(
    server: &Server,
    token: &str,
    session: &str,
) -> Result<Streaming<v1::AgentSessionFrame>, Status> {
    let request = v1::SubscribeAgentSessionRequest { session_id: session.into() };
    Ok(server.server().subscribe_agent_session(with(token, request)).await?.into_inner())
}

async fn next(tail: &mut Streaming<v1::AgentSessionFrame>) -> Option<v1::AgentSessionFrame> {
    tokio::time::timeout(PATIENCE, tail.message()).await.expect("a frame comes").unwrap()
}

pub(crate) async fn last_frame(tail: &mut Streaming<v1::AgentSessionFrame>) -> v1::AgentSessionFrame {
    let mut last = None;
    while let Some(frame) = next(tail).await {
        last = Some(frame);
    }
    last.expect("there was one")
}

fn trace(words: &str) -> Frame {
    let text = v1::SessionNotice { text: words.into(), ..Default::default() };
    let event = v1::SessionEvent { event: Some(Event::Notice(text)), ..Default::default() };
    Frame::Session(v1::SessionFrame { state: 0, typed_event: Some(event) })
}

/// 10.7-14, RH-29 and RH-32.
#[tokio::test]
async fn a_watcher_sees_what_a_session_does_until_it_ends_and_a_stranger_nothing() {
    use AgentSessionState as S;
    let server = Server::start().await;
    let mut fleet = Fleet::attach(&server, "a").await;
    let session = spawn(&server).await.session_id;
    let mut watched = tail(&server, &server.member.token, &session).await.unwrap();
    assert_eq!(next(&mut watched).await.unwrap().session_id, session, "where it stands");
    let strange = tail(&server, &server.admin.token, &session).await.unwrap_err();
    let unknown = tail(&server, &server.admin.token, &"9".repeat(32)).await.unwrap_err();
    assert_eq!((strange.code(), strange.message()), (Code::NotFound, unknown.message()));
    let strange = statuses(&server, &server.admin.token, &session).await.unwrap_err();
    assert_eq!((strange.code(), strange.message()), (Code::NotFound, unknown.message()));

    let mut events = events(&server).await;
    let ready = events.message().await.unwrap().unwrap();
    let Some(Payload::ServerStatus(status)) = &ready.payload else { panic!("{ready:?}") };
    assert_eq!((ready.seq, status.state()), (0, v1::ServerState::Ready));

    fleet.publish(&session, vec![trace("thinking"), crate::process::state(S::Disconnected)]).await;
    fleet.publish(&session, vec![crate::process::state(S::Ready), crate::process::state(S::Stopped)]).await;
    let shown = next(&mut watched).await.unwrap();
    let Some(Event::Notice(notice)) = shown.event.and_then(|event| event.event) else { panic!("no notice") };
    assert_eq!(notice.text, "thinking");
    for state in [S::Disconnected, S::Ready, S::Stopped] {
        assert_eq!(next(&mut watched).await.unwrap().state(), state);
    }
    assert_eq!(next(&mut watched).await, None, "the end comes after the last frame");

    let told = states(&mut events, &session, S::Stopped).await;
    assert!(told.ends_with(&[S::Disconnected, S::Ready, S::Stopped]), "{told:?}");
    assert!(!told.contains(&S::Unspecified), "a trace is no status: {told:?}");
}

async fn states(
    events: &mut Streaming<v1::SubscribeEventsResponse>,
    session: &str,
    end: AgentSessionState,
) -> Vec<AgentSessionState> {
    let mut states = Vec::new();
    while states.last() != Some(&end) {
        let next = tokio::time::timeout(PATIENCE, events.message()).await.expect("an event comes");
        if let Some(Payload::AgentSessionStatus(status)) = next.unwrap().unwrap().payload
            && status.session_id == session
        {
            states.push(status.state());
        }
    }
    states
}

#[tokio::test]
async fn status_events_go_to_those_who_see_the_agent_and_resume_as_the_conversation_does() {
    let server = Server::start().await;
    let mut fleet = Fleet::attach(&server, "a").await;
    let request = v1::SubscribeEventsRequest { since_seq: 5, instance_epoch: 1 };
    let mut stale =
        server.server().subscribe_events(with(&server.member.token, request)).await.unwrap().into_inner();
    let resync = stale.message().await.unwrap().unwrap();
    assert!(matches!(resync.payload, Some(Payload::ResyncRequired(_))), "{resync:?}");
    assert!(stale.message().await.unwrap().is_none(), "it ends after it");

    // The administrator owns an agent and does not see the member's.
    let request = v1::SubscribeEventsRequest::default();
    let mut hidden =
        server.server().subscribe_events(with(&server.admin.token, request)).await.unwrap().into_inner();
    assert_eq!(hidden.message().await.unwrap().unwrap().seq, 0);
    let session = spawn(&server).await.session_id;
    fleet.report(&session, &[AgentSessionState::Working]).await;
    let mut seen = events(&server).await;
    let told = states(&mut seen, &session, AgentSessionState::Working).await;
    assert_eq!(told.first(), Some(&AgentSessionState::Starting), "replayed from the start");
    let nothing = tokio::time::timeout(Duration::from_millis(200), hidden.message()).await;
    assert!(nothing.is_err(), "{nothing:?}");
}
