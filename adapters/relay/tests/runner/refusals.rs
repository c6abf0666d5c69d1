//! Who may be a runner, and what nobody may do to another's session.

use compass_proto::v1::{
    self, AgentSessionState, comms_call_request::Call, sessions_request::Result as Outcome,
};
use tonic::{Code, Request};

use crate::{
    process::{Process, client, enrolment, owed, receipt, second_agent, state},
    support::{Server, refused, text, with},
};

#[tokio::test]
async fn only_an_agents_or_a_runners_own_name_enrolls_and_every_refusal_reads_the_same() {
    let server = Server::start().await;
    let named = |runner_id: &str| v1::EnrollRequest { runner_id: runner_id.into(), ..enrolment("a") };
    let mut runners = client(&server);
    let mut refusals = vec![refused(runners.enroll(Request::new(named(""))).await)];
    for (token, runner_id) in [
        (&server.member.token, ""),
        (&server.admin.token, ""),
        (&server.agent.token, "r1"),
        (&server.agent.token, &*server.member.id()),
        (&server.runner, "r2"),
        (&server.runner, &*server.agent.id()),
        (&"nonsense".to_owned(), ""),
    ] {
        refusals.push(refused(runners.enroll(with(token, named(runner_id))).await));
    }
    for refusal in &refusals {
        assert_eq!(refusal, &refusals[0]);
        assert_eq!(refusal.0, Code::Unauthenticated);
    }
    for (token, runner_id) in [
        (&server.agent.token, ""),
        (&server.agent.token, &*server.agent.id()),
        (&server.runner, ""),
        (&server.runner, "r1"),
    ] {
        runners.enroll(with(token, named(runner_id))).await.unwrap();
    }
}

#[tokio::test]
async fn an_unknown_mode_and_a_long_instance_id_are_named() {
    let server = Server::start().await;
    let request = v1::EnrollRequest { mode: 9, ..enrolment("a") };
    let (code, text) = refused(client(&server).enroll(with(&server.agent.token, request)).await);
    assert_eq!((code, text.as_str()), (Code::InvalidArgument, "mode cannot be 9"));
    let request = enrolment(&"x".repeat(65));
    let (code, text) = refused(client(&server).enroll(with(&server.agent.token, request)).await);
    assert_eq!(code, Code::InvalidArgument);
    assert!(text.contains("instance_id") && text.contains("64") && text.contains("65"), "{text}");
}

#[tokio::test]
async fn a_stream_of_a_process_that_did_not_enroll_is_refused() {
    let server = Server::start().await;
    let refused = Process::stream(&server, &server.agent.token, "a").await;
    assert_eq!(refused.err().unwrap().code(), Code::FailedPrecondition);
    client(&server).enroll(with(&server.agent.token, enrolment("a"))).await.unwrap();
    let refused = Process::stream(&server, &server.agent.token, "b").await;
    assert_eq!(refused.err().unwrap().code(), Code::FailedPrecondition);
}

#[tokio::test]
async fn another_runners_session_in_a_call_a_frame_or_a_receipt_changes_and_reads_nothing() {
    let server = Server::start().await;
    let other = second_agent(&server).await;
    let mut victim = Process::attach(&server, &server.agent.token, "a").await;
    let mut thief = Process::attach(&server, &other.token, "b").await;
    let posted = server.post(&server.member, vec![text("for the first")]).await.unwrap();
    assert_eq!(victim.delivered().await.message.unwrap().id, posted.id);
    let session = victim.session.clone();

    thief.publish_as(&session, vec![receipt(&posted.id), state(AgentSessionState::Stopped)]).await;
    assert_eq!(owed(&server, &server.agent.token).await, 1, "the receipt of another is none");

    for call in [
        Call::Post(crate::support::post_in(&server.agent.home(), vec![text("forged")])),
        Call::List(v1::ListMessagesRequest::default()),
    ] {
        let call = v1::CommsCallRequest { call: Some(call), ..Default::default() };
        let stolen = thief.relay_as(&session, call.clone()).await.unwrap_err();
        let unknown = thief.relay_as("00000000000000000000000000000000", call).await.unwrap_err();
        assert_eq!((stolen.code(), stolen.message()), (unknown.code(), unknown.message()));
        assert_eq!(stolen.code(), Code::NotFound);
    }
    assert_eq!(server.listed().await.len(), 1, "nothing was posted");

    let next = server.post(&server.member, vec![text("still live")]).await.unwrap();
    assert_eq!(victim.delivered().await.message.unwrap().id, next.id);
    let own = v1::CommsCallRequest {
        call: Some(Call::List(v1::ListMessagesRequest::default())),
        ..Default::default()
    };
    victim.relay_as(&session, own).await.unwrap();
}

#[tokio::test]
async fn a_runner_that_answers_a_start_with_another_session_is_refused() {
    let server = Server::start().await;
    let other = second_agent(&server).await;
    let victim = Process::attach(&server, &server.agent.token, "a").await;
    let mut thief = Process::open(&server, &other.token, "b").await;
    let (request_id, _) = thief.take_start().await;
    let started = v1::StartAgentSessionResponse { session_id: victim.session.clone() };
    thief.answer(request_id, Outcome::Start(started)).await;
    assert_eq!(thief.end().await.code(), Code::NotFound);
}
