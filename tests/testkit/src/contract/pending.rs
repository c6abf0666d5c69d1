//! What an agent is owed: cursors, owed rows, pages.

use compass_domain::{MessageId, Seq, delivery::Lane, limits};
use compass_hub::ports::{Pending, PendingQuery};

use crate::{Fixture, Scene, drafts, world::pending_of};

/// DV-kk.
pub async fn the_cursor_owes_what_came_after_it_in_ascending_order(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let rooms = [scene.channel("one", &[&ana]).await, scene.channel("two", &[&ana]).await];
    scene.say(&ana, rooms[0], "t", "history").await;
    for room in rooms {
        scene.subscribe(room, &bot).await;
    }
    for number in 0..6 {
        scene.say(&ana, rooms[number % 2], "t", "text").await;
    }
    let pending = scene.pending(&bot).await;
    assert_eq!((pending.waiting, pending.corrupt.len()), (0, 0));
    assert!(pending.items.iter().all(|item| item.lane == Lane::Deliver));
    let places: Vec<_> = pending.items.iter().map(|item| &item.message.message).collect();
    let mut runs: Vec<_> = places.iter().map(|message| message.channel()).collect();
    runs.dedup();
    assert_eq!(runs.len(), 2, "channel after channel");
    for (room, seqs) in [(rooms[0], [2, 3, 4]), (rooms[1], [1, 2, 3])] {
        let found: Vec<Seq> =
            places.iter().filter(|message| message.channel() == room).map(|message| message.seq()).collect();
        assert_eq!(found, seqs.map(Seq));
    }
    assert_eq!(pending.items[0].message.labels.from_handle, "ana");
}

/// DV-r, DV-ss.
pub async fn own_messages_and_channels_without_a_cursor_owe_nothing(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let (room, bare) = (scene.channel("room", &[&ana]).await, scene.channel("bare", &[&ana]).await);
    scene.subscribe(room, &bot).await;
    let mut unit = scene.begin().await;
    unit.channels().lock(bare).await.unwrap();
    let member = compass_domain::channel::Member { account: bot.id, subscribed: true };
    unit.channels().put_member(bare, member).await.unwrap();
    unit.commit().await.unwrap();
    scene.say(&bot, room, "t", "own").await;
    scene.say(&ana, bare, "t", "no cursor here").await;
    assert_eq!(ids(&scene.pending(&bot).await), []);
    assert_eq!(ids(&scene.pending(&ana).await), [], "people are owed nothing");
}

/// Owed rows first, each message once.
pub async fn owed_rows_come_first_and_are_steered(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let (room, other) = (scene.channel("room", &[&ana]).await, scene.channel("other", &[&ana, &bot]).await);
    scene.subscribe(room, &bot).await;
    let plain = scene.say(&ana, room, "t", "plain").await;
    let mention = scene.say(&ana, other, "t", "@bot").await;
    scene.route(mention.id()).await;
    let pending = scene.pending(&bot).await;
    let found: Vec<_> = pending.items.iter().map(|item| (item.lane, item.message.message.id())).collect();
    assert_eq!(found, [(Lane::Steer, mention.id()), (Lane::Deliver, plain.id())]);
}

/// R6.
pub async fn unrouted_messages_wait_unless_asked_for(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana]).await;
    scene.subscribe(room, &bot).await;
    let plain = scene.say(&ana, room, "t", "plain").await;
    let mention = scene.say(&ana, room, "t", "@bot").await;
    let routed_only = PendingQuery { include_unrouted: false, ..pending_of(&bot) };
    let pending = scene.pending_by(&routed_only).await;
    assert_eq!((ids(&pending), pending.waiting), (vec![plain.id()], 0));
    assert_eq!(ids(&scene.pending(&bot).await), [plain.id(), mention.id()]);
    scene.route(mention.id()).await;
    assert_eq!(ids(&scene.pending_by(&routed_only).await), [plain.id(), mention.id()]);
}

/// M3, G2: the bound in rows and in bytes, and the count beyond it.
pub async fn a_page_says_how_much_more_waits(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana]).await;
    scene.subscribe(room, &bot).await;
    let text = "x".repeat(limits::MESSAGE_BYTES - 64);
    for _ in 0..10 {
        scene.say(&ana, room, "t", &text).await;
    }
    let three = scene.pending_by(&PendingQuery { limit: 3, ..pending_of(&bot) }).await;
    assert_eq!((three.items.len(), three.waiting), (3, 7));
    let all = scene.pending(&bot).await;
    assert!((7..=8).contains(&all.items.len()), "{} messages of 256 KiB", all.items.len());
    assert_eq!(all.items.len() + all.waiting as usize, 10);
}

/// R2.
pub async fn messages_in_flight_are_left_out(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana]).await;
    scene.subscribe(room, &bot).await;
    let mut posted = Vec::new();
    for _ in 0..5 {
        posted.push(scene.say(&ana, room, "t", "text").await.id());
    }
    let query = PendingQuery { skip: vec![posted[0], posted[2]], limit: 2, ..pending_of(&bot) };
    let pending = scene.pending_by(&query).await;
    assert_eq!((ids(&pending), pending.waiting), (vec![posted[1], posted[3]], 1));
}

/// For `ask --wait`.
pub async fn only_the_answer_to_an_ask_can_be_fetched(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana]).await;
    scene.subscribe(room, &bot).await;
    let (_, one) = scene.ask(&bot, room, drafts::yes_or_no()).await;
    let (_, other) = scene.ask(&bot, room, drafts::yes_or_no()).await;
    scene.say(&ana, room, "t", "noise").await;
    let query = |ask| PendingQuery { answers_ask: Some(ask), ..pending_of(&bot) };
    assert_eq!(ids(&scene.pending_by(&query(one)).await), []);
    scene.answer(&ana, other, drafts::yes()).await.unwrap();
    let (_, answer) = scene.answer(&ana, one, drafts::yes()).await.unwrap();
    let pending = scene.pending_by(&query(one)).await;
    assert_eq!((ids(&pending), pending.waiting), (vec![answer.id()], 0));
}

/// R14, CH-36: the rows stay and count again when it is back.
pub async fn a_removed_agent_is_owed_nothing_until_it_is_back(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (bot, swept) = (scene.agent("bot", &ana).await, scene.agent("swept", &ana).await);
    let room = scene.channel("room", &[&ana, &bot]).await;
    scene.subscribe(room, &swept).await;
    let mention = scene.say(&ana, room, "t", "@bot").await;
    scene.route(mention.id()).await;
    for agent in [&bot, &swept] {
        scene.remove(room, agent).await;
        assert_eq!(ids(&scene.pending(agent).await), [], "{}", agent.handle);
    }
    let away = scene.say(&ana, room, "t", "while away").await;
    scene.put_member(room, &bot, false).await;
    scene.put_member(room, &swept, true).await;
    assert_eq!(ids(&scene.pending(&bot).await), [mention.id()]);
    assert_eq!(ids(&scene.pending(&swept).await), [mention.id(), away.id()]);
}

fn ids(pending: &Pending) -> Vec<MessageId> {
    pending.items.iter().map(|item| item.message.message.id()).collect()
}
