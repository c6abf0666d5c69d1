//! Events of hot writes: after the commit, complete, in order, and none for what changed nothing.

use std::sync::Arc;

use compass_domain::{AskState, Event, Seq};
use compass_ports::{Next, Published, Subscription, submit};
use tokio::task::JoinSet;

use super::messages::archive;
use crate::{Fixture, Scene, drafts};

/// M4 order, G-3: what an event names can be read.
pub async fn a_post_tells_its_topic_then_itself_after_the_commit(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let mut events = listen(&scene);
    let first = scene.say(&ana, room, "t", "first").await;
    let second = scene.say(&ana, room, "t", "second").await;
    let Event::TopicUpserted(topic) = next(&mut *events).await.event.clone() else {
        panic!("the topic first")
    };
    assert_eq!((topic.id, topic.last_seq), (first.topic(), Seq(1)));
    let event = next(&mut *events).await;
    assert_eq!(event.event, Event::MessagePosted(Arc::clone(&first)));
    assert_eq!(scene.message(first.id()).await, first);
    assert_eq!(
        next(&mut *events).await.event,
        Event::MessagePosted(second),
        "no topic event for a known topic"
    );
    archive(&scene, room, "t").await;
    let third = scene.say(&ana, room, "t", "third").await;
    assert!(matches!(&next(&mut *events).await.event, Event::TopicUpserted(topic) if !topic.archived));
    assert_eq!(next(&mut *events).await.event, Event::MessagePosted(third));
}

/// 7.4-17; the canary proves that nothing came.
pub async fn a_repeat_tells_nothing(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    scene.say_with_key(&ana, room, "t", "text", Some("key")).await.unwrap();
    let mut events = listen(&scene);
    assert!(!scene.say_with_key(&ana, room, "t", "text", Some("key")).await.unwrap().inserted);
    scene.say_with_key(&ana, room, "t", "other", Some("key")).await.unwrap_err();
    let canary = scene.say(&ana, room, "t", "canary").await;
    assert_eq!(next(&mut *events).await.event, Event::MessagePosted(canary));
}

/// 7.4-18.
pub async fn an_answer_tells_the_update_then_the_post_adjacent(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana, &ben]).await;
    let (_, ask) = scene.ask(&ana, room, drafts::yes_or_no()).await;
    let mut events = listen(&scene);
    // Posts beside it, so that adjacent is more than "nothing else happened".
    let mut tasks = JoinSet::new();
    for _ in 0..16 {
        let (job, _) = scene.post_job(&ben, room, "asks", vec![drafts::text("noise")], None);
        let (writer, tenant) = (Arc::clone(&scene.writer), scene.tenant.clone());
        tasks.spawn(async move { submit(&*writer, &tenant, job).await.is_ok() });
    }
    let (asked, answer) = scene.answer(&ana, ask, drafts::yes()).await.unwrap();
    assert!(tasks.join_all().await.into_iter().all(|stored| stored));
    let mut seen = Vec::new();
    for _ in 0..18 {
        seen.push(next(&mut *events).await);
    }
    let update = seen.iter().position(|event| event.event == Event::MessageUpdated(Arc::clone(&asked)));
    let update = update.expect("the update is told");
    assert_eq!(seen[update + 1].event, Event::MessagePosted(answer));
    assert_eq!(seen[update + 1].seq, seen[update].seq + 1);
}

/// 7.4-19; the canary proves that nothing came.
pub async fn a_cancel_tells_one_update_and_a_second_cancel_nothing(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let (message, ask) = scene.ask(&ana, room, drafts::yes_or_no()).await;
    let mut events = listen(&scene);
    assert!(scene.cancel(&ana, ask).await.unwrap());
    assert!(!scene.cancel(&ana, ask).await.unwrap());
    let canary = scene.say(&ana, room, "asks", "canary").await;
    let Event::MessageUpdated(updated) = next(&mut *events).await.event.clone() else { panic!("an update") };
    assert_eq!(updated, scene.message(message.id()).await);
    assert!(updated.asks().all(|ask| matches!(ask.state(), AskState::Cancelled { .. })));
    assert_eq!(next(&mut *events).await.event, Event::MessagePosted(canary));
}

/// The writer publishes in commit order.
pub async fn events_of_a_channel_come_in_the_order_of_their_seqs(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    scene.say(&ana, room, "t", "first").await;
    let mut events = listen(&scene);
    let mut tasks = JoinSet::new();
    for _ in 0..40 {
        let (job, _) = scene.post_job(&ana, room, "t", vec![drafts::text("text")], None);
        let (writer, tenant) = (Arc::clone(&scene.writer), scene.tenant.clone());
        tasks.spawn(async move { submit(&*writer, &tenant, job).await.is_ok() });
    }
    assert!(tasks.join_all().await.into_iter().all(|stored| stored));
    for seq in 2..=41 {
        let Event::MessagePosted(message) = next(&mut *events).await.event.clone() else { panic!("a post") };
        assert_eq!(message.seq(), Seq(seq));
    }
}

/// Everything from now on.
fn listen(scene: &Scene) -> Box<dyn Subscription> {
    scene.bus.tap()
}

async fn next(events: &mut dyn Subscription) -> Arc<Published> {
    match events.next().await {
        Next::Event(published) => published,
        other => panic!("an event, not {other:?}"),
    }
}
