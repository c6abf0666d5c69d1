//! The rules of the pinned board, through the use case.

use std::sync::Arc;

use compass_comms::channels::{
    list_channels::list_channels,
    list_pinned::list_pinned,
    set_policy::{SetPolicy, set_policy},
    update_board::{self, BoardChange, UpdateBoard, update_board},
};
use compass_domain::{Account, Channel, ChannelId, Classified, ErrorKind, Event, MessageId};
use tokio::sync::Barrier;
use tokio_util::task::TaskTracker;

use super::told::told;
use crate::{Fixture, Scene};

const TRIALS: usize = 20;

async fn change(
    scene: &Scene,
    by: &Account,
    channel: ChannelId,
    change: BoardChange,
) -> Result<Channel, update_board::Error> {
    update_board(&scene.comms(), &scene.caller(by), UpdateBoard { channel, change }).await
}

fn pin(message: MessageId) -> BoardChange {
    BoardChange::Pin { message, replace: None }
}

async fn posts(scene: &Scene, by: &Account, channel: ChannelId, count: usize) -> Vec<MessageId> {
    let mut posts = Vec::new();
    for number in 0..count {
        posts.push(scene.say(by, channel, "t", &format!("{number}")).await.id());
    }
    posts
}

fn board(channel: &Channel) -> Vec<(MessageId, u32)> {
    channel.pins.iter().map(|pin| (pin.message, pin.position)).collect()
}

/// 2.11-22, CH-54, CH-57.
pub async fn a_board_holds_five_messages_of_its_channel_each_once(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (room, other) = (scene.channel("room", &[&ana]).await, scene.channel("other", &[&ana]).await);
    let messages = posts(&scene, &ana, room, 6).await;
    let elsewhere = posts(&scene, &ana, other, 1).await[0];
    let mut events = scene.bus.tap();
    for foreign in [elsewhere, MessageId::from_bytes([0xee; 16])] {
        let refused = change(&scene, &ana, room, pin(foreign)).await.unwrap_err();
        assert_eq!(
            (refused.kind(), refused.to_string().as_str()),
            (ErrorKind::NotFound, "message not found")
        );
    }
    let mut expected = Vec::new();
    for (message, position) in messages.iter().take(5).zip(0..) {
        let after = change(&scene, &ana, room, pin(*message)).await.unwrap();
        expected.push((*message, position));
        assert_eq!(board(&after), expected);
        let listed = list_channels(&scene.comms(), &scene.caller(&ana)).await.unwrap();
        assert!(listed.contains(&after), "lists show the board");
        let event = Event::ChannelChanged { channel: after.into(), removed: Vec::new() };
        assert_eq!(told(&scene, &mut events).await, [event], "events show the board");
    }
    let again = change(&scene, &ana, room, pin(messages[0])).await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Conflict);
    let sixth = change(&scene, &ana, room, pin(messages[5])).await.unwrap_err();
    assert_eq!(sixth.kind(), ErrorKind::FailedPrecondition, "{sixth}");
    assert_eq!(told(&scene, &mut events).await, []);
}

/// 2.11-22: four are pinned, two more come at once.
pub async fn of_two_last_pins_at_once_one_wins(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    for trial in 0..TRIALS {
        let room = scene.channel("room", &[&ana]).await;
        let messages = posts(&scene, &ana, room, 6).await;
        for message in &messages[..4] {
            change(&scene, &ana, room, pin(*message)).await.unwrap();
        }
        let barrier = Arc::new(Barrier::new(2));
        let tasks: Vec<_> = [messages[4], messages[5]]
            .into_iter()
            .map(|message| {
                let (comms, caller, barrier) = (scene.comms(), scene.caller(&ana), Arc::clone(&barrier));
                TaskTracker::new().spawn(async move {
                    barrier.wait().await;
                    update_board(&comms, &caller, UpdateBoard { channel: room, change: pin(message) }).await
                })
            })
            .collect();
        let mut outcomes = Vec::new();
        for task in tasks {
            outcomes.push(task.await.unwrap().map(|_| ()).map_err(|error| error.kind()));
        }
        outcomes.sort_by_key(Result::is_ok);
        assert_eq!(outcomes, [Err(ErrorKind::FailedPrecondition), Ok(())], "trial {trial}");
        let stored = scene.read().await.find_channel(room).await.unwrap().unwrap();
        assert_eq!(stored.pins.len(), 5, "trial {trial}");
    }
}

/// 2.11-23, CH-55, CH-56.
pub async fn a_replacement_keeps_the_place_and_a_stale_one_loses(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana, &ben]).await;
    let messages = posts(&scene, &ana, room, 4).await;
    for message in &messages[..3] {
        change(&scene, &ana, room, pin(*message)).await.unwrap();
    }
    let swap = |message, replace| BoardChange::Pin { message, replace: Some(replace) };
    let after = change(&scene, &ben, room, swap(messages[3], messages[1])).await.unwrap();
    assert_eq!(board(&after), [(messages[0], 0), (messages[3], 1), (messages[2], 2)]);
    assert_eq!(after.pins[1].pinned_by, ben.id);
    let stale = change(&scene, &ana, room, swap(messages[1], messages[1])).await.unwrap_err();
    assert_eq!(stale.kind(), ErrorKind::Conflict, "{stale}");
    let after = change(&scene, &ana, room, BoardChange::Unpin(Some(messages[0]))).await.unwrap();
    assert_eq!(board(&after), [(messages[3], 0), (messages[2], 1)]);
    assert_eq!(scene.read().await.find_channel(room).await.unwrap().as_ref(), Some(&after));
    let mut events = scene.bus.tap();
    for nothing in [Some(messages[0]), None] {
        assert_eq!(change(&scene, &ana, room, BoardChange::Unpin(nothing)).await.unwrap(), after);
    }
    assert_eq!(told(&scene, &mut events).await, [], "what was not pinned changes and tells nothing");
    scene.remove(room, &ben).await;
    let revoked = change(&scene, &ben, room, BoardChange::Unpin(Some(messages[2]))).await.unwrap_err();
    let unknown =
        change(&scene, &ben, ChannelId::from_bytes([0xee; 16]), pin(messages[2])).await.unwrap_err();
    assert_eq!((revoked.kind(), revoked.to_string()), (unknown.kind(), unknown.to_string()));
    assert_eq!(revoked.kind(), ErrorKind::NotFound);
}

/// A person that takes part is given the messages themselves, and nobody else is.
pub async fn what_is_pinned_is_listed_in_the_boards_order(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana]).await;
    let messages = posts(&scene, &ana, room, 3).await;
    let listed = async |by: &Account, channel| {
        let listed = list_pinned(&scene.comms(), &scene.caller(by), channel).await;
        listed.map(|found| found.iter().map(|message| message.id()).collect::<Vec<_>>())
    };
    assert_eq!(listed(&ana, room).await.unwrap(), []);
    for message in [messages[2], messages[0]] {
        change(&scene, &ana, room, pin(message)).await.unwrap();
    }
    assert_eq!(listed(&ana, room).await.unwrap(), [messages[2], messages[0]]);
    change(&scene, &ana, room, BoardChange::Unpin(Some(messages[2]))).await.unwrap();
    assert_eq!(listed(&ana, room).await.unwrap(), [messages[0]]);
    assert_eq!(listed(&ben, room).await.unwrap(), [], "who takes no part reads nothing");
    assert_eq!(listed(&ana, ChannelId::from_bytes([0xee; 16])).await.unwrap(), []);
    let bot = scene.agent("bot", &ana).await;
    assert_eq!(listed(&bot, room).await.unwrap_err().kind(), ErrorKind::PermissionDenied);
}

/// 2.11-24, CH-41.
pub async fn who_may_post_may_pin(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana, &ben]).await;
    let messages = posts(&scene, &ana, room, 2).await;
    change(&scene, &ben, room, pin(messages[0])).await.unwrap();
    let owned = SetPolicy { channel: room, owner_only: true, owner: Some(ana.id), mandatory: false };
    set_policy(&scene.comms(), &scene.caller(&ana), owned).await.unwrap();
    let refused = change(&scene, &ben, room, pin(messages[1])).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound);
    assert!(change(&scene, &ana, room, pin(messages[1])).await.is_ok());
}
