//! What others see of an agent, and when they are told.

use std::{sync::atomic::Ordering, time::Duration};

use compass_comms::accounts::{
    get_roster::{GetRoster, get_roster},
    set_status::{SetStatus, set_status},
};
use compass_domain::{Account, Event, LifecycleState, MessageId, Presence, roster::RosterScope};
use compass_hub::{ports::AttachMode, sessions::Enroll};
use compass_ports::{EventBus as _, Next, RETAINED, Subscription};

use crate::rig::{Rig, deaf_writer, next_presence, pass, settle};

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
    let (rig, ann, one, channel) = Rig::with_one().await;
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
    let (rig, _, one, channel) = Rig::with_one().await;
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
    let (rig, ann, _, channel) = Rig::with_one().await;
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

/// No presence event of anyone is left on this tap, whose bus ends by it.
async fn nothing_more(rig: &Rig, tap: &mut dyn Subscription) {
    pass(Duration::from_secs(1)).await;
    rig.bus.close();
    while let Next::Event(published) = tap.next().await {
        assert!(!matches!(published.event, Event::AgentPresenceChanged { .. }), "{:?}", published.event);
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_after_it_failed_is_told_offline_once() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let a = rig.attach(&one, "a").await;
    rig.report(&a, LifecycleState::Ready).await;
    pass(Duration::from_secs(1)).await;
    let mut tap = rig.bus.tap();
    rig.hub.detached(a.session).await;
    assert_eq!(next_presence(&mut *tap, &one).await.0, Presence::Offline);
    rig.report(&a, LifecycleState::Errored).await;
    rig.hub.close(a.session).await.unwrap();
    nothing_more(&rig, &mut *tap).await;
}

#[tokio::test(start_paused = true)]
async fn an_enrolment_that_ends_a_session_tells_offline_once_and_a_first_one_tells_nothing() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    rig.attach(&one, "a").await;
    pass(Duration::from_secs(1)).await;
    let mut tap = rig.bus.tap();
    let enroll = |agent| Enroll {
        runner: rig.runner(agent),
        instance: "b".into(),
        mode: AttachMode::Deliveries,
        take_over: true,
    };
    rig.hub.enroll(&enroll(&two)).await.unwrap();
    rig.hub.enroll(&enroll(&one)).await.unwrap();
    assert_eq!(next_presence(&mut *tap, &one).await.0, Presence::Offline);
    nothing_more(&rig, &mut *tap).await;
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_session_that_another_replaced_changes_nothing() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let old = rig.attach(&one, "a").await;
    let runner = rig.runner(&one);
    let mode = AttachMode::Deliveries;
    let enroll = Enroll { runner: runner.clone(), instance: "b".into(), mode, take_over: true };
    rig.hub.enroll(&enroll).await.unwrap();
    let session = rig.hub.open_stream(&runner, "b").unwrap().start.unwrap().session;
    assert!(rig.hub.started(&runner, session).await.unwrap());
    assert!(rig.hub.report_state(&runner, session, LifecycleState::Working).await.unwrap());
    pass(Duration::from_secs(1)).await;
    let mut tap = rig.bus.tap();
    rig.hub.close(old.session).await.unwrap();
    rig.hub.detached(old.session).await;
    assert!(!rig.hub.report_state(&runner, old.session, LifecycleState::Errored).await.unwrap());
    assert_eq!(rig.presence(&one).await, Presence::Working);
    nothing_more(&rig, &mut *tap).await;
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_never_answered_leaves_the_agent_offline_and_holds_up_nobody() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let mut tap = rig.bus.tap();
    let runner = rig.runner(&one);
    let mode = AttachMode::Deliveries;
    let enroll = Enroll { runner: runner.clone(), instance: "a".into(), mode, take_over: false };
    rig.hub.enroll(&enroll).await.unwrap();
    let session = rig.hub.open_stream(&runner, "a").unwrap().start.unwrap().session;
    let other = rig.attach(&two, "b").await;
    assert_eq!(next_presence(&mut *tap, &two).await.0, Presence::Idle);
    assert_eq!(rig.presence(&one).await, Presence::Offline);
    rig.report(&other, LifecycleState::Working).await;
    assert_eq!(next_presence(&mut *tap, &two).await.0, Presence::Working);
    assert!(rig.hub.started(&runner, session).await.unwrap());
    assert_eq!(next_presence(&mut *tap, &one).await.0, Presence::Idle);
}

#[tokio::test(start_paused = true)]
async fn withdrawing_the_only_open_ask_ends_the_wait_and_one_of_two_does_not() {
    let (rig, _, one, channel) = Rig::with_one().await;
    let a = rig.attach(&one, "a").await;
    rig.report(&a, LifecycleState::Ready).await;
    let (_, first) = rig.ask(&one, channel).await;
    let (_, second) = rig.ask(&one, channel).await;
    pass(Duration::from_secs(1)).await;
    let mut tap = rig.bus.tap();
    rig.cancel(&one, first).await;
    pass(Duration::from_secs(1)).await;
    assert_eq!(rig.presence(&one).await, Presence::Waiting);
    rig.cancel(&one, second).await;
    assert_eq!(next_presence(&mut *tap, &one).await.0, Presence::Idle, "and no event before it");
    assert_eq!(rig.presence(&one).await, Presence::Idle);
    nothing_more(&rig, &mut *tap).await;
}

#[tokio::test(start_paused = true)]
async fn an_ask_that_is_replaced_before_it_is_withdrawn_never_ends_the_wait() {
    let (rig, _, one, channel) = Rig::with_one().await;
    let a = rig.attach(&one, "a").await;
    rig.report(&a, LifecycleState::Ready).await;
    let (_, old) = rig.ask(&one, channel).await;
    pass(Duration::from_secs(1)).await;
    let mut tap = rig.bus.tap();
    rig.ask(&one, channel).await;
    pass(Duration::from_secs(1)).await;
    rig.cancel(&one, old).await;
    pass(Duration::from_secs(1)).await;
    assert_eq!(rig.presence(&one).await, Presence::Waiting);
    nothing_more(&rig, &mut *tap).await;
}

#[tokio::test(start_paused = true)]
async fn presence_is_looked_at_again_when_events_were_lost() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let a = rig.attach(&one, "a").await;
    rig.report(&a, LifecycleState::Ready).await;
    let (_, ask) = rig.ask(&one, channel).await;
    pass(Duration::from_secs(1)).await;
    assert_eq!(rig.presence(&one).await, Presence::Waiting);
    // Nobody here hears of the answer.
    deaf_writer(&rig).answer(&ann, ask).await;
    let noise = Event::MessageSettled { channel, message: MessageId::from_bytes([0; 16]) };
    rig.bus.publish(&rig.tenant, vec![noise; 2 * RETAINED]);
    let mut tap = rig.bus.tap();
    assert_eq!(next_presence(&mut *tap, &one).await.0, Presence::Idle);
}

#[tokio::test(start_paused = true)]
async fn a_roster_shows_the_presence_that_was_told() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let channel = rig.channel(&ann, &[&one], &[]).await;
    let get = GetRoster { scope: RosterScope::Owner, vantage: None };
    let shown = async || {
        let entries = get_roster(&rig.comms, &rig.caller(&ann), get).await.unwrap();
        let of = |agent: &Account| entries.iter().find(|entry| entry.agent.id == agent.id).unwrap().presence;
        [of(&one), of(&two)]
    };
    assert_eq!(shown().await, [Presence::Offline; 2]);
    let mut tap = rig.bus.tap();
    let a = rig.attach(&one, "a").await;
    let mut told = vec![next_presence(&mut *tap, &one).await.0];
    assert_eq!(shown().await, [told[0], Presence::Offline]);
    rig.report(&a, LifecycleState::Working).await;
    told.push(next_presence(&mut *tap, &one).await.0);
    assert_eq!(shown().await, [told[1], Presence::Offline]);
    rig.ask(&one, channel).await;
    rig.report(&a, LifecycleState::Ready).await;
    told.push(next_presence(&mut *tap, &one).await.0);
    assert_eq!(shown().await, [told[2], Presence::Offline]);
    assert_eq!(told, [Presence::Idle, Presence::Working, Presence::Waiting]);
}

/// PR-9: a store that cannot be read changes nothing of what was told, and the change is told once it can.
#[tokio::test(start_paused = true)]
async fn a_failing_store_tells_nothing_and_delays_the_change_only() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let mut tap = rig.bus.tap();
    let a = rig.attach(&one, "a").await;
    rig.report(&a, LifecycleState::Ready).await;
    assert_eq!(next_presence(&mut *tap, &one).await.0, Presence::Idle);
    rig.ledger.is_down.store(true, Ordering::Relaxed);
    rig.report(&a, LifecycleState::Working).await;
    let told = tokio::time::timeout(Duration::from_secs(5), next_presence(&mut *tap, &one)).await;
    assert!(told.is_err(), "{told:?} was told from nothing");
    rig.ledger.is_down.store(false, Ordering::Relaxed);
    assert_eq!(next_presence(&mut *tap, &one).await.0, Presence::Working);
}
