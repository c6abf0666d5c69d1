//! What the server asks for: places, sessions, control, and what it is told.

use std::time::{Duration, Instant};

use compass_proto::v1::{
    self, AgentSessionState, RunnerErrorCode, agent_control::Control, sessions_request::Result as Reply,
    sessions_response::Command,
};
use compass_runner::WakePolicy;
use tonic::Status;

use super::{
    rig::{Rig, account, agent, pids, script, settings, until},
    server::{FakeServer, Heard},
};

fn provision(account: &str) -> Command {
    Command::Provision(v1::ProvisionAgentWorkspaceRequest {
        agent_account_id: account.to_owned(),
        ..Default::default()
    })
}

fn code(reply: &Reply) -> RunnerErrorCode {
    match reply {
        Reply::Error(error) => error.code(),
        other => panic!("{other:?}"),
    }
}

fn message(reply: Reply) -> String {
    match reply {
        Reply::Error(error) => error.message,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_enrolment_says_what_wakes_each_agent() {
    let state = tempfile::tempdir().unwrap();
    let mut any = agent(1, &["agent"]);
    any.wake = WakePolicy::Any;
    let mut never = agent(2, &["agent"]);
    never.wake = WakePolicy::Never;
    let mut rig = Rig::dial(FakeServer::start().await, state, vec![any, never, agent(3, &["agent"])]);
    let enrolled = rig.server.attached().await;
    let wake: Vec<_> =
        enrolled.wake.iter().map(|wake| (wake.agent_account_id.clone(), wake.policy())).collect();
    assert_eq!(
        wake,
        [
            (account(1), v1::WakePolicy::Any),
            (account(2), v1::WakePolicy::Never),
            (account(3), v1::WakePolicy::Mention),
        ]
    );
    assert_eq!((enrolled.runner_id.as_str(), enrolled.instance_id.as_str()), ("", "instance"));
}

#[tokio::test]
async fn a_place_needs_a_profile_and_is_named_after_its_account() {
    let mut rig = Rig::start(vec![agent(1, &["agent"])]).await;
    let provisioned = rig.server.ask(provision(&account(1))).await;
    assert!(matches!(provisioned, Reply::Provision(reply) if reply.container_name == account(1)));
    assert!(rig.socket(1).exists());
    let refused = rig.server.ask(provision(&account(2))).await;
    assert_eq!(code(&refused), RunnerErrorCode::FailedPrecondition);
    assert!(message(refused).contains(&account(2)));
    let refused = rig.server.ask(provision("../../etc")).await;
    assert_eq!(code(&refused), RunnerErrorCode::FailedPrecondition);
    assert!(message(refused).contains("agent_account_id"));
}

#[tokio::test]
async fn messages_reach_a_started_agent_in_order_and_its_acknowledgements_the_server() {
    let mut rig = Rig::start(vec![agent(1, &["agent"])]).await;
    assert!(
        matches!(rig.server.start_session(&account(1), "s").await, Reply::Start(reply) if reply.session_id == "s")
    );
    for number in 0..50 {
        rig.server.deliver("s", &number.to_string()).await;
    }
    rig.server.ready("s").await;
    for number in 0..50 {
        assert_eq!(rig.server.acknowledged("s").await, number.to_string());
    }
    let status = rig.server.status().await;
    assert_eq!((status.len(), status[0].session_id.as_str()), (1, "s"));
    assert_eq!((status[0].state(), &status[0].agent_account_id), (AgentSessionState::Ready, &account(1)));
    let mut seqs = Vec::new();
    rig.stop();
    rig.ended().await.unwrap();
    rig.server
        .hear("the last frame", |heard| match heard {
            Heard::Frame(frame) => {
                seqs.push(frame.runner_seq);
                let stopped = frame.frame.clone().unwrap().frame.unwrap();
                matches!(stopped, v1::agent_frame::Frame::Session(session) if session.state() == AgentSessionState::Stopped)
                    .then_some(())
            }
            _ => None,
        })
        .await;
    assert_eq!(seqs.last(), Some(&53), "starting, ready, 50 acknowledgements, stopped, without a gap");
}

#[tokio::test]
async fn b28_a_clean_end_waits_until_the_server_took_the_last_frame() {
    let mut rig = Rig::start(vec![agent(1, &["agent"])]).await;
    rig.server.start_session(&account(1), "s").await;
    rig.server.ready("s").await;
    rig.server.frames_answered.forget_permits(1000);
    rig.stop();
    while rig.server.state("s").await != AgentSessionState::Stopped {}
    assert!(!rig.ends_within(Duration::from_secs(1)).await, "the server has not answered");
    let answered = Instant::now();
    rig.server.frames_answered.add_permits(1);
    rig.ended().await.unwrap();
    assert!(answered.elapsed() < Duration::from_secs(3), "not the bound for a server that never answers");
}

#[tokio::test]
async fn a_call_of_an_agent_is_made_under_its_session() {
    let mut rig = Rig::start(vec![agent(1, &["agent"])]).await;
    rig.server.start_session(&account(1), "s").await;
    rig.server.ready("s").await;
    rig.server.control("s", Control::Prompt(v1::PromptControl { input: "a call".into() })).await;
    let notes = until("the result", || {
        let notes = rig.notes(1);
        notes.iter().any(|line| line.starts_with("result") || line.starts_with("refused")).then_some(notes)
    })
    .await;
    assert!(notes.contains(&"result a call as s".to_owned()), "{notes:?}");
}

#[tokio::test]
async fn b30_a_second_session_at_one_place_is_refused_and_another_place_is_free() {
    let mut rig = Rig::start(vec![agent(1, &["agent"]), agent(2, &["agent"])]).await;
    rig.server.start_session(&account(1), "s").await;
    let second = rig.server.start_session(&account(1), "t").await;
    assert_eq!(code(&second), RunnerErrorCode::AlreadyRunning);
    assert!(matches!(rig.server.start_session(&account(2), "t").await, Reply::Start(_)));
    assert_eq!(rig.server.status().await.len(), 2);
}

#[tokio::test]
async fn b31_b17_stop_then_start_at_one_place_is_a_session_of_its_own() {
    let mut rig = Rig::start(vec![agent(1, &["agent"])]).await;
    for session in ["first", "second", "first"] {
        rig.server.start_session(&account(1), session).await;
        rig.server.ready(session).await;
        rig.server.deliver(session, "m").await;
        assert_eq!(rig.server.acknowledged(session).await, "m");
        assert!(matches!(rig.server.stop_session(session).await, Reply::Stop(_)));
        assert_eq!(rig.server.state(session).await, AgentSessionState::Stopped);
        assert!(rig.server.status().await.is_empty());
    }
}

#[tokio::test]
async fn b32_an_id_that_is_no_path_element_starts_nothing() {
    let mut rig = Rig::start(vec![agent(1, &["agent"])]).await;
    for id in ["", "../s", "a/b", ".", "..", &"x".repeat(65)] {
        let refused = rig.server.start_session(&account(1), id).await;
        assert_eq!(code(&refused), RunnerErrorCode::FailedPrecondition, "{id}");
    }
    let unknown = rig.server.start_session(&account(9), "s").await;
    assert_eq!(code(&unknown), RunnerErrorCode::NotFound);
    assert!(rig.server.status().await.is_empty());
}

#[tokio::test]
async fn b35_stop_of_an_unknown_session_and_remove_twice_succeed() {
    let mut rig = Rig::start(vec![agent(1, &["agent"])]).await;
    assert!(matches!(rig.server.stop_session("nothing").await, Reply::Stop(_)));
    rig.server.start_session(&account(1), "s").await;
    let remove =
        Command::Remove(v1::RemoveAgentWorkspaceRequest { container_name: account(1), ..Default::default() });
    for _ in 0..2 {
        assert!(matches!(rig.server.ask(remove.clone()).await, Reply::Remove(_)));
        assert!(!rig.socket(1).exists());
        assert!(rig.server.status().await.is_empty());
    }
    assert!(matches!(rig.server.start_session(&account(1), "t").await, Reply::Start(_)), "it can come back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_behind_a_start_that_is_still_on_its_way_ends_it() {
    let mut rig = Rig::start(vec![agent(1, &["agent"])]).await;
    for round in 0..20 {
        let session = format!("s{round}");
        let start = Command::Start(v1::StartAgentSessionRequest {
            container_name: account(1),
            session_id: session.clone(),
            ..Default::default()
        });
        let stop = Command::Stop(v1::StopAgentSessionRequest { session_id: session.clone() });
        // A server that gave up on the start sends both without waiting.
        rig.server.command(&format!("start {round}"), start).await;
        rig.server.command(&format!("stop {round}"), stop).await;
        assert!(matches!(rig.server.result(&format!("stop {round}")).await, Reply::Stop(_)));
        assert!(matches!(rig.server.result(&format!("start {round}")).await, Reply::Start(_)));
        assert!(rig.server.status().await.is_empty(), "round {round}");
    }
}

#[tokio::test]
async fn a_reload_is_another_process_in_the_same_session() {
    let mut rig = Rig::start(vec![agent(1, &["agent"])]).await;
    rig.server.start_session(&account(1), "s").await;
    rig.server.ready("s").await;
    let reload = Command::Reload(v1::ReloadAgentSessionRequest { session_id: "s".into() });
    assert!(matches!(rig.server.ask(reload).await, Reply::Reload(reply) if reply.session_id == "s"));
    rig.server.ready("s").await;
    let started = pids(&rig.notes(1), "started");
    assert_eq!(started.len(), 2);
    assert_ne!(started[0], started[1]);
    let unknown = rig.server.ask(Command::Reload(v1::ReloadAgentSessionRequest::default())).await;
    assert_eq!(code(&unknown), RunnerErrorCode::NotFound);
}

#[tokio::test]
async fn b37_a_command_that_comes_again_runs_once_and_is_answered_again() {
    let mut rig = Rig::start(vec![agent(1, &["agent"])]).await;
    let start = Command::Start(v1::StartAgentSessionRequest {
        container_name: account(1),
        session_id: "s".into(),
        ..Default::default()
    });
    for _ in 0..2 {
        rig.server.command("once", start.clone()).await;
    }
    for _ in 0..2 {
        assert!(matches!(rig.server.result("once").await, Reply::Start(_)));
    }
    rig.server.command("once", start.clone()).await;
    assert!(matches!(rig.server.result("once").await, Reply::Start(_)), "from memory");
    assert_eq!(code(&rig.server.ask(start).await), RunnerErrorCode::AlreadyRunning, "another id runs");
    rig.server.ready("s").await;
    assert_eq!(pids(&rig.notes(1), "started").len(), 1);
}

#[tokio::test]
async fn b38_control_has_no_result_unless_it_is_refused_and_is_never_taken_for_a_repeat() {
    let mut rig = Rig::start(vec![agent(1, &["agent"])]).await;
    rig.server.start_session(&account(1), "s").await;
    rig.server.ready("s").await;
    // All carry the same request id.
    for message in ["m", "m", "n"] {
        rig.server.deliver("s", message).await;
        assert_eq!(rig.server.acknowledged("s").await, message);
    }
    rig.server.deliver("unknown", "m").await;
    assert_eq!(
        code(&rig.server.result("control").await),
        RunnerErrorCode::NotFound,
        "the first result of all"
    );
    let empty = v1::DispatchControl { session_id: "s".into(), op: None };
    rig.server.command("empty", Command::DeliverControl(empty)).await;
    assert_eq!(code(&rig.server.result("empty").await), RunnerErrorCode::Internal);
}

#[tokio::test]
async fn b38_a_command_this_runner_does_not_know_is_answered() {
    let mut rig = Rig::start(vec![agent(1, &["agent"])]).await;
    // What a newer server sends comes in as a command without a content.
    rig.server.send_unknown("new").await;
    assert_eq!(code(&rig.server.result("new").await), RunnerErrorCode::Internal);
}

#[tokio::test]
async fn h21_a_full_life_refuses() {
    // A program that never connects: everything waits.
    let mut rig = Rig::start(vec![script(1, "sleep 600")]).await;
    rig.server.start_session(&account(1), "s").await;
    for number in 0..compass_runner::RETAINED {
        rig.server.deliver("s", &number.to_string()).await;
    }
    let refused = rig.server.result("control").await;
    assert_eq!(code(&refused), RunnerErrorCode::ResourceExhausted, "the end of the replay counts for one");
}

#[tokio::test]
async fn after_a_broken_stream_the_runner_attaches_again_and_its_sessions_go_on() {
    let mut rig = Rig::start(vec![agent(1, &["agent"])]).await;
    rig.server.start_session(&account(1), "s").await;
    rig.server.ready("s").await;
    for round in 0..3 {
        rig.server.cut().await;
        rig.server.attached().await;
        assert_eq!(rig.server.status().await[0].session_id, "s");
        rig.server.deliver("s", &round.to_string()).await;
        assert_eq!(rig.server.acknowledged("s").await, round.to_string());
    }
    assert_eq!(pids(&rig.notes(1), "started").len(), 1);
}

#[tokio::test]
async fn a_refusal_that_a_repeat_cannot_change_ends_the_runner() {
    let server = FakeServer::refusing(Status::unauthenticated("who are you")).await;
    let mut rig = Rig::dial(server, tempfile::tempdir().unwrap(), vec![agent(1, &["agent"])]);
    let error = rig.ended().await.unwrap_err();
    assert_eq!(error.to_string(), "who are you");
}

#[tokio::test]
async fn one_runner_uses_a_state_directory() {
    let rig = Rig::start(vec![agent(1, &["agent"])]).await;
    let second = settings("http://127.0.0.1:1", rig.state.path(), Vec::new());
    let error = compass_gateway::runner::Runner::open(second).unwrap_err();
    assert!(error.to_string().contains("another runner"), "{error}");
}

#[tokio::test]
async fn a_profile_that_cannot_run_is_named_at_the_start() {
    let mut lost = agent(1, &["agent"]);
    lost.directory = "/surely/no/such/place".into();
    let mut rig = Rig::start(vec![lost]).await;
    let refused = rig.server.start_session(&account(1), "s").await;
    assert_eq!(code(&refused), RunnerErrorCode::FailedPrecondition);
    let text = message(refused);
    assert!(text.contains("agent 1") && text.contains("directory"), "{text}");
}
