//! Changing topics through the use case: names, the archive, and who may.

use compass_comms::{
    ports::TopicSummary,
    topics::update_topic::{self, UpdateTopic, update_topic},
};
use compass_domain::{Account, ChannelId, Classified, ErrorKind, Event, Topic, TopicId, channel::PostPolicy};

use super::cancel_table::next;
use crate::{ChannelSpec, Fixture, Scene};

pub(super) fn renamed(topic: TopicId, name: &str) -> UpdateTopic {
    UpdateTopic { topic: Some(topic), name: Some(name.to_owned()), archived: None }
}

pub(super) fn archived(topic: TopicId, archived: bool) -> UpdateTopic {
    UpdateTopic { topic: Some(topic), name: None, archived: Some(archived) }
}

pub(super) async fn update(
    scene: &Scene,
    by: &Account,
    update: UpdateTopic,
) -> Result<TopicSummary, update_topic::Error> {
    update_topic(&scene.comms(), &scene.caller(by), update).await
}

pub(super) async fn found(scene: &Scene, topic: TopicId) -> Option<TopicSummary> {
    scene.read().await.find_topic(topic).await.unwrap()
}

pub(super) async fn named(scene: &Scene, channel: ChannelId, key: &str) -> Option<TopicId> {
    let found = scene.read().await.find_topic_named(channel, key).await.unwrap();
    found.map(|summary| summary.topic.id)
}

/// TP-11 and what it tells.
pub async fn a_free_name_and_another_spelling_change_the_row_in_place(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let topic = scene.say(&ana, room, "plan", "text").await.topic();
    let mut events = scene.bus.tap();
    for (name, key) in [(" Budget ", "budget"), ("BUDGET", "budget")] {
        let before = found(&scene, topic).await.unwrap();
        let after = update(&scene, &ana, renamed(topic, name)).await.unwrap();
        let expected = Topic { name: after.topic.name.clone(), ..Topic::clone(&before.topic) };
        assert_eq!(after.topic.name.as_str(), name.trim());
        assert_eq!(*after.topic, expected, "nothing else changes");
        assert_eq!(found(&scene, topic).await, Some(after.clone()));
        assert_eq!(named(&scene, room, key).await, Some(topic));
        assert_eq!(next(&mut *events).await, Event::TopicUpserted(after.topic));
    }
    assert_eq!(named(&scene, room, "plan").await, None);
    let other = scene.say(&ana, room, "plan", "the old name is free").await;
    assert_ne!(other.topic(), topic);
}

/// TP-10 and 3-10: whoever takes part, whatever the post policy.
pub async fn any_participant_archives_and_revives(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let policy = PostPolicy::OwnerOnly { owner: ana.id };
    let spec = ChannelSpec { policy, ..ChannelSpec::new("room", &[&ana, &ben]) };
    let room = scene.channel_with(spec).await;
    let topic = scene.say(&ana, room, "plan", "text").await.topic();
    let mut events = scene.bus.tap();
    for flag in [true, false] {
        let after = update(&scene, &ben, archived(topic, flag)).await.unwrap();
        assert_eq!(after.topic.archived, flag);
        assert_eq!(scene.read().await.list_topics(&[room], false).await.unwrap().is_empty(), flag);
        assert_eq!(next(&mut *events).await, Event::TopicUpserted(after.topic));
    }
}

/// A change that changes nothing is told to nobody.
pub async fn an_update_without_effect_is_told_to_nobody(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let topic = scene.say(&ana, room, "plan", "text").await.topic();
    let before = found(&scene, topic).await.unwrap();
    let mut events = scene.bus.tap();
    let none = UpdateTopic { topic: Some(topic), ..UpdateTopic::default() };
    for same in [none, renamed(topic, " plan"), archived(topic, false)] {
        assert_eq!(update(&scene, &ana, same).await.unwrap(), before);
    }
    let canary = scene.say(&ana, room, "plan", "canary").await;
    assert_eq!(next(&mut *events).await, Event::MessagePosted(canary));
}

/// TP-10, 3-7, CH-27: one answer for what is absent and what is not the caller's.
pub async fn strangers_and_unknown_topics_look_the_same_and_change_nothing(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, eve) = (scene.user("ana").await, scene.user("eve").await);
    let bot = scene.agent("bot", &ana).await;
    let sibling = scene.agent("sibling", &ana).await;
    let tree = scene.tree("tree", &bot).await;
    let topic = scene.say(&bot, tree, "plan", "text").await.topic();
    scene.say(&bot, tree, "taken", "text").await;
    let before = found(&scene, topic).await;
    for stranger in [&eve, &sibling] {
        for change in [renamed(topic, "other"), renamed(topic, "taken"), archived(topic, true)] {
            let refused = update(&scene, stranger, change).await.unwrap_err();
            assert_eq!((refused.kind(), &*refused.to_string()), (ErrorKind::NotFound, "topic not found"));
        }
    }
    for unknown in [Some(TopicId::from_bytes([9; 16])), None] {
        let refused = update(&scene, &ana, UpdateTopic { topic: unknown, ..renamed(topic, "x") }).await;
        let refused = refused.unwrap_err();
        assert_eq!((refused.kind(), &*refused.to_string()), (ErrorKind::NotFound, "topic not found"));
    }
    assert_eq!(found(&scene, topic).await, before);
    let child = scene.child("child", &bot).await;
    assert!(
        update(&scene, &child, archived(topic, true)).await.unwrap().topic.archived,
        "the subtree takes part"
    );
}

/// TP-14.
pub async fn a_name_that_breaks_a_rule_is_refused(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let topic = scene.say(&ana, room, "plan", "text").await.topic();
    for (name, told) in [
        (String::new(), "topic name is empty"),
        (" \t".into(), "topic name is empty"),
        ("x".repeat(121), "topic name is too long: 121 code points, the limit is 120"),
        ("a\0b".into(), "topic name contains a NUL character at byte 1"),
    ] {
        let refused = update(&scene, &ana, renamed(topic, &name)).await.unwrap_err();
        assert_eq!((refused.kind(), &*refused.to_string()), (ErrorKind::InvalidArgument, told));
    }
    update(&scene, &ana, renamed(topic, &"é".repeat(120))).await.unwrap();
}
