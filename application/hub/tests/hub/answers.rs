//! An answer reaches the agent that asked, wherever that agent is.

use std::time::Duration;

use compass_domain::delivery::Lane;
use tokio::time::Instant;

use crate::rig::{Rig, settle};

#[tokio::test(start_paused = true)]
async fn a_subscribed_and_live_asker_gets_one_deliver_at_once_and_no_owed_row() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let mut a = rig.attach(&one, "a").await;
    let (_, ask) = rig.ask(&one, channel).await;
    settle().await;
    let before = Instant::now();
    let answer = rig.answer(&ann, ask).await;
    a.delivered(&answer).await;
    assert_eq!(before.elapsed(), Duration::ZERO);
    settle().await;
    assert_eq!(a.sent(), []);
    rig.acknowledge(&one, &[&answer]).await;
    assert_eq!(rig.owed(&one).await, 0);
}

#[tokio::test(start_paused = true)]
async fn an_offline_subscribed_asker_gets_the_answer_at_its_start_and_once() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let (_, ask) = rig.ask(&one, channel).await;
    let answer = rig.answer(&ann, ask).await;
    let mut a = rig.attach(&one, "a").await;
    a.delivered(&answer).await;
    rig.acknowledge(&one, &[&answer]).await;
    rig.hub.close(a.session).await.unwrap();
    let mut again = rig.attach(&one, "a").await;
    let canary = rig.say(&ann, channel, "next").await;
    again.delivered(&canary).await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_whose_receipt_was_lost_is_sent_again_to_the_next_session() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let mut a = rig.attach(&one, "a").await;
    let (_, ask) = rig.ask(&one, channel).await;
    let answer = rig.answer(&ann, ask).await;
    a.delivered(&answer).await;
    let mut again = rig.attach(&one, "a").await;
    again.delivered(&answer).await;
}

#[tokio::test(start_paused = true)]
async fn an_unsubscribed_offline_asker_is_owed_the_answer_and_steered_at_its_start() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let channel = rig.channel(&ann, &[], &[&one]).await;
    let (_, ask) = rig.ask(&one, channel).await;
    let answer = rig.answer(&ann, ask).await;
    settle().await;
    let mut a = rig.attach(&one, "a").await;
    a.steered(&answer).await;
}

#[tokio::test(start_paused = true)]
async fn an_unsubscribed_live_asker_is_steered_at_once_and_owed_until_it_acknowledges() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let channel = rig.channel(&ann, &[], &[&one]).await;
    let mut a = rig.attach(&one, "a").await;
    let (_, ask) = rig.ask(&one, channel).await;
    settle().await;
    let before = Instant::now();
    let answer = rig.answer(&ann, ask).await;
    a.steered(&answer).await;
    assert_eq!(before.elapsed(), Duration::ZERO);
    assert_eq!(rig.owed(&one).await, 1);
    rig.acknowledge(&one, &[&answer]).await;
    assert_eq!(rig.owed(&one).await, 0);
}

#[tokio::test(start_paused = true)]
async fn other_subscribers_get_the_answer_message_too() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let channel = rig.channel(&ann, &[&one, &two], &[]).await;
    let mut b = rig.attach(&two, "b").await;
    let (question, ask) = rig.ask(&one, channel).await;
    b.delivered(&question).await;
    let answer = rig.answer(&ann, ask).await;
    b.delivered(&answer).await;
}

#[tokio::test(start_paused = true)]
async fn the_answer_to_a_persons_own_ask_is_owed_to_nobody() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let mut a = rig.attach(&one, "a").await;
    let (question, ask) = rig.ask(&ann, channel).await;
    let answer = rig.answer(&ann, ask).await;
    assert_eq!(a.next_on(Lane::Deliver).await, question.id());
    assert_eq!(a.next_on(Lane::Deliver).await, answer.id());
}
