//! The boards of an agent's channels, as a session that starts is shown them.

use compass_domain::{Account, ChannelId, MessageId, channel::Pin};
use compass_hub::ports::{PinPlace, PinQuery};

use crate::{Fixture, Scene};

async fn board(scene: &Scene, channel: ChannelId, by: &Account, messages: &[MessageId]) {
    let pin = |(place, message): (usize, &MessageId)| Pin {
        message: *message,
        position: u32::try_from(place).expect("a short board"),
        pinned_at: scene.now(),
        pinned_by: by.id,
    };
    let pins: Vec<Pin> = messages.iter().enumerate().map(pin).collect();
    let mut unit = scene.begin().await;
    unit.channels().lock(channel).await.expect("the channel is locked");
    unit.pins().replace(channel, &pins).await.expect("the board is stored");
    unit.commit().await.expect("the board is kept");
}

async fn pins(
    scene: &Scene,
    agent: &Account,
    after: Option<PinPlace>,
    limit: u32,
) -> (Vec<MessageId>, Option<PinPlace>) {
    let query = PinQuery { agent: agent.id, after, limit };
    let page = scene.audience.pins(&scene.tenant, &query).await.expect("pins can be read");
    assert_eq!(page.corrupt, []);
    (page.messages.iter().map(|pin| pin.message.id()).collect(), page.next)
}

/// CH-58, 9.15-22, 9.15-23.
pub async fn pins_of_the_sweep_set_come_in_board_order_whatever_was_acknowledged(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana]).await;
    let history = scene.say(&ana, room, "t", "from before it came").await;
    scene.subscribe(room, &bot).await;
    let own = scene.say(&bot, room, "t", "its own").await;
    let read = scene.say(&ana, room, "t", "read").await;
    let unread = scene.say(&ana, room, "t", "unread").await;
    scene.acknowledge(&bot, &[&read]).await;
    board(&scene, room, &ana, &[unread.id(), history.id(), read.id(), own.id()]).await;
    let quiet = scene.channel("quiet", &[&ana, &bot]).await;
    let unseen = scene.say(&ana, quiet, "t", "not subscribed").await;
    board(&scene, quiet, &ana, &[unseen.id()]).await;
    let strange = scene.channel("strange", &[&ana]).await;
    let foreign = scene.say(&ana, strange, "t", "not a member").await;
    board(&scene, strange, &ana, &[foreign.id()]).await;
    let expected = vec![unread.id(), history.id(), read.id(), own.id()];
    assert_eq!(pins(&scene, &bot, None, 50).await, (expected, None));
    let query = PinQuery { agent: bot.id, after: None, limit: 1 };
    let page = scene.audience.pins(&scene.tenant, &query).await.unwrap();
    assert_eq!(
        (&*page.messages[0].labels.channel_name, &*page.messages[0].labels.from_handle),
        ("room", "ana")
    );
    scene.subscribe(quiet, &bot).await;
    let (found, _) = pins(&scene, &bot, None, 50).await;
    assert_eq!(found.len(), 5);
    scene.remove(room, &bot).await;
    assert_eq!(pins(&scene, &bot, None, 50).await, (vec![unseen.id()], None));
    assert_eq!(pins(&scene, &ana, None, 50).await, (vec![], None), "people are shown the board itself");
}

/// A page ends where it is told to, and the next goes on there.
pub async fn pins_are_read_page_by_page(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    for name in ["one", "two", "three"] {
        let room = scene.channel(name, &[&ana]).await;
        scene.subscribe(room, &bot).await;
        let mut messages = Vec::new();
        for number in 0..3 {
            messages.push(scene.say(&ana, room, "t", &format!("{number}")).await.id());
        }
        board(&scene, room, &ana, &messages).await;
    }
    let (all, end) = pins(&scene, &bot, None, 50).await;
    assert_eq!((all.len(), end), (9, None));
    for limit in [1, 2, 4, 9] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let (page, next) = pins(&scene, &bot, after, limit).await;
            assert!(page.len() <= limit as usize && !page.is_empty());
            found.extend(page);
            after = next;
            if next.is_none() {
                break;
            }
        }
        assert_eq!(found, all, "{limit} at a time");
    }
}
