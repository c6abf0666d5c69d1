//! What others see of an agent, and when they are told.

use std::time::Duration;

use compass_comms::accounts::set_status::{SetStatus, set_status};
use compass_domain::{Event, LifecycleState, Presence};
use compass_hub::ports::AttachMode;
use compass_ports::{EventBus as _, Next};

use crate::rig::{Rig, next_presence, pass, settle};

#[tokio::test(start_paused = true)]
async fn a_transition_is_told_once_and_a_repeat_is_not() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let mut tap = rig.bus.tap();
    let a = rig.attach(&one, "a").await;
    assert_eq!(next_presence(&mut *tap, &one).await, (Presence::Idle, String::new()));
    rig.report(&a, LifecycleState::Ready).await;
    rig.report(&a, LifecycleState::Working).await;
    rig.report(&a, LifecycleState::Working).await;
    assert_eq!(next_presence(&mut *tap, &one).await.0, Presence::Working);
    rig.report(&a, LifecycleState::Errored).await;
    assert_eq!(next_presence(&mut *tap, &one).await.0, Presence::Offline);
    let again = rig.attach(&one, "a").await;
    rig.report(&again, LifecycleState::Working).await;
    assert_eq!(next_presence(&mut *tap, &one).await.0, Presence::Working, "one event for each change");
}

#[tokio::test(start_paused = true)]
async fn an_idle_agent_with_an_open_ask_waits_until_it_is_answered() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let channel = rig.channel(&ann, &[&one], &[]).await;
    let a = rig.attach(&one, "a").await;
    rig.report(&a, LifecycleState::Ready).await;
    settle().await;
    let mut tap = rig.bus.tap();
    rig.say(&one, channel, "a text changes nothing").await;
    let (_, ask) = rig.ask(&one, channel).await;
    assert_eq!(next_presence(&mut *tap, &one).await.0, Presence::Waiting);
    assert_eq!(rig.presence(&one).await, Presence::Waiting);
    rig.answer(&ann, ask).await;
    assert_eq!(next_presence(&mut *tap, &one).await.0, Presence::Idle);
    settle().await;
    rig.bus.close();
    while let Next::Event(published) = tap.next().await {
        assert!(!matches!(published.event, Event::AgentPresenceChanged { .. }), "one transition");
    }
}

#[tokio::test(start_paused = true)]
async fn an_ask_of_a_working_agent_shows_once_it_is_ready() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let channel = rig.channel(&ann, &[&one], &[]).await;
    let a = rig.attach(&one, "a").await;
    rig.report(&a, LifecycleState::Working).await;
    settle().await;
    let mut tap = rig.bus.tap();
    rig.ask(&one, channel).await;
    settle().await;
    rig.report(&a, LifecycleState::Ready).await;
    assert_eq!(next_presence(&mut *tap, &one).await.0, Presence::Waiting);
}

#[tokio::test(start_paused = true)]
async fn an_open_ask_is_seen_again_after_a_restart() {
    let mut rig = Rig::stopped();
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let channel = rig.channel(&ann, &[&one], &[]).await;
    rig.ask(&one, channel).await;
    rig.restart().await;
    let mut tap = rig.bus.tap();
    let a = rig.attach(&one, "a").await;
    rig.report(&a, LifecycleState::Ready).await;
    assert_eq!(next_presence(&mut *tap, &one).await.0, Presence::Waiting);
}

#[tokio::test(start_paused = true)]
async fn people_have_no_presence() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let channel = rig.channel(&ann, &[&one], &[]).await;
    let mut tap = rig.bus.tap();
    let (_, ask) = rig.ask(&ann, channel).await;
    rig.answer(&ann, ask).await;
    settle().await;
    rig.bus.close();
    while let Next::Event(published) = tap.next().await {
        assert!(!matches!(published.event, Event::AgentPresenceChanged { .. }));
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_stream_is_gone_is_offline_and_ends_after_a_minute() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let a = rig.attach(&one, "a").await;
    rig.report(&a, LifecycleState::Ready).await;
    settle().await;
    let mut tap = rig.bus.tap();
    rig.hub.detached(a.session).await;
    assert_eq!(next_presence(&mut *tap, &one).await.0, Presence::Offline);
    assert!(rig.hub.account_of(a.session).is_some());
    pass(Duration::from_secs(70)).await;
    assert!(rig.hub.account_of(a.session).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_presence_only_session_counts() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let a = rig.attach(&one, "a").await;
    let watcher = rig.attach_as(&one, "w", AttachMode::PresenceOnly).await;
    rig.report(&watcher, LifecycleState::Working).await;
    rig.report(&a, LifecycleState::Ready).await;
    assert_eq!(rig.presence(&one).await, Presence::Working, "the busier one counts");
    rig.hub.close(a.session).await.unwrap();
    assert_eq!(rig.presence(&one).await, Presence::Working, "one of two ended");
    rig.hub.close(watcher.session).await.unwrap();
    assert_eq!(rig.presence(&one).await, Presence::Offline);
}

#[tokio::test(start_paused = true)]
async fn an_activity_is_told_every_time_with_the_presence_of_the_moment() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let mut tap = rig.bus.tap();
    let status = || SetStatus { activity: "reading".into() };
    set_status(&rig.comms, &rig.caller(&one), status()).await.unwrap();
    assert_eq!(next_presence(&mut *tap, &one).await, (Presence::Offline, "reading".into()));
    let a = rig.attach(&one, "a").await;
    rig.report(&a, LifecycleState::Working).await;
    settle().await;
    let mut tap = rig.bus.tap();
    for _ in 0..2 {
        set_status(&rig.comms, &rig.caller(&one), status()).await.unwrap();
        assert_eq!(next_presence(&mut *tap, &one).await, (Presence::Working, "reading".into()));
    }
}
