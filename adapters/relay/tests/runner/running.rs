//! Agents that people place, start, watch and end on a runner.

use compass_proto::v1::{
    self, AgentSessionState, RunnerErrorCode, comms_call_request::Call, comms_call_result::Result as Answer,
    sessions_request::Result as Outcome, sessions_response::Command, subscribe_events_response::Payload,
};
use tonic::{Code, Status, Streaming};

use crate::{
    fleet::{Fleet, Keep, PATIENCE},
    process::second_agent,
    support::{Server, post_in, refused, text, with},
    watching::{last_frame, tail},
};

fn spawn_request(agent: &str, id: &str) -> v1::SpawnAgentRequest {
    let (agent_account_id, client_request_id) = (agent.into(), id.into());
    v1::SpawnAgentRequest { agent_account_id, client_request_id, ..Default::default() }
}

pub(crate) async fn spawn(server: &Server) -> v1::SpawnAgentResponse {
    let request = spawn_request(&server.agent.id(), "");
    server.server().spawn_agent(with(&server.member.token, request)).await.unwrap().into_inner()
}

fn say(server: &Server) -> v1::CommsCallRequest {
    let call = Some(Call::Post(post_in(&server.agent.home(), vec![text("from inside")])));
    v1::CommsCallRequest { call_id: "7".into(), call, ..Default::default() }
}

async fn stop(server: &Server, session: &str) {
    let request = v1::StopAgentSessionRequest { session_id: session.into() };
    server.server().stop_agent_session(with(&server.member.token, request)).await.unwrap();
}

async fn start(server: &Server, container: &str) -> Result<String, Status> {
    let request = v1::StartAgentSessionRequest { container_name: container.into(), ..Default::default() };
    let started = server.server().start_agent_session(with(&server.member.token, request)).await?;
    Ok(started.into_inner().session_id)
}

pub(crate) async fn statuses(
    server: &Server,
    token: &str,
    session: &str,
) -> Result<Vec<(String, i32)>, Status> {
    let request = v1::GetAgentStatusRequest { session_id: session.into() };
    let told = server.server().get_agent_status(with(token, request)).await?.into_inner();
    Ok(told
        .statuses
        .into_iter()
        .map(|status| {
            assert_eq!(status.agent_account_id, server.agent.id(), "whatever the runner says");
            (status.session_id, status.state)
        })
        .collect())
}

/// 10.7-8 and -10.
#[tokio::test]
async fn a_spawned_agent_is_bound_swept_and_speaks_as_itself() {
    let server = Server::start().await;
    let mut fleet = Fleet::attach(&server, "a").await;
    let missed = server.post(&server.member, vec![text("while you slept")]).await.unwrap();
    let spawned = spawn(&server).await;
    assert_eq!(spawned.container_name, server.agent.id());
    let (session, message) = fleet.delivered().await;
    assert_eq!((session, message.id), (spawned.session_id.clone(), missed.id));
    let said = fleet.relay(&spawned.session_id, say(&server)).await.unwrap();
    assert_eq!(said.call_id, "7");
    let Some(Answer::Post(posted)) = said.result else { panic!("not a post") };
    assert_eq!(posted.message.unwrap().author_account_id, server.agent.id());
    let listed = statuses(&server, &server.member.token, "").await.unwrap();
    assert_eq!(listed.len(), 1);
    let ready = AgentSessionState::Ready.into();
    let one = statuses(&server, &server.member.token, &spawned.session_id).await.unwrap();
    assert_eq!(one, [(spawned.session_id, ready)], "the runner's word");
}

/// 10.7-9 and -17.
#[tokio::test]
async fn a_stopped_session_is_not_served_and_a_start_on_its_container_binds_and_sweeps_again() {
    let server = Server::start().await;
    let mut fleet = Fleet::attach(&server, "a").await;
    let first = spawn(&server).await;
    for _ in 0..2 {
        stop(&server, &first.session_id).await;
    }
    let gone = fleet.relay(&first.session_id, say(&server)).await.unwrap_err();
    let unknown = fleet.relay(&"9".repeat(32), say(&server)).await.unwrap_err();
    assert_eq!((gone.code(), gone.message()), (Code::NotFound, unknown.message()));
    let missed = server.post(&server.member, vec![text("are you there?")]).await.unwrap();
    let session = start(&server, &first.container_name).await.unwrap();
    assert_ne!(session, first.session_id);
    assert_eq!(fleet.delivered().await.1.id, missed.id);
    assert!(fleet.relay(&session, say(&server)).await.is_ok());
    // The end of the session of before leaves the new one alone.
    stop(&server, &first.session_id).await;
    assert!(fleet.relay(&session, say(&server)).await.is_ok());
}

/// 10.7-1, -9 and -17.
#[tokio::test]
async fn a_runner_that_comes_back_keeps_its_sessions_and_gets_what_they_missed() {
    let server = Server::start().await;
    let mut fleet = Fleet::attach(&server, "a").await;
    let session = spawn(&server).await.session_id;
    fleet.report(&session, &[AgentSessionState::Ready]).await;
    let mut events = events(&server).await;
    let keep = fleet.cut();
    let again = v1::EnrollRequest { instance_id: "b".into(), ..Default::default() };
    let mut door = crate::process::client(&server);
    let enrolled = door.enroll(with(&server.runner, again)).await.unwrap().into_inner();
    assert!(enrolled.reattached);
    let request = v1::RelayCommsCallRequest { session_id: session.clone(), call: Some(say(&server)) };
    let unbound = door.relay_comms_call(with(&server.runner, request)).await.unwrap_err();
    assert_eq!(unbound.code(), Code::NotFound, "not before the runner says that it runs it");
    let missed = server.post(&server.member, vec![text("welcome back")]).await.unwrap();

    let mut fleet = Fleet::attach_with(&server, &server.runner, "b", keep).await;
    assert_eq!(fleet.delivered().await, (session.clone(), fleet_message(&server, &missed.id).await));
    assert!(fleet.relay(&session, say(&server)).await.is_ok());
    assert_eq!(fleet.keep.runs(), std::slice::from_ref(&session));
    let disconnected = until(&mut events, &session, AgentSessionState::Ready).await;
    assert_eq!(
        disconnected.iter().filter(|state| **state == AgentSessionState::Disconnected).count(),
        1,
        "told once: {disconnected:?}"
    );
}

async fn fleet_message(server: &Server, id: &str) -> v1::Message {
    server.listed().await.into_iter().find(|message| message.id == id).unwrap()
}

pub(crate) async fn events(server: &Server) -> Streaming<v1::SubscribeEventsResponse> {
    let request = v1::SubscribeEventsRequest::default();
    server.server().subscribe_events(with(&server.member.token, request)).await.unwrap().into_inner()
}

/// The states of a session up to the last one that is `end`, once it stays for a moment.
async fn until(
    events: &mut Streaming<v1::SubscribeEventsResponse>,
    session: &str,
    end: AgentSessionState,
) -> Vec<AgentSessionState> {
    let mut states = Vec::new();
    loop {
        let next = tokio::time::timeout(PATIENCE, events.message()).await.expect("an event comes");
        let Some(Payload::AgentSessionStatus(status)) = next.unwrap().unwrap().payload else { continue };
        if status.session_id == session {
            states.push(status.state());
        }
        if states.last() == Some(&end) && states.contains(&AgentSessionState::Disconnected) {
            return states;
        }
    }
}

#[tokio::test]
async fn a_new_process_of_a_runner_that_runs_nothing_ends_the_sessions_of_the_one_before() {
    let server = Server::start().await;
    let fleet = Fleet::attach(&server, "a").await;
    let session = spawn(&server).await.session_id;
    let mut tail = tail(&server, &server.member.token, &session).await.unwrap();
    let _: Keep = fleet.cut();
    let _fleet = Fleet::attach(&server, "b").await;
    let last = last_frame(&mut tail).await;
    assert_eq!(last.state(), AgentSessionState::Stopped);
    let state = statuses(&server, &server.member.token, &session).await.unwrap()[0].1;
    assert_eq!(state, i32::from(AgentSessionState::Stopped));
}

#[tokio::test]
async fn a_session_of_another_runner_is_not_found_and_its_frames_are_dropped() {
    let server = Server::start().await;
    let _fleet = Fleet::attach(&server, "a").await;
    let session = spawn(&server).await.session_id;
    let request = v1::CreateRunnerTokenRequest { runner_id: "r2".into() };
    let made = server.sessions().create_runner_token(with(&server.admin.token, request)).await.unwrap();
    let token = made.into_inner().token;
    let mut other = Fleet::attach_with(&server, &token, "a", Keep::default()).await;
    assert_eq!(other.relay(&session, say(&server)).await.unwrap_err().code(), Code::NotFound);
    other.report(&session, &[AgentSessionState::Errored]).await;
    let listed = statuses(&server, &server.member.token, "").await.unwrap();
    assert_eq!(listed.len(), 1, "it lives");
    let notes = server.hub.notes_of(&compass_domain::TenantId::default_tenant(), server.agent.account.id);
    assert!(notes.iter().any(|note| note.text.contains("r2")), "{notes:?}");
    // It claims the session: it is told to stop it.
    let keep = Keep::default();
    keep.running.lock().unwrap().insert(session.clone(), server.agent.id());
    drop(other);
    let other = Fleet::attach_with(&server, &token, "b", keep).await;
    let stopped = async {
        while !other.keep.runs().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, stopped).await.expect("the claim is ended");
    assert_eq!(statuses(&server, &server.member.token, "").await.unwrap().len(), 1);
}

/// 10.7-6.
#[tokio::test]
async fn provisions_with_one_client_id_join_and_others_do_not() {
    let server = Server::start().await;
    let other = second_agent(&server).await;
    let fleet = Fleet::attach(&server, "a").await;
    let held = fleet.provisions.acquire_many(1024).await.unwrap();
    let provision = |agent: String, id: &'static str| {
        let request = v1::ProvisionAgentWorkspaceRequest {
            agent_account_id: agent,
            client_request_id: id.into(),
            persona: "mallory".into(),
            role: "root".into(),
            ..Default::default()
        };
        let (mut door, request) = (server.server(), with(&server.member.token, request));
        server.comms.tasks.spawn(async move { door.provision_agent_workspace(request).await })
    };
    let mut calls: Vec<_> = (0..3).map(|_| provision(server.agent.id(), "same")).collect();
    calls.extend((0..2).map(|_| provision(server.agent.id(), "")));
    calls.push(provision(other.id(), "same"));
    let is_provision = |command: &Command| matches!(command, Command::Provision(_));
    let sent = async {
        while fleet.keep.count(is_provision) < 4 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, sent).await.expect("four were sent");
    // By the time this one is sent the repeats before it have come.
    calls.push(provision(other.id(), "canary"));
    let canary = async {
        while fleet.keep.count(is_provision) < 5 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, canary).await.expect("the canary was sent");
    assert_eq!(fleet.keep.count(is_provision), 5, "the repeats joined the one in flight");
    drop(held);
    for call in calls {
        call.await.unwrap().unwrap();
    }
}

/// 10.7-7.
#[tokio::test]
async fn a_slow_provision_does_not_hold_up_a_stop() {
    let server = Server::start().await;
    let other = second_agent(&server).await;
    let fleet = Fleet::attach(&server, "a").await;
    let session = spawn(&server).await.session_id;
    let _held = fleet.provisions.acquire_many(1023).await.unwrap();
    let request = spawn_request(&other.id(), "");
    let (mut door, request) = (server.server(), with(&server.member.token, request));
    let slow = server.comms.tasks.spawn(async move { door.spawn_agent(request).await });
    tokio::time::timeout(PATIENCE, stop(&server, &session)).await.expect("the stop is through");
    assert!(!slow.is_finished());
    slow.abort();
}

/// 10.7-16.
#[tokio::test]
async fn a_reload_keeps_the_session_and_sweeps_nothing() {
    let server = Server::start().await;
    let mut fleet = Fleet::attach(&server, "a").await;
    let session = spawn(&server).await.session_id;
    let message = server.post(&server.member, vec![text("hello")]).await.unwrap();
    assert_eq!(fleet.delivered().await.1.id, message.id);
    let request = v1::ReloadAgentSessionRequest { session_id: session.clone() };
    let reloaded = server.server().reload_agent_session(with(&server.member.token, request)).await.unwrap();
    assert_eq!(reloaded.into_inner().session_id, session);
    let canary = server.post(&server.member, vec![text("canary")]).await.unwrap();
    assert_eq!(fleet.delivered().await.1.id, canary.id, "nothing came again");
    assert!(fleet.relay(&session, say(&server)).await.is_ok());
}

/// 10.7-20.
#[tokio::test]
async fn a_resume_by_a_stranger_is_like_one_of_nothing_and_reaches_no_runner() {
    let server = Server::start().await;
    let fleet = Fleet::attach(&server, "a").await;
    let spawned = spawn(&server).await;
    stop(&server, &spawned.session_id).await;
    let before = fleet.keep.count(|_| true);
    let resume = |session: &str| v1::StartAgentSessionRequest {
        container_name: spawned.container_name.clone(),
        resume_session_id: session.into(),
        ..Default::default()
    };
    // The administrator takes no part in the agent's home channel.
    let mut door = server.server();
    let strange = door.start_agent_session(with(&server.admin.token, resume(&spawned.session_id)));
    let strange = refused(strange.await);
    let unknown = door.start_agent_session(with(&server.member.token, resume(&"9".repeat(32))));
    assert_eq!(strange, refused(unknown.await));
    assert_eq!(strange.0, Code::NotFound);
    assert_eq!(fleet.keep.count(|_| true), before, "no runner was asked");
    let resumed = door.start_agent_session(with(&server.member.token, resume(&spawned.session_id)));
    assert_eq!(resumed.await.unwrap().into_inner().session_id, spawned.session_id, "the same session");
    let resumes = fleet.keep.count(
        |command| matches!(command, Command::Start(start) if start.resume_session_id == spawned.session_id),
    );
    assert_eq!(resumes, 1);
}

#[tokio::test]
async fn a_session_id_of_a_client_does_not_count() {
    let server = Server::start().await;
    let _fleet = Fleet::attach(&server, "a").await;
    let spawned = spawn(&server).await;
    stop(&server, &spawned.session_id).await;
    let chosen = "c".repeat(32);
    let request = v1::StartAgentSessionRequest {
        container_name: spawned.container_name,
        session_id: chosen.clone(),
        ..Default::default()
    };
    let started = server.server().start_agent_session(with(&server.member.token, request)).await.unwrap();
    assert_ne!(started.into_inner().session_id, chosen);
}

/// 10.7-18 and ER-5 over the wire, and 10.7-22.
#[tokio::test]
async fn what_a_runner_refuses_comes_back_with_its_code_and_a_later_try_succeeds() {
    let server = Server::start().await;
    let fleet = Fleet::attach(&server, "a").await;
    let request = || with(&server.member.token, spawn_request(&server.agent.id(), "again"));
    for (code, expected) in [
        (RunnerErrorCode::AlreadyRunning, Code::AlreadyExists),
        (RunnerErrorCode::NotFound, Code::NotFound),
        (RunnerErrorCode::FailedPrecondition, Code::FailedPrecondition),
        (RunnerErrorCode::ResourceExhausted, Code::Internal),
        (RunnerErrorCode::Internal, Code::Internal),
    ] {
        *fleet.keep.refusal.lock().unwrap() = Some(code);
        let (found, words) = refused(server.server().spawn_agent(request()).await);
        assert_eq!(found, expected, "{code:?}");
        assert_eq!(words.contains("runner r1"), expected != Code::Internal, "{words}");
    }
    *fleet.keep.refusal.lock().unwrap() = None;
    let spawned = server.server().spawn_agent(request()).await.unwrap().into_inner();
    assert_eq!(server.server().spawn_agent(request()).await.unwrap().into_inner(), spawned, "joined");
    let mut door = server.server();
    let other = door.spawn_agent(with(&server.member.token, spawn_request(&server.agent.id(), "b")));
    assert_eq!(refused(other.await).0, Code::AlreadyExists, "it is live");
}

#[tokio::test]
async fn a_runner_that_is_away_is_named() {
    let server = Server::start().await;
    let request = v1::SpawnAgentRequest { runner_id: "r7".into(), ..spawn_request(&server.agent.id(), "") };
    let (code, words) = refused(server.server().spawn_agent(with(&server.member.token, request)).await);
    assert_eq!((code, words.as_str()), (Code::Unavailable, "runner r7: the runner is not attached"));
}

#[tokio::test]
async fn a_removed_container_is_gone_with_its_session() {
    let server = Server::start().await;
    let mut fleet = Fleet::attach(&server, "a").await;
    let spawned = spawn(&server).await;
    let remove = || {
        let container_name = spawned.container_name.clone();
        let request = v1::RemoveAgentWorkspaceRequest { container_name, ..Default::default() };
        with(&server.member.token, request)
    };
    server.server().remove_agent_workspace(remove()).await.unwrap();
    let gone = fleet.relay(&spawned.session_id, say(&server)).await.unwrap_err();
    assert_eq!(gone.code(), Code::NotFound);
    assert_eq!(refused(server.server().remove_agent_workspace(remove()).await).0, Code::NotFound);
    assert_eq!(start(&server, &spawned.container_name).await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn a_nameless_process_of_a_runner_is_refused() {
    let server = Server::start().await;
    let nameless = v1::EnrollRequest::default();
    let (code, words) = refused(crate::process::client(&server).enroll(with(&server.runner, nameless)).await);
    assert_eq!((code, words.as_str()), (Code::InvalidArgument, "instance_id is empty"));
}

/// 10.7-5.
#[tokio::test]
async fn a_message_that_a_runner_refuses_is_noted_and_stays_owed() {
    let server = Server::start().await;
    let mut process = crate::process::Process::open(&server, &server.runner, "a").await;
    let request = spawn_request(&server.agent.id(), "");
    let (mut door, request) = (server.server(), with(&server.member.token, request));
    let spawning = server.comms.tasks.spawn(async move { door.spawn_agent(request).await });
    let mut message = None;
    let posted = server.post(&server.member, vec![text("hello")]).await.unwrap();
    while message.is_none() {
        let command = process.next().await.unwrap();
        let outcome = match command.command.unwrap() {
            Command::Status(_) => Outcome::Status(v1::GetAgentStatusResponse::default()),
            Command::Provision(request) => Outcome::Provision(v1::ProvisionAgentWorkspaceResponse {
                container_name: request.agent_account_id,
            }),
            Command::Start(start) => {
                Outcome::Start(v1::StartAgentSessionResponse { session_id: start.session_id })
            }
            Command::DeliverControl(_) => {
                message = Some(command.request_id.clone());
                let code = RunnerErrorCode::ResourceExhausted.into();
                Outcome::Error(v1::RunnerError { code, message: "the agent's queue is full".into() })
            }
            other => panic!("not expected: {other:?}"),
        };
        process.answer(command.request_id, outcome).await;
    }
    spawning.await.unwrap().unwrap();
    assert_eq!(message, Some(posted.id), "the message names its command");
    let tenant = compass_domain::TenantId::default_tenant();
    let noted = async {
        while server.hub.notes_of(&tenant, server.agent.account.id).is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, noted).await.expect("the refusal is noted");
    let notes = server.hub.notes_of(&tenant, server.agent.account.id);
    assert!(notes[0].text.contains("the agent's queue is full"), "{notes:?}");
    assert_eq!(server.counters.refused_commands(), 1);
    assert_eq!(crate::process::owed(&server, &server.agent.token).await, 1);
}
