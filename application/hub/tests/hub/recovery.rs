//! What no event brought is read from the rows.

use std::{sync::atomic::Ordering, time::Duration};

use compass_domain::{Event, LifecycleState};
use compass_ports::{EventBus as _, Locks, Next};
use tokio::time::Instant;

use crate::rig::{Rig, pass, settle};

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_not_routed_before_a_restart_reaches_its_unsubscribed_asker() {
    let mut rig = Rig::stopped();
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let channel = rig.channel(&ann, &[], &[&one]).await;
    let (_, ask) = rig.ask(&one, channel).await;
    let answer = rig.answer(&ann, ask).await;
    assert_eq!(rig.owed(&one).await, 0, "nothing was routed");
    rig.restart().await;
    let before = Instant::now();
    let mut a = rig.attach(&one, "a").await;
    a.steered(&answer).await;
    assert_eq!(before.elapsed(), Duration::ZERO, "a node that starts waits for nothing");
    assert_eq!(rig.owed(&one).await, 1, "owed until it is acknowledged");
}

#[tokio::test(start_paused = true)]
async fn events_that_were_missed_are_caught_up_with() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let mut a = rig.attach(&one, "a").await;
    settle().await;
    let post = rig.say(&ann, channel, "lost in the flood").await;
    // All at once, so that the consumer cannot keep up and misses the oldest.
    let noise = Event::ActivityChanged { agent: ann.id, activity: String::new() };
    rig.bus.publish(&rig.tenant, vec![noise; 5000]);
    let before = Instant::now();
    a.delivered(&post).await;
    let after = rig.say(&ann, channel, "after the flood").await;
    a.delivered(&after).await;
    assert_eq!(before.elapsed(), Duration::ZERO, "at once, not with the next catch-up");
}

#[tokio::test(start_paused = true)]
async fn a_message_of_which_no_event_came_is_delivered_within_the_catch_up_interval() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let mut a = rig.attach(&one, "a").await;
    settle().await;
    // Posted by a process whose events do not reach this one.
    let elsewhere = crate::rig::deaf_writer(&rig);
    let post = elsewhere.say(&ann, channel, "from elsewhere").await;
    settle().await;
    assert_eq!(a.sent(), []);
    let before = Instant::now();
    a.delivered(&post).await;
    assert!(before.elapsed() <= Duration::from_secs(17), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn left_over_messages_of_an_agent_without_a_session_are_routed() {
    let mut rig = Rig::stopped();
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let channel = rig.channel(&ann, &[], &[&one, &two]).await;
    let post = rig.say(&one, channel, "@two the process died after this").await;
    rig.restart().await;
    let mut b = rig.attach(&two, "b").await;
    b.steered(&post).await;
}

#[tokio::test(start_paused = true)]
async fn a_left_over_message_that_cannot_be_routed_holds_up_no_other_and_is_tried_again() {
    let mut rig = Rig::stopped();
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let channel = rig.channel(&ann, &[], &[&one, &two]).await;
    let bad = rig.say(&one, channel, "@two first").await;
    let good = rig.say(&one, channel, "@two second").await;
    let failing = bad.id();
    rig.writer.fail_if(move |locks| *locks == Locks::Route { message: failing });
    rig.restart().await;
    let mut b = rig.attach(&two, "b").await;
    let before = Instant::now();
    b.steered(&good).await;
    assert_eq!(before.elapsed(), Duration::ZERO);
    rig.acknowledge(&two, &[&good]).await;
    pass(Duration::from_mins(1)).await;
    assert_eq!(b.sent(), []);
    rig.writer.fail_if(|_| false);
    b.steered(&bad).await;
}

#[tokio::test(start_paused = true)]
async fn left_overs_that_could_not_be_read_are_routed_once_they_can() {
    let mut rig = Rig::stopped();
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let channel = rig.channel(&ann, &[], &[&one, &two]).await;
    let post = rig.say(&one, channel, "@two the process died after this").await;
    rig.ledger.is_blind.store(true, Ordering::Relaxed);
    rig.restart().await;
    let mut b = rig.attach(&two, "b").await;
    pass(Duration::from_mins(1)).await;
    assert_eq!(b.sent(), []);
    rig.ledger.is_blind.store(false, Ordering::Relaxed);
    b.steered(&post).await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_stops_closes_its_sessions_and_gives_up_its_lease() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let a = rig.attach(&one, "a").await;
    rig.report(&a, LifecycleState::Ready).await;
    assert_eq!(rig.presence(&one).await, compass_domain::Presence::Idle);
    rig.stop.cancel();
    rig.tasks.close();
    rig.tasks.wait().await;
    assert_eq!(rig.presence(&one).await, compass_domain::Presence::Offline);
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_renewed_while_the_node_runs() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let a = rig.attach(&one, "a").await;
    rig.report(&a, LifecycleState::Ready).await;
    pass(Duration::from_mins(2)).await;
    assert_eq!(rig.presence(&one).await, compass_domain::Presence::Idle);
}

#[tokio::test(start_paused = true)]
async fn whoever_routes_a_message_says_so_once() {
    let (rig, ann, _, channel) = Rig::with_one().await;
    let mut tap = rig.bus.tap();
    let post = rig.say(&ann, channel, "@one look").await;
    pass(Duration::from_mins(1)).await;
    let mut settled = 0;
    rig.bus.close();
    while let Next::Event(published) = tap.next().await {
        if matches!(published.event, Event::MessageSettled { message, .. } if message == post.id()) {
            settled += 1;
        }
    }
    assert_eq!(settled, 1);
}
