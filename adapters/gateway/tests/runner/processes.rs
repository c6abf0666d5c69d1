//! Programs: how they are started, read, restarted and ended; and the sockets they speak on.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt as _, chown},
        net::UnixListener,
    },
    time::{Duration, Instant},
};

use compass_proto::v1::{
    self, AgentSessionState, ControlSubscribeRequest, RunnerErrorCode, agent_control::Control,
    agent_frame::Frame, agent_gateway_client::AgentGatewayClient, sessions_request::Result as Reply,
    sessions_response::Command,
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tonic::{Code, Streaming, transport::Channel, transport::Endpoint};

use super::{
    rig::{Rig, account, agent, gone, pids, script, until},
    server::in_time,
};

const NOTE: &str =
    "note() { echo \"$@\" >> \"$COMPASS_AGENT_STATE_DIR/agents/$COMPASS_AGENT_ACCOUNT_ID/notes\"; }; ";

fn noting(number: u8, body: &str) -> compass_runner::ProfileDraft {
    script(number, &format!("{NOTE}{body}"))
}

async fn as_agent(rig: &Rig, number: u8) -> AgentGatewayClient<Channel> {
    let address = Endpoint::new(format!("unix://{}", rig.socket(number).display())).unwrap();
    AgentGatewayClient::new(address.connect().await.unwrap())
}

async fn next(ops: &mut Streaming<v1::AgentControl>) -> v1::AgentControl {
    in_time("control", ops.message()).await.unwrap().unwrap()
}

async fn publish(agent: &mut AgentGatewayClient<Channel>, frames: Vec<Frame>) {
    let frames = frames
        .into_iter()
        .map(|frame| v1::PublishFrameRequest { frame: Some(v1::AgentFrame { frame: Some(frame) }) });
    agent.publish(tokio_stream::iter(frames.collect::<Vec<_>>())).await.unwrap();
}

fn message_of(op: &v1::AgentControl) -> &str {
    match &op.control {
        Some(Control::Deliver(op)) => &op.message.as_ref().unwrap().id,
        _ => "",
    }
}

#[tokio::test]
async fn b1_the_directory_is_0700_and_the_socket_0600_whatever_was_there() {
    let mut rig = Rig::start(vec![script(1, "sleep 600")]).await;
    let folder = rig.socket(1).parent().unwrap().to_owned();
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    rig.server.start_session(&account(1), "s").await;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&rig.socket(1))), (0o700, 0o600));
}

#[test]
fn b1_a_path_that_is_too_long_is_refused_before_anything_is_made() {
    let state = tempfile::tempdir().unwrap();
    let deep = state.path().join("d".repeat(100));
    let mut settings = super::rig::settings("http://127.0.0.1:1", state.path(), vec![script(1, "sleep 600")]);
    settings.socket_dir = Some(deep.clone());
    let error = compass_gateway::runner::Runner::open(settings).unwrap_err().to_string();
    for knob in ["--state-dir", "socket_dir", "107"] {
        assert!(error.contains(knob), "{error}");
    }
    assert!(!deep.exists());
    assert_eq!(compass_gateway::runner::check_sockets(&deep), Err(error));
    assert_eq!(compass_gateway::runner::check_sockets(state.path()), Ok(()));
}

#[tokio::test]
async fn b2_a_stale_socket_is_reclaimed_and_anything_else_is_left_alone() {
    let mut rig =
        Rig::start(vec![script(1, "sleep 600"), script(2, "sleep 600"), script(3, "sleep 600")]).await;
    for number in 1..=3 {
        fs::create_dir_all(rig.socket(number).parent().unwrap()).unwrap();
    }
    drop(UnixListener::bind(rig.socket(1)).unwrap());
    fs::write(rig.socket(2), "mine").unwrap();
    drop(UnixListener::bind(rig.socket(3)).unwrap());
    let root = nix::unistd::geteuid().is_root();
    if root {
        chown(rig.socket(3), Some(12345), None).unwrap();
    }
    assert!(matches!(rig.server.start_session(&account(1), "s1").await, Reply::Start(_)));
    let refused = rig.server.start_session(&account(2), "s2").await;
    let Reply::Error(refused) = refused else { panic!("not refused: {refused:?}") };
    assert_eq!(refused.code(), RunnerErrorCode::FailedPrecondition, "the machine is at fault");
    assert!(!refused.message.is_empty(), "and whoever starts the agent is told why");
    assert_eq!(fs::read_to_string(rig.socket(2)).unwrap(), "mine");
    if root {
        assert!(matches!(rig.server.start_session(&account(3), "s3").await, Reply::Error(_)));
        assert!(rig.socket(3).exists());
    }
}

#[tokio::test]
async fn b3_a_client_that_never_leaves_does_not_hold_the_end_up() {
    let mut rig = Rig::start(vec![script(1, "sleep 600")]).await;
    rig.server.start_session(&account(1), "s").await;
    let mut agent = as_agent(&rig, 1).await;
    // A stream of frames that never ends.
    let (_frames, queued) = tokio::sync::mpsc::channel::<v1::PublishFrameRequest>(1);
    let tasks = tokio_util::task::TaskTracker::new();
    let publishing = tasks.spawn(async move {
        agent.publish(tokio_stream::wrappers::ReceiverStream::new(queued)).await.map(drop)
    });
    tokio::task::yield_now().await;
    let began = Instant::now();
    rig.stop();
    rig.ended().await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
    assert!(in_time("the cut", publishing).await.unwrap().is_err());
    assert!(!rig.socket(1).exists());
}

#[tokio::test]
async fn b4_b6_b18_without_a_session_the_socket_permits_nothing() {
    let mut rig = Rig::start(vec![script(1, "sleep 600")]).await;
    assert!(!rig.socket(1).exists(), "not before it is asked for");
    rig.server.start_session(&account(1), "s").await;
    let mut agent = as_agent(&rig, 1).await;
    let result = agent.comms(v1::CommsCallRequest { call_id: "c".into(), ..Default::default() }).await;
    assert_eq!(result.unwrap().into_inner().call_id, "c as s");
    let mut ops = agent.control(ControlSubscribeRequest {}).await.unwrap().into_inner();
    assert!(matches!(next(&mut ops).await.control, Some(Control::ReplayComplete(_))));
    rig.server.stop_session("s").await;
    assert!(
        in_time("the end", ops.message()).await.unwrap().is_none(),
        "the end of the session is a clean one"
    );
    let denied = [
        agent.comms(v1::CommsCallRequest::default()).await.unwrap_err(),
        agent.control(ControlSubscribeRequest {}).await.unwrap_err(),
        agent.publish(tokio_stream::iter([])).await.unwrap_err(),
    ];
    assert!(denied.iter().all(|status| status.code() == Code::PermissionDenied), "{denied:?}");
}

#[tokio::test]
async fn b17_h21_a_second_stream_takes_over_while_messages_flow() {
    let mut rig = Rig::start(vec![script(1, "sleep 600")]).await;
    rig.server.start_session(&account(1), "s").await;
    let mut first_agent = as_agent(&rig, 1).await;
    let mut first = first_agent.control(ControlSubscribeRequest {}).await.unwrap().into_inner();
    assert_eq!(next(&mut first).await.control_seq, 1);
    publish(&mut first_agent, vec![Frame::ReplayCompleteAck(v1::ReplayCompleteAck {})]).await;
    for number in 0..30 {
        rig.server.deliver("s", &number.to_string()).await;
    }
    for number in 0..10 {
        assert_eq!(message_of(&next(&mut first).await), number.to_string());
    }
    let acked = vec![Frame::ControlAck(v1::ControlAck { acked_seq: 6, applied_above: vec![9, 4000] })];
    publish(&mut first_agent, acked).await;
    let mut second_agent = as_agent(&rig, 1).await;
    let mut second = second_agent.control(ControlSubscribeRequest {}).await.unwrap().into_inner();
    for number in 30..40 {
        rig.server.deliver("s", &number.to_string()).await;
    }
    // Numbers 1 to 6 and 9 are acknowledged: the end of the replay, and the messages 0 to 4 and 7.
    for number in (5..40).filter(|number| *number != 7) {
        let op = next(&mut second).await;
        assert_eq!((message_of(&op), op.control_seq), (number.to_string().as_str(), number + 2));
    }
    let displaced = loop {
        match in_time("the end", first.message()).await {
            Ok(Some(_)) => {}
            other => break other,
        }
    };
    assert_eq!(displaced.unwrap_err().code(), Code::Aborted);
}

#[tokio::test]
async fn b22_b23_b27_acknowledgements_of_control_stay_here_and_a_frame_too_large_fails_its_stream() {
    let mut rig = Rig::start(vec![script(1, "sleep 600")]).await;
    rig.server.start_session(&account(1), "s").await;
    let mut agent = as_agent(&rig, 1).await;
    let session = |state: AgentSessionState| {
        Frame::Session(v1::SessionFrame { state: state.into(), typed_event: None })
    };
    publish(
        &mut agent,
        vec![
            Frame::ReplayCompleteAck(v1::ReplayCompleteAck {}),
            session(AgentSessionState::Ready),
            Frame::ControlAck(v1::ControlAck { acked_seq: 1, applied_above: Vec::new() }),
            session(AgentSessionState::Working),
            Frame::DeliveryAck(v1::DeliveryAck { message_id: "m".into() }),
        ],
    )
    .await;
    let mut heard = Vec::new();
    for _ in 0..4 {
        let frame = rig
            .server
            .hear("a frame", |heard| match heard {
                super::server::Heard::Frame(frame) => Some(frame.clone()),
                _ => None,
            })
            .await;
        assert_eq!(frame.runner_seq, heard.len() as u64 + 1);
        heard.push(frame.frame.unwrap().frame.unwrap());
    }
    assert!(matches!(heard[3], Frame::DeliveryAck(_)), "{heard:?}");
    let huge = Frame::DeliveryAck(v1::DeliveryAck { message_id: "x".repeat(4 * 1024 * 1024 - 1000) });
    let frame = Some(v1::AgentFrame { frame: Some(huge) });
    let status = agent.publish(tokio_stream::iter([v1::PublishFrameRequest { frame }])).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    // What all agents share is as before.
    publish(&mut agent, vec![Frame::DeliveryAck(v1::DeliveryAck { message_id: "n".into() })]).await;
    assert_eq!(rig.server.acknowledged("s").await, "n");
}

#[tokio::test]
async fn b36_a_flood_of_output_stalls_nothing() {
    let mut rig = Rig::start(vec![agent(1, &["flood"])]).await;
    rig.server.start_session(&account(1), "s").await;
    while rig.server.state("s").await != AgentSessionState::Stopped {}
    assert!(rig.state.path().join("flooded").exists());
}

#[tokio::test]
async fn an_ended_program_is_reaped_and_what_it_left_is_ended() {
    let mut rig = Rig::start(vec![noting(1, "sleep 600 & note left $!; note self $$; exit 0")]).await;
    rig.server.start_session(&account(1), "s").await;
    while rig.server.state("s").await != AgentSessionState::Stopped {}
    let notes = rig.notes(1);
    assert!(gone(pids(&notes, "self")[0]), "no zombie");
    let left = pids(&notes, "left")[0];
    until("the end of what it left", || super::crashes::dead(left).then_some(())).await;
}

#[tokio::test]
async fn b37_a_program_that_does_not_end_when_asked_is_killed_with_its_children_and_a_late_repeat_is_answered()
 {
    let body = "trap '' TERM; sleep 600 & note left $!; note self $$; while :; do sleep 1; done";
    let mut rig = Rig::start(vec![noting(1, body)]).await;
    rig.server.start_session(&account(1), "s").await;
    let notes = until("its notes", || Some(rig.notes(1)).filter(|notes| notes.len() == 2)).await;
    let began = Instant::now();
    let stop = Command::Stop(v1::StopAgentSessionRequest { session_id: "s".into() });
    rig.server.command("stop", stop.clone()).await;
    // The server forgets what it waited for with the stream, and may ask again on the next one.
    rig.server.cut().await;
    rig.server.attached().await;
    rig.server.command("stop", stop).await;
    assert!(matches!(rig.server.result("stop").await, Reply::Stop(_)));
    assert!(began.elapsed() >= Duration::from_secs(10), "it was asked first");
    assert!(gone(pids(&notes, "self")[0]));
    let left = pids(&notes, "left")[0];
    until("the end of its child", || super::crashes::dead(left).then_some(())).await;
}

#[tokio::test]
async fn a_wedged_agent_does_not_delay_another_one_and_gets_everything_later() {
    const MESSAGES: u32 = 3000;
    let mut rig = Rig::start(vec![agent(1, &["agent"]), agent(2, &["agent"])]).await;
    for (number, session) in [(1, "wedged"), (2, "well")] {
        rig.server.start_session(&account(number), session).await;
        rig.server.ready(session).await;
    }
    let pid = Pid::from_raw(pids(&rig.notes(1), "started")[0]);
    kill(pid, Signal::SIGSTOP).unwrap();
    for number in 0..MESSAGES {
        rig.server.deliver("wedged", &number.to_string()).await;
    }
    let began = Instant::now();
    rig.server.deliver("well", "m").await;
    assert_eq!(rig.server.acknowledged("well").await, "m");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(rig.server.status().await.len(), 2, "and the runner answers");
    kill(pid, Signal::SIGCONT).unwrap();
    for number in 0..MESSAGES {
        assert_eq!(rig.server.acknowledged("wedged").await, number.to_string());
    }
}

#[tokio::test]
async fn a_program_that_crashed_is_launched_again_in_its_session_and_begins_with_the_replay() {
    let mut rig = Rig::start(vec![agent(1, &["agent", "bad"])]).await;
    rig.server.start_session(&account(1), "s").await;
    assert_eq!(rig.server.state("s").await, AgentSessionState::Starting);
    assert_eq!(rig.server.state("s").await, AgentSessionState::Ready);
    rig.server.deliver("s", "good").await;
    assert_eq!(rig.server.acknowledged("s").await, "good");
    rig.server.deliver("s", "bad").await;
    for state in [AgentSessionState::Disconnected, AgentSessionState::Starting, AgentSessionState::Ready] {
        assert_eq!(rig.server.state("s").await, state);
    }
    assert_eq!(rig.server.status().await[0].session_id, "s");
    // The server sweeps again; what the last life was given and did not acknowledge is not sent by itself.
    rig.server.deliver("s", "good").await;
    assert_eq!(rig.server.acknowledged("s").await, "good");
    assert_eq!(pids(&rig.notes(1), "started").len(), 2);
}

#[tokio::test]
async fn a_program_that_fails_again_and_again_ends_its_session_as_failed() {
    let mut failing = script(1, "exit 3");
    failing.restart_limit = 1;
    let mut rig = Rig::start(vec![failing]).await;
    rig.server.start_session(&account(1), "s").await;
    for state in [
        AgentSessionState::Starting,
        AgentSessionState::Disconnected,
        AgentSessionState::Starting,
        AgentSessionState::Errored,
    ] {
        assert_eq!(rig.server.state("s").await, state);
    }
    assert!(rig.server.status().await.is_empty());
    assert!(matches!(rig.server.start_session(&account(1), "t").await, Reply::Start(_)));
}

#[tokio::test]
async fn the_server_is_told_why_a_program_failed() {
    let mut failing = script(1, "exit 3");
    failing.restart_limit = 1;
    let mut rig = Rig::start(vec![failing]).await;
    rig.server.start_session(&account(1), "s").await;
    let (state, reason) = rig.server.remark("s").await;
    assert_eq!(state, AgentSessionState::Disconnected);
    assert!(reason.contains("exit status: 3"), "{reason}");
    let (state, reason) = rig.server.remark("s").await;
    assert_eq!(state, AgentSessionState::Errored);
    assert!(reason.contains("1 restarts") && reason.contains("exit status: 3"), "{reason}");
}

#[tokio::test]
async fn a_session_can_be_stopped_while_it_waits_for_its_next_launch() {
    let mut failing = script(1, "exit 3");
    failing.restart_limit = 1000;
    let mut rig = Rig::start(vec![failing]).await;
    rig.server.start_session(&account(1), "s").await;
    while rig.server.state("s").await != AgentSessionState::Disconnected {}
    assert!(matches!(rig.server.stop_session("s").await, Reply::Stop(_)));
    while rig.server.state("s").await != AgentSessionState::Stopped {}
    assert!(rig.server.status().await.is_empty());
}

#[tokio::test]
async fn b34_a_program_finds_its_core_by_environment_and_nothing_of_the_runners() {
    let body =
        "note socket $COMPASS_AGENT_SOCKET; note set $MODE; note cwd $(pwd); note cargo $CARGO_MANIFEST_DIR.";
    let mut profile = noting(1, body);
    profile.set.insert("MODE".into(), "quiet".into());
    profile.directory = "/usr".into();
    let mut rig = Rig::start(vec![profile]).await;
    rig.server.start_session(&account(1), "s").await;
    while rig.server.state("s").await != AgentSessionState::Stopped {}
    let socket = format!("socket {}", rig.socket(1).display());
    assert_eq!(rig.notes(1), [socket.as_str(), "set quiet", "cwd /usr", "cargo ."]);
}

#[tokio::test]
async fn b34_another_user_runs_its_program_and_reaches_its_socket() {
    let nobody = nix::unistd::User::from_name("nobody").unwrap();
    let (true, Some(nobody)) = (nix::unistd::geteuid().is_root(), nobody) else {
        // Only root may; that another one is refused is a test of the profile's check.
        return;
    };
    let mut profile = noting(1, "note uid $(id -u); [ -w \"$COMPASS_AGENT_SOCKET\" ] && note reached");
    profile.user = Some("nobody".into());
    // The helper that becomes the program is opened by that user too.
    let state = tempfile::Builder::new().prefix("compass-").tempdir_in("/tmp").unwrap();
    fs::set_permissions(state.path(), fs::Permissions::from_mode(0o711)).unwrap();
    let helper = state.path().join("helper");
    fs::copy(super::rig::FIXTURE, &helper).unwrap();
    let server = super::server::FakeServer::start().await;
    let mut settings = super::rig::settings(&server.url(), state.path(), vec![profile]);
    settings.parts.program = helper;
    let mut rig = Rig::run(server, state, settings);
    rig.server.attached().await;
    rig.server.start_session(&account(1), "s").await;
    while rig.server.state("s").await != AgentSessionState::Stopped {}
    assert_eq!(rig.notes(1), [format!("uid {}", nobody.uid), "reached".to_owned()]);
}
