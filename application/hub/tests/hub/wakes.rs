//! Starting agents that sleep: for what, by whom, and what happens when it does not work.

use std::{sync::atomic::Ordering, time::Duration};

use compass_domain::{
    Account, ChannelId, Classified as _, ErrorKind, LifecycleState, SessionId, WakePolicy, delivery::Lane,
};
use compass_hub::{
    delivery::FetchQuery,
    notes::NoteKind,
    ports::{AttachMode, Command, LaunchError, NewPlacement, Placement, Placements as _},
    sessions::{Enroll, RunnerKey, Ticket},
};
use tokio::time::Instant;

use crate::rig::{Rig, pass};

const RUNNER: &str = "r1";

/// The rig's one agent, asleep on a runner that is there, with the ticket of the runner's stream.
async fn asleep(wake: WakePolicy) -> (Rig, Account, Account, ChannelId, Ticket) {
    let (rig, ann, one, channel) = Rig::with_one().await;
    place(&rig, &one, wake).await;
    let ticket = attach(&rig).await;
    (rig, ann, one, channel, ticket)
}

async fn place(rig: &Rig, agent: &Account, wake: WakePolicy) {
    let (account, container) = (agent.id, agent.id.to_string());
    let placement = NewPlacement { account, runner: RUNNER.into(), container, wake: Some(wake) };
    rig.storage.upsert(&rig.tenant, &placement).await.unwrap();
}

/// A process of the runner announces itself; its stream is open from then on.
async fn attach(rig: &Rig) -> Ticket {
    let runner = RunnerKey::Named { tenant: rig.tenant.clone(), name: RUNNER.into() };
    let mode = AttachMode::Deliveries;
    let enroll = Enroll { runner: runner.clone(), instance: "i".into(), mode, take_over: false };
    rig.hub.enroll(&enroll).await.unwrap();
    let attached = rig.hub.open_stream(&runner, "i").unwrap();
    rig.runners.attach(RUNNER);
    rig.hub.rebind(&runner, "i", attached.ticket).await;
    attached.ticket
}

/// The process of the runner goes away.
async fn leave(rig: &Rig, ticket: Ticket) {
    let runner = RunnerKey::Named { tenant: rig.tenant.clone(), name: RUNNER.into() };
    rig.runners.detach(RUNNER);
    rig.hub.close_stream(&runner, "i", ticket).await;
}

/// The sessions that were started, in order.
fn starts(rig: &Rig) -> Vec<SessionId> {
    let sent = rig.runners.sent.lock().unwrap();
    let started = sent.iter().filter_map(|command| match command {
        Command::Start { session, .. } => Some(*session),
        _ => None,
    });
    started.collect()
}

/// When the runner was told to start for this time.
async fn tried(rig: &Rig, times: usize) -> Instant {
    while starts(rig).len() < times {
        pass(Duration::from_millis(500)).await;
    }
    Instant::now()
}

async fn placement(rig: &Rig, agent: &Account) -> Placement {
    rig.storage.find(&rig.tenant, agent.id).await.unwrap().unwrap()
}

/// No start of the agent is held to have failed, and it may be started again.
async fn unblamed(rig: &Rig, agent: &Account) {
    let row = placement(rig, agent).await;
    assert_eq!((row.wake_failures, row.wake_until, row.wake_error), (0, None, None));
    assert!(rig.hub.notes_of(&rig.tenant, agent.id).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_mention_starts_a_sleeping_agent_which_is_swept_and_proves_itself() {
    let (rig, ann, one, channel, _) = asleep(WakePolicy::Mention).await;
    let before = Instant::now();
    let call = rig.say(&ann, channel, "@one wake up").await;
    pass(Duration::from_secs(1)).await;
    let started = starts(&rig);
    assert_eq!(started.len(), 1);
    let mut received = rig.runners.take_received(started[0]);
    let (_, first) = received.recv().await.unwrap();
    assert_eq!(first.message.id(), call.id());
    assert!(before.elapsed() <= Duration::from_secs(1));
    assert!(placement(&rig, &one).await.wake_until.is_some(), "others leave it alone meanwhile");
    rig.hub.note(&rig.tenant, one.id, NoteKind::Failed, "its program failed once");
    pass(Duration::from_mins(2)).await;
    assert!(rig.hub.notes_of(&rig.tenant, one.id).is_empty(), "it works now");
    assert_eq!(placement(&rig, &one).await.wake_until, None);
    assert_eq!(starts(&rig).len(), 1, "it is live");
}

#[tokio::test(start_paused = true)]
async fn only_what_the_policy_names_starts_an_agent() {
    for (policy, plain, mention) in
        [(WakePolicy::Mention, 0, 1), (WakePolicy::Any, 1, 1), (WakePolicy::Never, 0, 0)]
    {
        let (rig, ann, _, channel, _) = asleep(policy).await;
        rig.say(&ann, channel, "thanks").await;
        pass(Duration::from_secs(40)).await;
        assert_eq!(starts(&rig).len(), plain, "{policy:?}");
        rig.say(&ann, channel, "@one thanks").await;
        pass(Duration::from_secs(40)).await;
        assert_eq!(starts(&rig).len(), mention, "{policy:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_broadcast_starts_every_sleeping_member_and_owes_a_row_outside_the_sweep_set_only() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (inside, outside) = (rig.agent(&ann, "inside").await, rig.agent(&ann, "outside").await);
    let stranger = rig.agent(&ann, "stranger").await;
    let channel = rig.channel(&ann, &[&inside], &[&outside]).await;
    for agent in [&inside, &outside, &stranger] {
        place(&rig, agent, WakePolicy::Mention).await;
    }
    let call = rig.say(&ann, channel, "@everyone wake up").await;
    pass(Duration::from_secs(1)).await;
    let query = FetchQuery::default();
    for (agent, lane) in [(&inside, Lane::Deliver), (&outside, Lane::Steer)] {
        let owed = rig.hub.fetch(&rig.tenant, agent.id, query).await.unwrap().items;
        let owed: Vec<_> = owed.iter().map(|item| (item.lane, item.message.message.id())).collect();
        assert_eq!(owed, [(lane, call.id())], "{}: only an owed row is steered", agent.handle);
    }
    attach(&rig).await;
    pass(Duration::from_secs(40)).await;
    let mut started = Vec::new();
    for command in rig.runners.sent.lock().unwrap().iter() {
        if let Command::Start { container, .. } = command {
            started.push(container.clone());
        }
    }
    started.sort_unstable();
    let mut expected = [inside.id.to_string(), outside.id.to_string()];
    expected.sort_unstable();
    assert_eq!(started, expected);
    let lanes = starts(&rig).into_iter().map(|session| {
        let (lane, message) = rig.runners.take_received(session).try_recv().unwrap();
        assert_eq!(message.message.id(), call.id());
        lane
    });
    let lanes: Vec<_> = lanes.collect();
    assert!(lanes.contains(&Lane::Deliver) && lanes.contains(&Lane::Steer), "{lanes:?}");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_not_placed_or_whose_runner_is_away_is_not_started() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let channel = rig.channel(&ann, &[], &[&one, &two]).await;
    place(&rig, &two, WakePolicy::Mention).await;
    rig.say(&ann, channel, "@one @two").await;
    pass(Duration::from_mins(1)).await;
    assert_eq!(starts(&rig), []);
    assert_eq!(placement(&rig, &two).await.wake_failures, 0, "nothing was tried");
    attach(&rig).await;
    pass(Duration::from_secs(20)).await;
    assert_eq!(starts(&rig).len(), 1, "who was called meanwhile is started when its runner is there");
}

#[tokio::test(start_paused = true)]
async fn many_calls_and_a_slow_runner_make_one_start() {
    let (rig, ann, _, channel, _) = asleep(WakePolicy::Any).await;
    rig.runners.silent.store(true, Ordering::Relaxed);
    for number in 0..20 {
        rig.say(&ann, channel, &format!("@one {number}")).await;
        pass(Duration::from_secs(1)).await;
    }
    assert_eq!(starts(&rig).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_live_agent_is_not_started_nor_one_that_is_only_present() {
    for mode in [AttachMode::Deliveries, AttachMode::PresenceOnly] {
        let (rig, ann, one, channel, _) = asleep(WakePolicy::Any).await;
        let live = rig.attach_as(&one, "a", mode).await;
        rig.report(&live, LifecycleState::Ready).await;
        rig.say(&ann, channel, "@one").await;
        pass(Duration::from_secs(40)).await;
        assert_eq!(starts(&rig), [], "{mode:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_start_is_tried_again_after_1_5_15_and_60_minutes_and_is_noted() {
    let (rig, ann, one, channel, _) = asleep(WakePolicy::Mention).await;
    let refusal = LaunchError::Refused { kind: ErrorKind::Internal, message: "no such command".into() };
    *rig.runners.refusal.lock().unwrap() = Some(refusal);
    rig.say(&ann, channel, "@one").await;
    let mut last = tried(&rig, 1).await;
    for (failures, minutes) in [(1, 1), (2, 5), (3, 15), (4, 60)] {
        let row = placement(&rig, &one).await;
        assert_eq!(row.wake_failures as usize, failures);
        assert!(row.wake_error.unwrap().contains("no such command"));
        rig.say(&ann, channel, "@one again").await;
        let next = tried(&rig, failures + 1).await;
        let pause = (next - last).as_secs();
        // A scan comes every 15 s or so.
        assert!((minutes * 60..minutes * 60 + 20).contains(&pause), "{failures}: {pause} s");
        last = next;
    }
    let notes = rig.hub.notes_of(&rig.tenant, one.id);
    let last = notes.last().unwrap();
    assert_eq!((last.kind, last.times), (NoteKind::Failed, 5));
    assert!(last.text.contains("no such command"), "{}", last.text);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_does_not_last_counts_as_a_failed_start() {
    let (rig, ann, one, channel, _) = asleep(WakePolicy::Mention).await;
    rig.say(&ann, channel, "@one").await;
    pass(Duration::from_secs(2)).await;
    rig.hub.close(starts(&rig)[0]).await.unwrap();
    pass(Duration::from_secs(40)).await;
    let row = placement(&rig, &one).await;
    assert_eq!((row.wake_failures, starts(&rig).len()), (1, 1));
    assert!(row.wake_error.unwrap().contains("ended"));
    pass(Duration::from_mins(1)).await;
    assert_eq!(starts(&rig).len(), 2, "it is owed still");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_somebody_ends_is_no_failed_start() {
    let (rig, ann, one, channel, _) = asleep(WakePolicy::Mention).await;
    rig.say(&ann, channel, "@one").await;
    pass(Duration::from_secs(2)).await;
    let row = rig.hub.find_session(&rig.tenant, starts(&rig)[0]).await.unwrap().unwrap();
    rig.hub.stop(&rig.tenant, row).await.unwrap();
    pass(Duration::from_secs(1)).await;
    unblamed(&rig, &one).await;
}

#[tokio::test(start_paused = true)]
async fn a_failed_start_says_why_the_program_failed() {
    let (rig, ann, one, channel, _) = asleep(WakePolicy::Mention).await;
    rig.hub.failed(&rig.tenant, one.id, "of before");
    pass(Duration::from_secs(2)).await;
    rig.say(&ann, channel, "@one").await;
    pass(Duration::from_secs(2)).await;
    rig.hub.failed(&rig.tenant, one.id, "it ended with exit status: 3");
    rig.hub.close(starts(&rig)[0]).await.unwrap();
    pass(Duration::from_secs(1)).await;
    let error = placement(&rig, &one).await.wake_error.unwrap();
    assert!(error.ends_with("its program failed: it ended with exit status: 3"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_taken_off_a_runner_that_is_away_unless_it_may_still_run_there() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    place(&rig, &one, WakePolicy::Mention).await;
    attach(&rig).await;
    let session = rig.hub.start(&rig.tenant, one.id, None).await.unwrap();
    rig.runners.detach(RUNNER);
    let refused = rig.hub.remove(&rig.tenant, placement(&rig, &one).await).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unavailable);
    placement(&rig, &one).await;
    rig.hub.close(session).await.unwrap();
    rig.hub.remove(&rig.tenant, placement(&rig, &one).await).await.unwrap();
    assert_eq!(rig.storage.find(&rig.tenant, one.id).await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_start_that_hangs_delays_nobody_and_fails_in_the_end() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let channel = rig.channel(&ann, &[&one, &two], &[]).await;
    place(&rig, &one, WakePolicy::Mention).await;
    attach(&rig).await;
    let mut live = rig.attach(&two, "a").await;
    rig.runners.silent.store(true, Ordering::Relaxed);
    let call = rig.say(&ann, channel, "@one").await;
    live.delivered(&call).await;
    pass(Duration::from_secs(5)).await;
    assert_eq!(starts(&rig).len(), 1);
    let before = Instant::now();
    let next = rig.say(&ann, channel, "meanwhile").await;
    live.delivered(&next).await;
    assert_eq!(before.elapsed(), Duration::ZERO);
    pass(Duration::from_mins(1)).await;
    assert_eq!(placement(&rig, &one).await.wake_failures, 1);
}

/// The runner ends a session and says that this is no failure.
async fn stops(rig: &Rig, session: SessionId) {
    let runner = RunnerKey::Named { tenant: rig.tenant.clone(), name: RUNNER.into() };
    assert!(rig.hub.report_state(&runner, session, LifecycleState::Stopped).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_with_its_runner_is_no_failed_start() {
    let (rig, ann, one, channel, ticket) = asleep(WakePolicy::Mention).await;
    rig.say(&ann, channel, "@one").await;
    pass(Duration::from_secs(2)).await;
    stops(&rig, starts(&rig)[0]).await;
    // Another of its agents takes its time to end.
    pass(Duration::from_secs(9)).await;
    leave(&rig, ticket).await;
    pass(Duration::from_secs(1)).await;
    unblamed(&rig, &one).await;
    attach(&rig).await;
    pass(Duration::from_secs(1)).await;
    assert_eq!(starts(&rig).len(), 2, "it is owed still, and started when its runner is back");
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_a_runner_to_be_gone_is_told_at_once() {
    let (rig, ann, one, channel, ticket) = asleep(WakePolicy::Mention).await;
    rig.say(&ann, channel, "@one").await;
    pass(Duration::from_secs(2)).await;
    stops(&rig, starts(&rig)[0]).await;
    pass(Duration::from_millis(9_100)).await;
    assert!(placement(&rig, &one).await.wake_until.is_some(), "it is not known yet whether the runner stays");
    leave(&rig, ticket).await;
    pass(Duration::from_millis(1)).await;
    unblamed(&rig, &one).await;
}

#[tokio::test(start_paused = true)]
async fn a_start_that_a_stopping_runner_refuses_is_no_failed_start() {
    let (rig, ann, one, channel, ticket) = asleep(WakePolicy::Mention).await;
    let (kind, message) = (ErrorKind::FailedPrecondition, "the runner is stopping".to_owned());
    *rig.runners.refusal.lock().unwrap() = Some(LaunchError::Refused { kind, message });
    rig.say(&ann, channel, "@one").await;
    pass(Duration::from_secs(2)).await;
    leave(&rig, ticket).await;
    pass(Duration::from_secs(1)).await;
    unblamed(&rig, &one).await;
}

#[tokio::test(start_paused = true)]
async fn a_program_that_ends_at_once_without_a_failure_is_a_failed_start_while_its_runner_stays() {
    let (rig, ann, one, channel, _) = asleep(WakePolicy::Mention).await;
    rig.say(&ann, channel, "@one").await;
    pass(Duration::from_secs(2)).await;
    stops(&rig, starts(&rig)[0]).await;
    pass(Duration::from_secs(25)).await;
    let row = placement(&rig, &one).await;
    assert_eq!((row.wake_failures, starts(&rig).len()), (1, 1));
    assert!(row.wake_error.unwrap().contains("ended"));
}
