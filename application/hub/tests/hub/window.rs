//! How much a session is sent before it acknowledges, and when it is sent again.

use std::{sync::Arc, time::Duration};

use compass_domain::{LifecycleState, delivery::Lane};
use tokio::time::Instant;

use crate::rig::{Rig, deaf_writer, pass, settle};

#[tokio::test(start_paused = true)]
async fn a_message_without_a_receipt_is_sent_again_after_half_a_minute_and_then_less_often() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let mut a = rig.attach(&one, "a").await;
    let post = rig.say(&ann, channel, "hello").await;
    a.delivered(&post).await;
    let mut pauses = Vec::new();
    for _ in 0..7 {
        let before = Instant::now();
        let (lane, sent) = a.next_within(Duration::from_mins(12)).await;
        assert_eq!((lane, sent.message.id()), (Lane::Deliver, post.id()));
        pauses.push(before.elapsed().as_secs_f64());
    }
    for (pause, expected) in pauses.iter().zip([30.0, 60.0, 120.0, 240.0, 480.0, 600.0, 600.0]) {
        assert!((expected * 0.89..expected * 1.11).contains(pause), "{pauses:?}");
    }
    rig.acknowledge(&one, &[&post]).await;
    pass(Duration::from_mins(30)).await;
    assert_eq!(a.sent(), [], "an acknowledged message is not sent again");
}

#[tokio::test(start_paused = true)]
async fn a_deliver_is_not_repeated_while_the_session_works_and_a_steer_is() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let mut a = rig.attach(&one, "a").await;
    rig.report(&a, LifecycleState::Working).await;
    let deliver = rig.say(&ann, channel, "later").await;
    let steer = rig.say(&ann, channel, "@one now").await;
    a.delivered(&deliver).await;
    a.steered(&steer).await;
    a.steered(&steer).await;
    rig.acknowledge(&one, &[&steer]).await;
    pass(Duration::from_mins(20)).await;
    assert_eq!(a.sent(), []);
    rig.report(&a, LifecycleState::Ready).await;
    let before = Instant::now();
    a.delivered(&deliver).await;
    assert!(before.elapsed() > Duration::from_secs(26), "its clock stood still, {:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_without_a_stream_and_a_new_one_starts_with_a_sweep() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let mut a = rig.attach(&one, "a").await;
    let first = rig.say(&ann, channel, "1").await;
    a.delivered(&first).await;
    rig.hub.detached(a.session).await;
    let second = rig.say(&ann, channel, "2").await;
    pass(Duration::from_secs(50)).await;
    assert_eq!(a.sent(), []);
    rig.hub.attached(a.session);
    a.delivered(&first).await;
    a.delivered(&second).await;
}

#[tokio::test(start_paused = true)]
async fn at_most_256_delivers_are_in_flight_and_the_rest_follows_in_order() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let mut a = rig.attach(&one, "a").await;
    let mut posts = Vec::new();
    for number in 0..700 {
        posts.push(rig.say(&ann, channel, &number.to_string()).await);
    }
    settle().await;
    let mut sent: Vec<_> = a.sent();
    assert_eq!(sent.len(), 256);
    while sent.len() < posts.len() {
        let done = sent.len();
        for post in &posts[..done] {
            rig.acknowledge(&one, &[post]).await;
        }
        settle().await;
        sent.extend(a.sent());
        assert!(sent.len() > done, "more comes as soon as there is room");
        assert!(sent.len() - done <= 256);
    }
    let expected: Vec<_> = posts.iter().map(|post| (Lane::Deliver, post.id())).collect();
    assert_eq!(sent, expected);
}

#[tokio::test(start_paused = true)]
async fn steers_have_a_window_of_their_own_that_a_full_deliver_window_does_not_touch() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let mut a = rig.attach(&one, "a").await;
    for number in 0..300 {
        rig.say(&ann, channel, &number.to_string()).await;
    }
    settle().await;
    assert_eq!(a.sent().len(), 256);
    let mut steers = Vec::new();
    for number in 0..70 {
        steers.push(rig.say(&ann, channel, &format!("@one {number}")).await);
    }
    settle().await;
    let expected: Vec<_> = steers.iter().take(64).map(|post| (Lane::Steer, post.id())).collect();
    assert_eq!(a.sent(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_large_backlog_is_swept_in_order_without_waiting_for_timers() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let mut posts = Vec::new();
    for number in 0..1000 {
        posts.push(rig.say(&ann, channel, &number.to_string()).await);
    }
    let before = Instant::now();
    let mut a = rig.attach(&one, "a").await;
    for post in &posts {
        a.delivered(post).await;
        rig.acknowledge(&one, &[post]).await;
    }
    assert_eq!(before.elapsed(), Duration::ZERO);
    assert_eq!(rig.owed(&one).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_hint_that_comes_twice_sends_once() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let mut a = rig.attach(&one, "a").await;
    let post = rig.say(&ann, channel, "@one hello").await;
    a.steered(&post).await;
    let settled = compass_domain::Event::MessageSettled { channel, message: post.id() };
    let posted = compass_domain::Event::MessagePosted(Arc::clone(&post));
    let bus: &dyn compass_ports::EventBus = &*rig.bus;
    bus.publish(&rig.tenant, vec![posted.clone(), settled.clone()]);
    settle().await;
    assert_eq!(a.sent(), []);
    rig.acknowledge(&one, &[&post]).await;
    bus.publish(&rig.tenant, vec![posted, settled]);
    settle().await;
    assert_eq!(a.sent(), []);
}

#[tokio::test(start_paused = true)]
async fn what_becomes_ready_during_a_read_goes_out_in_its_place() {
    let (rig, ann, one, two, channel) = Rig::with_author_and_listener().await;
    let (author, mut b) = (rig.attach(&one, "a").await, rig.attach(&two, "b").await);
    settle().await;
    rig.report(&author, LifecycleState::Working).await;
    let held = rig.say(&one, channel, "first, and held until the turn ends").await;
    // No event tells of the second one, so the catch-up reads it.
    let second = deaf_writer(&rig).say(&ann, channel, "second").await;
    let reading = rig.audience.pages_gate.acquire_many(1024).await.unwrap();
    pass(Duration::from_secs(20)).await;
    rig.report(&author, LifecycleState::Ready).await;
    settle().await;
    assert_eq!(b.sent(), [], "the page is not here yet");
    drop(reading);
    b.delivered(&held).await;
    b.delivered(&second).await;
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_room_is_dropped_when_the_agent_is_removed() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let other = rig.channel(&ann, &[&one], &[]).await;
    let mut a = rig.attach(&one, "a").await;
    let mut posts = Vec::new();
    for number in 0..266 {
        posts.push(rig.say(&ann, channel, &number.to_string()).await);
    }
    settle().await;
    assert_eq!(a.sent().len(), 256);
    rig.remove(&ann, channel, &one).await;
    for post in &posts[..256] {
        rig.acknowledge(&one, &[post]).await;
    }
    let canary = rig.say(&ann, other, "elsewhere").await;
    a.delivered(&canary).await;
    settle().await;
    assert_eq!(a.sent(), []);
}
