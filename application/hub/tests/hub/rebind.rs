//! A named runner that comes back: which of its sessions go on, and which are ended.

use std::time::Duration;

use compass_domain::{Account, LifecycleState, NodeId, Presence, SessionId};
use compass_hub::{
    ports::{AttachMode, Ledger as _, OpenSession, Reported},
    sessions::{Enroll, Ticket},
};
use compass_ports::PresenceSource as _;
use tokio::time::Instant;

use crate::{
    rig::{Rig, pass, settle},
    starts::{home, placed, runner, stops},
};

/// The runner enrolls and opens its stream.
async fn reattach(rig: &Rig, instance: &str) -> Ticket {
    let enroll = Enroll {
        runner: runner(rig),
        instance: instance.into(),
        mode: AttachMode::Deliveries,
        take_over: false,
    };
    rig.hub.enroll(&enroll).await.unwrap();
    rig.hub.open_stream(&runner(rig), instance).unwrap().ticket
}

fn runs(rig: &Rig, session: SessionId, state: LifecycleState) {
    rig.runners.running.lock().unwrap().push(Reported { session: Some(session), state });
}

async fn presence(rig: &Rig, agent: &Account) -> Presence {
    let found = rig.hub.presence_of(&rig.tenant, &[agent.id]).await.unwrap();
    found.get(&agent.id).copied().unwrap_or(Presence::Offline)
}

#[tokio::test(start_paused = true)]
async fn a_running_session_is_bound_again_after_a_new_enrolment_and_swept() {
    let rig = Rig::new().await;
    let (ann, agent) = placed(&rig).await;
    let session = rig.hub.start_placed(&rig.tenant, agent.id).await.unwrap();
    let mut received = rig.runners.take_received(session);
    rig.hub.report_state(&runner(&rig), session, LifecycleState::Ready).await.unwrap();
    let ticket = reattach(&rig, "b").await;
    assert_eq!(rig.hub.account_for(&runner(&rig), session), None, "not before the runner confirms it");
    assert_eq!(rig.hub.owner_for(&runner(&rig), session), Some(agent.id), "what it reports is taken");
    assert_eq!(presence(&rig, &agent).await, Presence::Offline);
    let missed = rig.say(&ann, home(&agent), "are you back?").await;
    settle().await;
    assert!(received.try_recv().is_err(), "nothing is sent meanwhile");

    runs(&rig, session, LifecycleState::Working);
    rig.hub.rebind(&runner(&rig), "b", ticket).await;
    assert_eq!(rig.hub.account_for(&runner(&rig), session), Some(agent.id));
    assert_eq!(presence(&rig, &agent).await, Presence::Working);
    assert_eq!(received.recv().await.unwrap().1.message.id(), missed.id());
}

#[tokio::test(start_paused = true)]
async fn what_a_session_held_waits_for_the_end_of_its_turn_when_it_is_bound_again() {
    let rig = Rig::new().await;
    let (ann, agent) = placed(&rig).await;
    let listener = rig.agent(&ann, "two").await;
    let channel = rig.channel(&ann, &[], &[&agent, &listener]).await;
    let mut b = rig.attach(&listener, "b").await;
    let session = rig.hub.start_placed(&rig.tenant, agent.id).await.unwrap();
    rig.hub.report_state(&runner(&rig), session, LifecycleState::Working).await.unwrap();
    let held = rig.say(&agent, channel, "@two look").await;
    settle().await;
    assert_eq!(b.sent(), []);
    let ticket = reattach(&rig, "b").await;
    runs(&rig, session, LifecycleState::Working);
    rig.hub.rebind(&runner(&rig), "b", ticket).await;
    pass(Duration::from_secs(40)).await;
    assert_eq!(b.sent(), [], "its turn goes on");
    let before = Instant::now();
    rig.hub.report_state(&runner(&rig), session, LifecycleState::Ready).await.unwrap();
    b.steered(&held).await;
    assert_eq!(before.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_starts_again_binds_what_the_runner_still_runs() {
    let mut rig = Rig::new().await;
    let (ann, agent) = placed(&rig).await;
    let session = rig.hub.start_placed(&rig.tenant, agent.id).await.unwrap();
    let missed = rig.say(&ann, home(&agent), "hello").await;
    settle().await;
    rig.restart().await;
    let ticket = reattach(&rig, "a").await;
    assert_eq!(rig.hub.account_for(&runner(&rig), session), None);
    runs(&rig, session, LifecycleState::Ready);
    rig.hub.rebind(&runner(&rig), "a", ticket).await;
    assert_eq!(rig.hub.account_for(&runner(&rig), session), Some(agent.id));
    assert_eq!(presence(&rig, &agent).await, Presence::Idle);
    let mut received = rig.runners.take_received(session);
    let mut first = received.recv().await.unwrap();
    for _ in 0..2 {
        assert_eq!(first.1.message.id(), missed.id(), "swept");
        match received.try_recv() {
            Ok(next) => first = next,
            Err(_) => break,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_the_runners_is_stopped_and_what_it_does_not_run_is_closed() {
    let rig = Rig::new().await;
    let (ann, agent) = placed(&rig).await;
    let session = rig.hub.start_placed(&rig.tenant, agent.id).await.unwrap();
    let ticket = reattach(&rig, "b").await;
    let gone = rig.agent(&ann, "gone").await;
    let of_gone = rig.comms.ids.session();
    let row = OpenSession {
        session: of_gone,
        account: gone.id,
        runner: runner(&rig).name(),
        mode: AttachMode::Deliveries,
    };
    rig.storage.open_session(&rig.tenant, NodeId::from_bytes([8; 16]), &row).await.unwrap();
    runs(&rig, of_gone, LifecycleState::Ready);
    let unknown = SessionId::from_bytes([7; 16]);
    let elsewhere = rig.comms.ids.session();
    let row = OpenSession {
        session: elsewhere,
        account: agent.id,
        runner: "other".into(),
        mode: AttachMode::Deliveries,
    };
    rig.storage.open_session(&rig.tenant, NodeId::from_bytes([8; 16]), &row).await.unwrap();
    runs(&rig, unknown, LifecycleState::Ready);
    runs(&rig, elsewhere, LifecycleState::Ready);
    rig.hub.rebind(&runner(&rig), "b", ticket).await;
    settle().await;
    assert_eq!(stops(&rig), [of_gone, unknown, elsewhere], "one agent is not placed there any more");
    assert_eq!(rig.hub.account_of(session), None, "the runner does not run it any more");
    assert_eq!(rig.hub.live_sessions(&rig.tenant, &[agent.id]).await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_another_one_replaced_is_stopped() {
    let rig = Rig::new().await;
    let (_, agent) = placed(&rig).await;
    let session = rig.hub.start_placed(&rig.tenant, agent.id).await.unwrap();
    let ticket = reattach(&rig, "b").await;
    let attached = rig.attach(&agent, "own").await;
    runs(&rig, session, LifecycleState::Ready);
    rig.hub.rebind(&runner(&rig), "b", ticket).await;
    settle().await;
    let stopped = stops(&rig);
    assert!(!stopped.is_empty() && stopped.iter().all(|stopped| *stopped == session), "{stopped:?}");
    assert_eq!(rig.hub.account_of(attached.session).map(|(_, account)| account), Some(agent.id));
}

/// PR-15.
#[tokio::test(start_paused = true)]
async fn a_status_that_is_older_than_a_report_does_not_replace_it() {
    let rig = Rig::new().await;
    let (_, agent) = placed(&rig).await;
    let session = rig.hub.start_placed(&rig.tenant, agent.id).await.unwrap();
    let ticket = reattach(&rig, "b").await;
    runs(&rig, session, LifecycleState::Ready);
    let held = rig.runners.status_gate.acquire_many(1024).await.unwrap();
    let hub = rig.hub.clone();
    let key = runner(&rig);
    let rebinding = rig.tasks.spawn(async move { hub.rebind(&key, "b", ticket).await });
    settle().await;
    rig.hub.report_state(&runner(&rig), session, LifecycleState::Working).await.unwrap();
    drop(held);
    rebinding.await.unwrap();
    assert_eq!(presence(&rig, &agent).await, Presence::Working);
    assert_eq!(rig.hub.account_for(&runner(&rig), session), Some(agent.id));
}

/// Presence case 8.
#[tokio::test(start_paused = true)]
async fn a_runner_that_does_not_answer_leaves_its_agents_offline_and_later_reports_count() {
    let rig = Rig::new().await;
    let (_, agent) = placed(&rig).await;
    let session = rig.hub.start_placed(&rig.tenant, agent.id).await.unwrap();
    let ticket = reattach(&rig, "b").await;
    rig.runners.silent.store(true, std::sync::atomic::Ordering::Relaxed);
    let hub = rig.hub.clone();
    let key = runner(&rig);
    let rebinding = rig.tasks.spawn(async move { hub.rebind(&key, "b", ticket).await });
    tokio::time::sleep(Duration::from_secs(12)).await;
    assert!(!rebinding.is_finished(), "it asks again");
    assert_eq!(presence(&rig, &agent).await, Presence::Offline);
    rig.hub.report_state(&runner(&rig), session, LifecycleState::Ready).await.unwrap();
    assert_eq!(presence(&rig, &agent).await, Presence::Idle);
    rebinding.abort();
}

#[tokio::test(start_paused = true)]
async fn a_session_that_came_back_to_another_node_is_left_to_it() {
    let rig = Rig::new().await;
    let (_, agent) = placed(&rig).await;
    let session = rig.hub.start_placed(&rig.tenant, agent.id).await.unwrap();
    rig.hub.detached(session).await;
    let other = NodeId::from_bytes([8; 16]);
    rig.storage.renew_lease(other).await.unwrap();
    let (runner, mode) = (crate::starts::RUNNER.into(), AttachMode::Deliveries);
    let row = OpenSession { session, account: agent.id, runner, mode };
    rig.storage.open_session(&rig.tenant, other, &row).await.unwrap();
    for _ in 0..14 {
        pass(Duration::from_secs(5)).await;
        rig.storage.renew_lease(other).await.unwrap();
    }
    assert_eq!(rig.hub.account_of(session), None, "it is not here any more");
    let live = rig.hub.live_sessions(&rig.tenant, &[agent.id]).await.unwrap();
    assert_eq!(live.iter().map(|row| row.node).collect::<Vec<_>>(), [other]);
}
