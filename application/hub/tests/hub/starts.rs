//! Starting agents on their placements: what is bound, and what is ended again.

use std::{sync::atomic::Ordering, time::Duration};

use compass_domain::{
    Account, AccountKind, ChannelId, Classified as _, ErrorKind, LifecycleState, SessionId, WakePolicy,
    delivery::Lane,
};
use compass_hub::{
    notes::NoteKind,
    ports::{AttachMode, Command, LaunchError, NewPlacement, Placements as _},
    sessions::{Enroll, EnrollError, Provision, RunnerKey, StartError},
};

use crate::rig::{Rig, pass, settle};

pub(crate) const RUNNER: &str = "r1";

pub(crate) fn runner(rig: &Rig) -> RunnerKey {
    RunnerKey::Named { tenant: rig.tenant.clone(), name: RUNNER.into() }
}

pub(crate) async fn place(rig: &Rig, agent: &Account) {
    let (account, container) = (agent.id, agent.id.to_string());
    let placement = NewPlacement { account, runner: RUNNER.into(), container, wake: None };
    rig.storage.upsert(&rig.tenant, &placement).await.unwrap();
}

/// An agent that is placed on an attached runner, and its owner.
pub(crate) async fn placed(rig: &Rig) -> (Account, Account) {
    let ann = rig.admin().await;
    let agent = rig.agent(&ann, "one").await;
    place(rig, &agent).await;
    rig.runners.attach(RUNNER);
    (ann, agent)
}

pub(crate) fn home(agent: &Account) -> ChannelId {
    match agent.kind {
        AccountKind::Agent { home_channel, .. } => home_channel,
        _ => panic!("only an agent has a home channel"),
    }
}

pub(crate) fn stops(rig: &Rig) -> Vec<SessionId> {
    let sent = rig.runners.sent.lock().unwrap();
    let stopped = sent.iter().filter_map(|command| match command {
        Command::Stop { session } => Some(*session),
        _ => None,
    });
    stopped.collect()
}

#[tokio::test(start_paused = true)]
async fn a_start_on_a_placement_binds_and_sweeps() {
    let rig = Rig::new().await;
    let (ann, agent) = placed(&rig).await;
    let missed = rig.say(&ann, home(&agent), "while you slept").await;
    let session = rig.hub.start_placed(&rig.tenant, agent.id).await.unwrap();
    let mut received = rig.runners.take_received(session);
    let (lane, first) = received.recv().await.unwrap();
    assert_eq!((lane, first.message.id()), (Lane::Deliver, missed.id()));
    assert_eq!(rig.hub.account_for(&runner(&rig), session), Some(agent.id));
    let container = agent.id.to_string();
    assert_eq!(*rig.runners.sent.lock().unwrap(), [Command::Start { container, session, resume: false }]);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_placed_nowhere_or_is_live_is_not_started() {
    let rig = Rig::new().await;
    let (ann, agent) = placed(&rig).await;
    let session = rig.hub.start_placed(&rig.tenant, agent.id).await.unwrap();
    let again = rig.hub.start_placed(&rig.tenant, agent.id).await.unwrap_err();
    assert!(matches!(again, StartError::AlreadyLive { session: live } if live == session));
    assert_eq!(again.kind(), ErrorKind::Conflict);
    let other = rig.agent(&ann, "two").await;
    let nowhere = rig.hub.start_placed(&rig.tenant, other.id).await.unwrap_err();
    assert_eq!(nowhere.kind(), ErrorKind::FailedPrecondition);
    assert_eq!(rig.runners.sent.lock().unwrap().len(), 1, "nothing more was sent");
}

#[tokio::test(start_paused = true)]
async fn a_runner_that_is_away_or_refuses_starts_nothing_and_its_words_come_back() {
    let rig = Rig::new().await;
    let (ann, agent) = placed(&rig).await;
    let away = rig.agent(&ann, "two").await;
    let container = away.id.to_string();
    let placement = NewPlacement { account: away.id, runner: "gone".into(), container, wake: None };
    rig.storage.upsert(&rig.tenant, &placement).await.unwrap();
    let error = rig.hub.start_placed(&rig.tenant, away.id).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::Unavailable, "runner gone: the runner is not attached")
    );

    let (kind, message) = (ErrorKind::Conflict, "it runs".to_owned());
    *rig.runners.refusal.lock().unwrap() = Some(LaunchError::Refused { kind, message });
    let error = rig.hub.start(&rig.tenant, agent.id, None).await.unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (kind, "runner r1: the runner refused: it runs"));
    settle().await;
    assert_eq!(stops(&rig), [], "what was refused does not run");
    let notes = rig.hub.notes_of(&rig.tenant, agent.id);
    assert_eq!(notes.last().map(|note| note.kind), Some(NoteKind::Failed), "an operator can see it");
}

#[tokio::test(start_paused = true)]
async fn a_start_whose_recording_fails_stops_the_session_within_the_bound() {
    let rig = Rig::new().await;
    let (_, agent) = placed(&rig).await;
    rig.ledger.is_full.store(true, Ordering::Relaxed);
    let error = rig.hub.start_placed(&rig.tenant, agent.id).await.unwrap_err();
    let StartError::NotRecorded { session, .. } = &error else { panic!("{error:?}") };
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert!(error.to_string().contains(&session.to_string()), "{error}");
    assert_eq!(stops(&rig), [*session]);
    assert_eq!(rig.hub.account_for(&runner(&rig), *session), None);
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_not_answered_ends_at_its_deadline_and_the_session_is_stopped() {
    let rig = Rig::new().await;
    let (_, agent) = placed(&rig).await;
    rig.runners.silent.store(true, Ordering::Relaxed);
    let began = tokio::time::Instant::now();
    let error = rig.hub.start_placed(&rig.tenant, agent.id).await.unwrap_err();
    assert_eq!(began.elapsed(), Duration::from_mins(1));
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown);
    settle().await;
    assert_eq!(stops(&rig).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_hangs_up_does_not_leave_a_session_unbound() {
    let rig = Rig::new().await;
    let (_, agent) = placed(&rig).await;
    {
        let start = rig.hub.start_placed(&rig.tenant, agent.id);
        tokio::pin!(start);
        assert!(futures_poll_once(start.as_mut()).await.is_none(), "it waits");
    }
    settle().await;
    let live = rig.hub.live_sessions(&rig.tenant, &[agent.id]).await.unwrap();
    assert_eq!(live.len(), 1, "bound all the same");
}

async fn futures_poll_once<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
    std::future::poll_fn(|context| match std::pin::Pin::new(&mut future).poll(context) {
        std::task::Poll::Ready(done) => std::task::Poll::Ready(Some(done)),
        std::task::Poll::Pending => std::task::Poll::Ready(None),
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn a_runner_is_chosen_by_name_by_placement_or_because_it_is_the_only_one() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let agent = rig.agent(&ann, "one").await;
    let request = |runner: Option<&str>| Provision {
        account: agent.id,
        client_request_id: String::new(),
        runner: runner.map(str::to_owned),
    };
    let none = rig.hub.provision(&rig.tenant, request(None)).await.unwrap_err();
    assert_eq!(none.kind(), ErrorKind::FailedPrecondition);
    rig.runners.attach("r1");
    rig.runners.attach("r2");
    let several = rig.hub.provision(&rig.tenant, request(None)).await.unwrap_err();
    assert_eq!(several.kind(), ErrorKind::FailedPrecondition);
    assert!(several.to_string().contains("r1, r2"), "{several}");
    rig.hub.provision(&rig.tenant, request(Some("r2"))).await.unwrap();
    rig.hub.provision(&rig.tenant, request(None)).await.unwrap();
    let placement = rig.storage.find(&rig.tenant, agent.id).await.unwrap().unwrap();
    assert_eq!(placement.runner, "r2", "where it is placed already");
}

#[tokio::test(start_paused = true)]
async fn a_process_that_starts_again_in_its_session_is_sent_everything_again() {
    use LifecycleState as S;
    let rig = Rig::new().await;
    let (ann, agent) = placed(&rig).await;
    let session = rig.hub.start_placed(&rig.tenant, agent.id).await.unwrap();
    let mut received = rig.runners.take_received(session);
    let runner = runner(&rig);
    rig.hub.report_state(&runner, session, S::Starting).await.unwrap();
    let message = rig.say(&ann, home(&agent), "hello").await;
    assert_eq!(received.recv().await.unwrap().1.message.id(), message.id());
    settle().await;
    assert!(received.try_recv().is_err(), "its first life starts once");

    rig.hub.report_state(&runner, session, S::Disconnected).await.unwrap();
    let missed = rig.say(&ann, home(&agent), "are you there?").await;
    settle().await;
    assert!(received.try_recv().is_err(), "nothing is sent to a process that is away");
    rig.hub.report_state(&runner, session, S::Starting).await.unwrap();
    for expected in [message.id(), missed.id()] {
        assert_eq!(received.recv().await.unwrap().1.message.id(), expected);
    }
    rig.hub.report_state(&runner, session, S::Ready).await.unwrap();
    rig.hub.report_state(&runner, session, S::Starting).await.unwrap();
    assert_eq!(received.recv().await.unwrap().1.message.id(), message.id(), "a new life without a farewell");
}

fn spawn(agent: &Account, client_request_id: &str) -> Provision {
    Provision { account: agent.id, client_request_id: client_request_id.into(), runner: None }
}

fn provisions(rig: &Rig) -> usize {
    let sent = rig.runners.sent.lock().unwrap();
    sent.iter().filter(|command| matches!(command, Command::Provision { .. })).count()
}

#[tokio::test(start_paused = true)]
async fn a_repeated_spawn_joins_and_is_remembered_for_ten_minutes() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let agent = rig.agent(&ann, "one").await;
    rig.runners.attach(RUNNER);
    let (one, two) = tokio::join!(
        rig.hub.spawn(&rig.tenant, spawn(&agent, "a")),
        rig.hub.spawn(&rig.tenant, spawn(&agent, "a")),
    );
    let spawned = one.unwrap();
    assert_eq!(two.unwrap(), spawned);
    assert_eq!(spawned.container, agent.id.to_string());
    assert_eq!(rig.hub.spawn(&rig.tenant, spawn(&agent, "a")).await.unwrap(), spawned);
    assert_eq!(provisions(&rig), 1);
    for other in ["b", ""] {
        let live = rig.hub.spawn(&rig.tenant, spawn(&agent, other)).await.unwrap_err();
        assert_eq!(live.kind(), ErrorKind::Conflict, "a live agent is refused");
    }
    pass(Duration::from_mins(10)).await;
    let forgotten = rig.hub.spawn(&rig.tenant, spawn(&agent, "a")).await.unwrap_err();
    assert_eq!(forgotten.kind(), ErrorKind::Conflict);
}

#[tokio::test(start_paused = true)]
async fn a_failed_spawn_is_tried_again_and_the_same_id_of_another_agent_is_another_spawn() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    rig.runners.attach(RUNNER);
    let (kind, message) = (ErrorKind::FailedPrecondition, "no profile".to_owned());
    *rig.runners.refusal.lock().unwrap() = Some(LaunchError::Refused { kind, message });
    assert_eq!(rig.hub.spawn(&rig.tenant, spawn(&one, "a")).await.unwrap_err().kind(), kind);
    *rig.runners.refusal.lock().unwrap() = None;
    let first = rig.hub.spawn(&rig.tenant, spawn(&one, "a")).await.unwrap();
    let second = rig.hub.spawn(&rig.tenant, spawn(&two, "a")).await.unwrap();
    assert_ne!(first.session, second.session);
    assert_eq!(provisions(&rig), 3);
}

#[tokio::test(start_paused = true)]
async fn a_wake_policy_that_came_with_an_enrolment_is_kept_for_a_later_placement() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let agent = rig.agent(&ann, "one").await;
    rig.runners.attach(RUNNER);
    rig.hub.set_wake_policies(&runner(&rig), vec![(agent.id, WakePolicy::Never)]).await.unwrap();
    assert_eq!(rig.storage.find(&rig.tenant, agent.id).await.unwrap(), None, "a policy places nobody");
    rig.hub.provision(&rig.tenant, spawn(&agent, "")).await.unwrap();
    let placement = rig.storage.find(&rig.tenant, agent.id).await.unwrap().unwrap();
    assert_eq!(placement.wake, WakePolicy::Never);
    rig.hub.set_wake_policies(&runner(&rig), vec![(agent.id, WakePolicy::Any)]).await.unwrap();
    let placement = rig.storage.find(&rig.tenant, agent.id).await.unwrap().unwrap();
    assert_eq!(placement.wake, WakePolicy::Any);
}

/// G8 across runners.
#[tokio::test(start_paused = true)]
async fn an_own_process_of_an_agent_that_a_runner_runs_has_to_take_over() {
    let rig = Rig::new().await;
    let (_, agent) = placed(&rig).await;
    let session = rig.hub.start_placed(&rig.tenant, agent.id).await.unwrap();
    let enroll = Enroll {
        runner: rig.runner(&agent),
        instance: "own".into(),
        mode: AttachMode::Deliveries,
        take_over: false,
    };
    assert_eq!(rig.hub.enroll(&enroll).await, Err(EnrollError::AlreadyAttached));
    let watching = Enroll { mode: AttachMode::PresenceOnly, instance: "watch".into(), ..enroll.clone() };
    rig.hub.enroll(&watching).await.unwrap();
    rig.hub.enroll(&Enroll { take_over: true, ..enroll }).await.unwrap();
    let order = rig.hub.open_stream(&rig.runner(&agent), "own").unwrap().start.unwrap();
    drop(rig.lanes.lead(order.session));
    assert!(rig.hub.started(&rig.runner(&agent), order.session).await.unwrap());
    assert_eq!(rig.hub.account_of(session), None, "it was taken over");
    settle().await;
    assert_eq!(stops(&rig), [session], "and its runner is told");
}

#[tokio::test(start_paused = true)]
async fn what_fails_before_a_start_is_answered_is_told_and_what_failed_before_it_no_more() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let agent = rig.agent(&ann, "one").await;
    rig.runners.attach(RUNNER);
    rig.hub.provision(&rig.tenant, spawn(&agent, "")).await.unwrap();
    rig.hub.failed(&rig.tenant, agent.id, "an earlier life");
    pass(Duration::from_secs(1)).await;
    rig.runners.start_gate.forget_permits(1024);
    let fails = async {
        pass(Duration::from_secs(1)).await;
        rig.hub.failed(&rig.tenant, agent.id, "exit status: 1");
        rig.runners.start_gate.add_permits(1);
    };
    let (started, ()) = tokio::join!(rig.hub.start(&rig.tenant, agent.id, None), fails);
    started.unwrap();
    let notes = rig.hub.notes_of(&rig.tenant, agent.id);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].text.contains("exit status: 1"), "{notes:?}");
}
