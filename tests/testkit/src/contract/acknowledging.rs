//! Acknowledgements: the arithmetic of cursors over stored rows.

use std::sync::Arc;

use compass_domain::{Account, MessageId};
use compass_ports::submit;
use tokio::task::JoinSet;

use crate::{Fixture, Scene, jobs::Acknowledge};

/// DV-s, 9.15-25.
pub async fn an_acknowledgement_moves_the_cursor_over_filled_gaps_and_own_posts(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana]).await;
    scene.subscribe(room, &bot).await;
    let one = scene.say(&ana, room, "t", "1").await;
    let two = scene.say(&ana, room, "t", "2").await;
    scene.say(&bot, room, "t", "own").await;
    let four = scene.say(&ana, room, "t", "4").await;
    assert_eq!(owed(&scene, &bot).await, [one.id(), two.id(), four.id()]);
    scene.acknowledge(&bot, &[&four]).await;
    assert_eq!(owed(&scene, &bot).await, [one.id(), two.id()]);
    scene.acknowledge(&bot, &[&one]).await;
    assert_eq!(owed(&scene, &bot).await, [two.id()]);
    scene.acknowledge(&bot, &[&two]).await;
    assert_eq!(owed(&scene, &bot).await, []);
    let five = scene.say(&ana, room, "t", "5").await;
    let six = scene.say(&ana, room, "t", "6").await;
    scene.acknowledge(&bot, &[&six, &five]).await;
    assert_eq!(owed(&scene, &bot).await, []);
}

/// DV-w.
pub async fn acknowledging_twice_or_unknown_messages_changes_nothing(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let (room, other) = (scene.channel("room", &[&ana]).await, scene.channel("other", &[&ana]).await);
    scene.subscribe(room, &bot).await;
    let one = scene.say(&ana, room, "t", "1").await;
    let two = scene.say(&ana, room, "t", "2").await;
    let elsewhere = scene.say(&ana, other, "t", "elsewhere").await;
    scene.acknowledge(&bot, &[&one, &one, &elsewhere]).await;
    scene.acknowledge(&bot, &[&one]).await;
    let unknown = Acknowledge { agent: bot.id, messages: vec![MessageId::from_bytes([9; 16])] };
    scene.submit(unknown).await.expect("an unknown message is no error");
    assert_eq!(owed(&scene, &bot).await, [two.id()]);
}

/// DV-r.
pub async fn an_agent_without_a_cursor_gets_none_by_acknowledging(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana, &bot]).await;
    let one = scene.say(&ana, room, "t", "1").await;
    scene.acknowledge(&bot, &[&one]).await;
    scene.subscribe(room, &bot).await;
    let two = scene.say(&ana, room, "t", "2").await;
    assert_eq!(owed(&scene, &bot).await, [two.id()]);
}

/// 9.15-26: with and without a cursor.
pub async fn an_acknowledgement_clears_only_its_own_owed_row(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (bot, other) = (scene.agent("bot", &ana).await, scene.agent("other", &ana).await);
    let room = scene.channel("room", &[&ana, &bot, &other]).await;
    let mut messages = Vec::new();
    for text in ["@bot @other 1", "@bot 2"] {
        let message = scene.say(&ana, room, "t", text).await;
        scene.route(message.id()).await;
        messages.push(message);
    }
    let [one, two] = [Arc::clone(&messages[0]), Arc::clone(&messages[1])];
    assert_eq!(owed(&scene, &bot).await, [one.id(), two.id()]);
    scene.acknowledge(&bot, &[&one]).await;
    scene.acknowledge(&bot, &[&one]).await;
    assert_eq!(owed(&scene, &bot).await, [two.id()]);
    assert_eq!(owed(&scene, &other).await, [one.id()]);
    scene.subscribe(room, &bot).await;
    scene.acknowledge(&bot, &[&two]).await;
    assert_eq!(owed(&scene, &bot).await, []);
}

/// DV-v.
pub async fn concurrent_acknowledgements_both_survive(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana]).await;
    scene.subscribe(room, &bot).await;
    let mut tasks = JoinSet::new();
    let mut last = Vec::new();
    for number in 0..20 {
        last.push(scene.say(&ana, room, "t", &number.to_string()).await.id());
    }
    let kept = last.pop().expect("there are messages");
    for (number, message) in last.into_iter().rev().enumerate() {
        let writer = Arc::clone(if number % 2 == 0 { &scene.writer } else { &scene.second });
        let (tenant, agent) = (scene.tenant.clone(), bot.id);
        let job = Acknowledge { agent, messages: vec![message] };
        tasks.spawn(async move { submit(&*writer, &tenant, job).await.is_ok() });
    }
    assert!(tasks.join_all().await.into_iter().all(|stored| stored));
    assert_eq!(owed(&scene, &bot).await, [kept]);
}

async fn owed(scene: &Scene, agent: &Account) -> Vec<MessageId> {
    let pending = scene.pending(agent).await;
    pending.items.iter().map(|item| item.message.message.id()).collect()
}
