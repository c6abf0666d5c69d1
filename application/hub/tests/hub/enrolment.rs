//! Which process may deliver to an agent, and whose sessions it may name.

use std::time::Duration;

use compass_domain::{Account, LifecycleState};
use compass_hub::{
    ports::AttachMode,
    sessions::{Enroll, EnrollError, RunnerKey},
};

use crate::rig::{Rig, pass};

fn enroll(rig: &Rig, agent: &Account, instance: &str) -> Enroll {
    Enroll {
        runner: rig.runner(agent),
        instance: instance.into(),
        mode: AttachMode::Deliveries,
        take_over: false,
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_process_is_refused_while_the_first_is_live_and_may_take_over() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    assert!(!rig.hub.enroll(&enroll(&rig, &one, "a")).await.unwrap(), "nobody was there before");
    let attached = rig.hub.open_stream(&rig.runner(&one), "a").unwrap();
    let session = attached.start.unwrap().session;
    drop(rig.lanes.lead(session));
    rig.hub.started(&rig.runner(&one), session).await.unwrap();

    let refused = rig.hub.enroll(&enroll(&rig, &one, "b")).await;
    assert_eq!(refused, Err(EnrollError::AlreadyAttached));
    assert!(!attached.superseded.is_cancelled());
    assert!(rig.hub.account_of(session).is_some(), "a refusal changes nothing");

    let take_over = Enroll { take_over: true, ..enroll(&rig, &one, "b") };
    assert!(rig.hub.enroll(&take_over).await.unwrap());
    assert!(attached.superseded.is_cancelled());
    assert!(rig.hub.account_of(session).is_none(), "its session is over");
    assert!(rig.hub.open_stream(&rig.runner(&one), "a").is_err(), "it has to enroll again");
    let next = rig.hub.open_stream(&rig.runner(&one), "b").unwrap();
    assert_ne!(next.start.unwrap().session, session);
}

#[tokio::test(start_paused = true)]
async fn the_place_is_free_once_the_stream_broke_or_was_never_opened() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    rig.hub.enroll(&enroll(&rig, &one, "a")).await.unwrap();
    assert!(rig.hub.enroll(&enroll(&rig, &one, "b")).await.is_err(), "it is about to open its stream");
    pass(Duration::from_secs(11)).await;
    rig.hub.enroll(&enroll(&rig, &one, "b")).await.unwrap();
    let attached = rig.hub.open_stream(&rig.runner(&one), "b").unwrap();
    rig.hub.close_stream(&rig.runner(&one), "b", attached.ticket).await;
    rig.hub.enroll(&enroll(&rig, &one, "c")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_same_process_comes_back_freely_and_keeps_its_session() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let first = rig.attach(&one, "a").await;
    assert!(rig.hub.enroll(&enroll(&rig, &one, "a")).await.unwrap(), "it was there before");
    let again = rig.hub.open_stream(&rig.runner(&one), "a").unwrap();
    assert_eq!(again.start.unwrap().session, first.session);
}

#[tokio::test(start_paused = true)]
async fn a_late_end_of_an_old_stream_does_not_end_the_new_one() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let runner = rig.runner(&one);
    rig.hub.enroll(&enroll(&rig, &one, "a")).await.unwrap();
    let old = rig.hub.open_stream(&runner, "a").unwrap();
    let mut again = rig.attach(&one, "a").await;
    assert!(old.superseded.is_cancelled());
    rig.hub.close_stream(&runner, "a", old.ticket).await;
    let post = rig.say(&ann, channel, "still here?").await;
    again.delivered(&post).await;
}

#[tokio::test(start_paused = true)]
async fn presence_only_processes_live_side_by_side_with_a_delivering_one() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let a = rig.attach(&one, "a").await;
    let w = rig.attach_as(&one, "w", AttachMode::PresenceOnly).await;
    let x = rig.attach_as(&one, "x", AttachMode::PresenceOnly).await;
    for live in [&a, &w, &x] {
        assert!(rig.hub.account_of(live.session).is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn the_number_of_processes_is_bounded() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let watcher =
        |number: usize| Enroll { mode: AttachMode::PresenceOnly, ..enroll(&rig, &one, &number.to_string()) };
    for number in 0..64 {
        rig.hub.enroll(&watcher(number)).await.unwrap();
    }
    assert_eq!(rig.hub.enroll(&watcher(64)).await, Err(EnrollError::TooMany { limit: 64 }));
    assert!(rig.hub.enroll(&watcher(3)).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_second_process_of_a_runner_takes_the_place_of_the_first() {
    let rig = Rig::new().await;
    let runner = RunnerKey::Named { tenant: rig.tenant.clone(), name: "box".into() };
    let request = |instance: &str| Enroll {
        runner: runner.clone(),
        instance: instance.into(),
        mode: AttachMode::Deliveries,
        take_over: false,
    };
    rig.hub.enroll(&request("a")).await.unwrap();
    let first = rig.hub.open_stream(&runner, "a").unwrap();
    assert!(first.start.is_none(), "its sessions are started on demand");
    assert!(rig.hub.enroll(&request("b")).await.unwrap());
    assert!(first.superseded.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn another_runners_session_can_be_named_and_nothing_comes_of_it() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let a = rig.attach(&one, "a").await;
    let b = rig.attach(&two, "b").await;
    rig.report(&a, LifecycleState::Ready).await;
    let stranger = rig.runner(&two);
    assert!(!rig.hub.report_state(&stranger, a.session, LifecycleState::Stopped).await.unwrap());
    assert_eq!(rig.hub.account_for(&stranger, a.session), None);
    assert!(!rig.hub.started(&stranger, a.session).await.unwrap());
    assert!(rig.hub.account_of(a.session).is_some());
    assert_eq!(rig.hub.account_for(&b.runner, b.session), Some(two.id));
    let namesake = RunnerKey::Named { tenant: rig.tenant.clone(), name: one.id.to_string() };
    assert_eq!(rig.hub.account_for(&namesake, a.session), None, "a runner called like the account is not it");
}

#[tokio::test(start_paused = true)]
async fn a_state_that_comes_before_the_start_is_answered_is_kept() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let runner = rig.runner(&one);
    rig.hub.enroll(&enroll(&rig, &one, "a")).await.unwrap();
    let session = rig.hub.open_stream(&runner, "a").unwrap().start.unwrap().session;
    assert!(rig.hub.report_state(&runner, session, LifecycleState::Working).await.unwrap());
    assert_eq!(rig.hub.account_for(&runner, session), Some(one.id));
    assert_eq!(rig.hub.account_of(session), None, "it is not live yet");
    drop(rig.lanes.lead(session));
    rig.hub.started(&runner, session).await.unwrap();
    assert_eq!(rig.presence(&one).await, compass_domain::Presence::Working);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_stopped_is_over() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let a = rig.attach(&one, "a").await;
    rig.report(&a, LifecycleState::Stopped).await;
    assert_eq!(rig.hub.account_for(&a.runner, a.session), None);
    assert!(!rig.hub.report_state(&a.runner, a.session, LifecycleState::Ready).await.unwrap());
}
