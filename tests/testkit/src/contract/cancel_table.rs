//! The table of cancelling, through the use case: one case per row.

use std::sync::Arc;

use compass_comms::asks::cancel_ask::{self, CancelAsk, Withdrawn};
use compass_domain::{Account, AskId, AskState, Classified, ErrorKind, Event};
use compass_ports::{Next, Subscription};

use super::ask_cases::respond;
use crate::{Fixture, Scene, drafts};

/// 5.8, author and open; 7.4-19.
pub async fn the_author_withdraws_an_open_ask_and_one_update_tells_it(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana, &bot]).await;
    let (message, ask) = scene.ask(&bot, room, drafts::yes_or_no()).await;
    let mut events = scene.bus.tap();
    assert_eq!(cancel(&scene, &bot, ask).await.unwrap(), Withdrawn::Now);
    let stored = scene.message(message.id()).await;
    assert!(stored.asks().all(|ask| matches!(ask.state(), AskState::Cancelled { .. })));
    let canary = scene.say(&ana, room, "asks", "canary").await;
    assert_eq!(next(&mut *events).await, Event::MessageUpdated(stored));
    assert_eq!(next(&mut *events).await, Event::MessagePosted(canary));
}

/// 5.8, author and cancelled.
pub async fn the_author_withdraws_again_without_a_write_or_an_event(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let (message, ask) = scene.ask(&ana, room, drafts::yes_or_no()).await;
    cancel(&scene, &ana, ask).await.unwrap();
    let stored = scene.message(message.id()).await;
    let mut events = scene.bus.tap();
    assert_eq!(cancel(&scene, &ana, ask).await.unwrap(), Withdrawn::Before);
    assert_eq!(scene.message(message.id()).await, stored);
    let canary = scene.say(&ana, room, "asks", "canary").await;
    assert_eq!(next(&mut *events).await, Event::MessagePosted(canary));
}

/// 5.8, author and answered.
pub async fn the_author_cannot_withdraw_an_answered_ask(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana, &bot]).await;
    let (_, ask) = scene.ask(&bot, room, drafts::yes_or_no()).await;
    respond(&scene, &ana, ask, drafts::yes()).await.unwrap();
    let stored = scene.messages(room).await;
    let refused = cancel(&scene, &bot, ask).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(matches!(refused, cancel_ask::Error::AlreadyAnswered(found) if found == ask));
    assert_eq!(scene.messages(room).await, stored);
}

/// 5.8, participant in any state.
pub async fn a_participant_that_is_not_the_author_is_denied_in_every_state(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (bot, other) = (scene.agent("bot", &ana).await, scene.agent("other", &ana).await);
    let room = scene.channel("room", &[&ana, &bot, &other]).await;
    let (_, open) = scene.ask(&bot, room, drafts::yes_or_no()).await;
    let (_, answered) = scene.ask(&bot, room, drafts::yes_or_no()).await;
    let (_, cancelled) = scene.ask(&bot, room, drafts::yes_or_no()).await;
    respond(&scene, &ana, answered, drafts::yes()).await.unwrap();
    cancel(&scene, &bot, cancelled).await.unwrap();
    let stored = scene.messages(room).await;
    for ask in [open, answered, cancelled] {
        for actor in [&ana, &other] {
            let refused = cancel(&scene, actor, ask).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied, "{}", actor.handle);
        }
    }
    assert_eq!(scene.messages(room).await, stored);
}

/// 5.8, non-participant or unknown id; 5.9-25.
pub async fn a_stranger_and_an_unknown_ask_look_the_same(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana, &bot]).await;
    let (_, ask) = scene.ask(&bot, room, drafts::yes_or_no()).await;
    let hidden = cancel(&scene, &ben, ask).await.unwrap_err();
    let unknown = cancel(&scene, &ben, AskId::from_bytes([7; 16])).await.unwrap_err();
    assert_eq!(hidden.kind(), ErrorKind::NotFound);
    assert_eq!((unknown.kind(), unknown.to_string()), (hidden.kind(), hidden.to_string()));
}

/// Withdraws through the use case.
pub(super) async fn cancel(
    scene: &Scene,
    actor: &Account,
    ask: AskId,
) -> Result<Withdrawn, cancel_ask::Error> {
    cancel_ask::cancel_ask(&scene.comms(), &scene.caller(actor), CancelAsk { ask: Some(ask) }).await
}

/// The next event.
pub(super) async fn next(events: &mut dyn Subscription) -> Event {
    match events.next().await {
        Next::Event(published) => Arc::unwrap_or_clone(published).event,
        other => panic!("an event, not {other:?}"),
    }
}
