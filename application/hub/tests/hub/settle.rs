//! An agent's message waits for the end of its turn.

use std::{sync::Arc, time::Duration};

use compass_domain::{Account, AskState, LifecycleState, Message, delivery::Lane};
use tokio::time::Instant;

use crate::rig::{Live, Rig, pass, settle};

#[tokio::test(start_paused = true)]
async fn an_agents_post_waits_while_it_works_and_goes_out_when_the_turn_ends() {
    for end in [LifecycleState::Ready, LifecycleState::Stopped, LifecycleState::Errored] {
        let rig = Rig::new().await;
        let ann = rig.admin().await;
        let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
        let channel = rig.channel(&ann, &[&one], &[&two]).await;
        let (author, mut b) = (rig.attach(&one, "a").await, rig.attach(&two, "b").await);
        rig.report(&author, LifecycleState::Working).await;
        let first = rig.say(&one, channel, "@two first").await;
        let second = rig.say(&one, channel, "@two second").await;
        let canary = rig.say(&ann, channel, "@two canary").await;
        b.steered(&canary).await;
        settle().await;
        assert_eq!(b.sent(), [], "{end:?}");
        rig.report(&author, end).await;
        b.steered(&first).await;
        b.steered(&second).await;
    }
}

#[tokio::test(start_paused = true)]
async fn states_that_end_no_turn_let_nothing_go() {
    let (rig, _, one, two, channel) = Rig::with_author_and_listener().await;
    let (author, mut b) = (rig.attach(&one, "a").await, rig.attach(&two, "b").await);
    rig.report(&author, LifecycleState::Working).await;
    let held = rig.say(&one, channel, "wait").await;
    for state in [LifecycleState::Starting, LifecycleState::Disconnected, LifecycleState::Unspecified] {
        rig.report(&author, state).await;
    }
    pass(Duration::from_mins(1)).await;
    assert_eq!(b.sent(), []);
    rig.report(&author, LifecycleState::Ready).await;
    b.delivered(&held).await;
}

#[tokio::test(start_paused = true)]
async fn a_message_is_held_for_ten_minutes_at_the_most() {
    let (rig, _, one, two, channel) = Rig::with_author_and_listener().await;
    let (author, mut b) = (rig.attach(&one, "a").await, rig.attach(&two, "b").await);
    rig.report(&author, LifecycleState::Working).await;
    let held = rig.say(&one, channel, "a very long turn").await;
    settle().await;
    let before = Instant::now();
    pass(Duration::from_mins(9)).await;
    assert_eq!(b.sent(), []);
    let (_, sent) = b.next_within(Duration::from_mins(2)).await;
    assert_eq!(sent.message.id(), held.id());
    assert_eq!(before.elapsed().as_secs(), 10 * 60);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_never_works_posts_at_once() {
    let (rig, _, one, two, channel) = Rig::with_author_and_listener().await;
    let (author, mut b) = (rig.attach(&one, "a").await, rig.attach(&two, "b").await);
    rig.report(&author, LifecycleState::Ready).await;
    settle().await;
    let before = Instant::now();
    let post = rig.say(&one, channel, "now").await;
    b.delivered(&post).await;
    assert_eq!(before.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_post_of_an_agent_without_a_session_goes_out_at_once() {
    let (rig, _, one, two, channel) = Rig::with_author_and_listener().await;
    let mut b = rig.attach(&two, "b").await;
    settle().await;
    let before = Instant::now();
    let post = rig.say(&one, channel, "from a script").await;
    b.delivered(&post).await;
    assert_eq!(before.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn an_ask_that_was_answered_meanwhile_goes_out_as_it_is_now() {
    let (rig, ann, one, two, channel) = Rig::with_author_and_listener().await;
    let (author, mut b) = (rig.attach(&one, "a").await, rig.attach(&two, "b").await);
    rig.report(&author, LifecycleState::Working).await;
    let (held, ask) = rig.ask(&one, channel).await;
    let answer = rig.answer(&ann, ask).await;
    b.delivered(&answer).await;
    rig.report(&author, LifecycleState::Ready).await;
    let (lane, sent) = b.next().await;
    assert_eq!((lane, sent.message.id()), (Lane::Deliver, held.id()));
    let state = sent.message.asks().next().unwrap().state();
    assert!(matches!(state, AskState::Answered { .. }), "{state:?}");
}

/// An agent in a turn, what it said meanwhile to another one, and that one's session.
async fn held_in_a_turn(rig: &Rig) -> (Account, Live, Arc<Message>, Live) {
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let channel = rig.channel(&ann, &[], &[&one, &two]).await;
    let (author, mut other) = (rig.attach(&one, "a").await, rig.attach(&two, "b").await);
    rig.report(&author, LifecycleState::Working).await;
    let held = rig.say(&one, channel, "@two last words").await;
    settle().await;
    assert_eq!(other.sent(), []);
    (one, author, held, other)
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_in_a_turn_lets_its_messages_go() {
    let rig = Rig::new().await;
    let (_, author, held, mut other) = held_in_a_turn(&rig).await;
    let before = Instant::now();
    rig.hub.close(author.session).await.unwrap();
    other.steered(&held).await;
    assert!(before.elapsed() < Duration::from_secs(1), "at once, not with a scan: {:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_process_that_opens_its_stream_again_lets_its_messages_go() {
    let rig = Rig::new().await;
    let (one, author, held, mut other) = held_in_a_turn(&rig).await;
    let before = Instant::now();
    let again = rig.attach(&one, "a").await;
    assert_eq!(again.session, author.session);
    other.steered(&held).await;
    assert_eq!(before.elapsed(), Duration::ZERO, "nothing is known of a turn any more");
}

#[tokio::test(start_paused = true)]
async fn a_start_sweep_takes_a_held_message_and_the_settle_does_not_repeat_it() {
    let (rig, ann, one, two, channel) = Rig::with_author_and_listener().await;
    let author = rig.attach(&one, "a").await;
    rig.report(&author, LifecycleState::Working).await;
    let held = rig.say(&one, channel, "early for those who start").await;
    settle().await;
    let mut b = rig.attach(&two, "b").await;
    b.delivered(&held).await;
    rig.acknowledge(&two, &[&held]).await;
    rig.report(&author, LifecycleState::Ready).await;
    let canary = rig.say(&ann, channel, "canary").await;
    b.delivered(&canary).await;
}

#[tokio::test(start_paused = true)]
async fn a_catch_up_does_not_take_a_held_message() {
    let (rig, ann, one, two, channel) = Rig::with_author_and_listener().await;
    let (author, mut b) = (rig.attach(&one, "a").await, rig.attach(&two, "b").await);
    // A message without a receipt makes the sender read what is owed again and again.
    let unread = rig.say(&ann, channel, "read by nobody").await;
    b.delivered(&unread).await;
    rig.report(&author, LifecycleState::Working).await;
    let held = rig.say(&one, channel, "wait for the end of the turn").await;
    pass(Duration::from_mins(4)).await;
    let repeats = b.sent();
    assert!(repeats.len() > 1, "it was sent again");
    assert!(repeats.iter().all(|sent| *sent == (Lane::Deliver, unread.id())), "and nothing beside it");
    rig.report(&author, LifecycleState::Ready).await;
    b.delivered(&held).await;
}
