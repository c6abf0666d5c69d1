//! Answers and cancels: what they store, and what the rows refuse whatever a job decides.

use std::sync::Arc;

use compass_domain::{
    AskId, AskState, BlockView, Classified, ClosedAsk, ErrorKind, LockedAsk, Message, NewMessage, Seq,
    ask::Reply, channel::PostPolicy,
};
use compass_ports::{Ids, Locks, StorageError, Writes};

use super::messages::archive;
use crate::{ChannelSpec, Fixture, Scene, drafts, jobs::Raw};

/// 5.9-16, BK-29, BK-30.
pub async fn an_answer_ends_the_ask_and_posts_its_snapshot(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana, &bot]).await;
    let (message, asks) = scene.ask_all(&bot, room, vec![drafts::yes_or_no(), drafts::yes_or_no()]).await;
    let (asked, answer) = scene.answer(&ana, asks[1], drafts::yes()).await.unwrap();
    assert_eq!(scene.message(message.id()).await, asked);
    assert_eq!(scene.message(answer.id()).await, answer);
    assert_eq!(scene.messages(room).await, [Arc::clone(&answer), Arc::clone(&asked)]);
    assert_eq!((answer.topic(), answer.author(), answer.seq()), (message.topic(), ana.id, Seq(2)));
    let [block] = answer.blocks() else { panic!("one block, not {:?}", answer.blocks()) };
    let BlockView::Answer(snapshot) = block.view() else { panic!("an answer block") };
    let stored = asked.asks().nth(1).unwrap();
    assert_eq!((snapshot.ask(), snapshot.asker()), (stored, bot.id));
    assert_eq!(stored.answer(0).unwrap().chosen(), ["yes"]);
    assert!(asked.asks().next().unwrap().is_open(), "the other ask stays open");
    assert!(
        matches!(stored.state(), AskState::Answered { by, at, .. } if *by == ana.id && *at == answer.at())
    );
    let topic = scene.read().await.find_topic(message.topic()).await.unwrap().unwrap();
    assert_eq!((topic.topic.last_seq, topic.open_asks), (Seq(2), 1));
}

/// 5.9-10, 5.9-11.
pub async fn an_answer_is_given_once(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let (message, ask) = scene.ask(&ana, room, drafts::yes_or_no()).await;
    scene.answer(&ana, ask, drafts::yes()).await.unwrap();
    let stored = scene.messages(room).await;
    for entries in [vec![drafts::entry("q", &["no"], "")], vec![]] {
        let refused = scene.answer(&ana, ask, entries).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
    }
    assert_eq!(scene.cancel(&ana, ask).await.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(scene.messages(room).await, stored);
    assert!(!scene.open_asks(&ana).await.contains(&message.id()));
}

/// 5.9-21, 5.9-24.
pub async fn a_cancel_ends_the_ask_and_posts_nothing(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana, &bot]).await;
    let (message, ask) = scene.ask(&bot, room, drafts::yes_or_no()).await;
    assert!(scene.cancel(&bot, ask).await.unwrap());
    let stored = scene.message(message.id()).await;
    assert!(matches!(stored.asks().next().unwrap().state(), AskState::Cancelled { .. }));
    let refused = scene.answer(&ana, ask, drafts::yes()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert_eq!(scene.messages(room).await, [stored]);
    assert_eq!(scene.open_asks(&ana).await, []);
}

/// 5.9-22.
pub async fn a_cancel_is_repeatable_and_changes_nothing_then(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let (message, ask) = scene.ask(&ana, room, drafts::yes_or_no()).await;
    assert!(scene.cancel(&ana, ask).await.unwrap());
    let stored = scene.message(message.id()).await;
    assert!(!scene.cancel(&ana, ask).await.unwrap());
    assert_eq!(scene.message(message.id()).await, stored);
}

/// 5.8, BK-33: found, then author, then state.
pub async fn only_the_author_cancels_and_strangers_find_nothing(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana, &bot]).await;
    let (_, ask) = scene.ask(&bot, room, drafts::yes_or_no()).await;
    let unknown = AskId::from_bytes([7; 16]);
    let kind = |result: Result<bool, crate::jobs::JobError>| result.unwrap_err().kind();
    assert_eq!(kind(scene.cancel(&ana, ask).await), ErrorKind::PermissionDenied);
    assert_eq!(kind(scene.cancel(&ben, ask).await), ErrorKind::NotFound);
    assert_eq!(kind(scene.cancel(&bot, unknown).await), ErrorKind::NotFound);
    assert_eq!(scene.answer(&ben, ask, drafts::yes()).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(scene.answer(&ana, unknown, drafts::yes()).await.unwrap_err().kind(), ErrorKind::NotFound);
    scene.answer(&ana, ask, drafts::yes()).await.unwrap();
    assert_eq!(kind(scene.cancel(&ana, ask).await), ErrorKind::PermissionDenied, "author before state");
}

/// 5.9-26.
pub async fn the_end_of_one_ask_leaves_the_other_asks_of_its_message_open(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let draft = drafts::yes_or_no;
    let (message, asks) = scene.ask_all(&ana, room, vec![draft(), draft(), draft()]).await;
    scene.cancel(&ana, asks[0]).await.unwrap();
    scene.answer(&ana, asks[2], drafts::yes()).await.unwrap();
    let stored = scene.message(message.id()).await;
    let states: Vec<&AskState> = stored.asks().map(compass_domain::Ask::state).collect();
    assert!(
        matches!(states[..], [AskState::Cancelled { .. }, AskState::Open, AskState::Answered { .. }]),
        "{states:?}"
    );
    assert_eq!(scene.open_asks(&ana).await, [message.id()]);
}

/// A4: the condition alone, without what the lock proves.
pub async fn a_stale_closed_ask_is_a_conflict(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    for is_answered in [true, false] {
        let (message, ask) = scene.ask(&ana, room, drafts::yes_or_no()).await;
        let stale = cancelled(&scene, &message, ask);
        if is_answered {
            scene.answer(&ana, ask, drafts::yes()).await.unwrap();
        } else {
            scene.cancel(&ana, ask).await.unwrap();
        }
        let stored = scene.message(message.id()).await;
        let job = Raw::new(Locks::Cancel { ask, actor: ana.id }, move |_| {
            let mut writes = Writes::none();
            writes.close(stale.clone());
            writes
        });
        let refused = scene.submit(job).await;
        assert!(matches!(refused, Err(StorageError::Conflict(_))), "{refused:?}");
        assert_eq!(scene.message(message.id()).await, stored);
    }
}

/// A3: the unique index on the answered ask holds even if every guard above it breaks.
pub async fn a_second_answer_message_is_a_conflict_even_without_a_close(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let (message, ask) = scene.ask(&ana, room, drafts::yes_or_no()).await;
    let (_, second) = answered(&scene, &ana, &message, ask, Seq(3));
    scene.answer(&ana, ask, drafts::yes()).await.unwrap();
    let job = Raw::new(Locks::Answer { ask, actor: ana.id }, move |_| {
        let mut writes = Writes::none();
        writes.append(second.clone());
        writes
    });
    let refused = scene.submit(job).await;
    assert!(matches!(refused, Err(StorageError::Conflict(_))), "{refused:?}");
    assert_eq!(scene.messages(room).await.len(), 2);
}

/// 5.9-17: neither or both.
pub async fn a_failed_answer_message_takes_the_close_with_it(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let (message, ask) = scene.ask(&ana, room, drafts::yes_or_no()).await;
    // The answer claims the seq that its ask's message has.
    let (closed, answer) = answered(&scene, &ana, &message, ask, Seq(1));
    let job = Raw::new(Locks::Answer { ask, actor: ana.id }, move |_| {
        let mut writes = Writes::none();
        writes.close(closed.clone());
        writes.append(answer.clone());
        writes
    });
    let refused = scene.submit(job).await;
    assert!(matches!(refused, Err(StorageError::Conflict(_))), "{refused:?}");
    assert_eq!(scene.messages(room).await, [message]);
    scene.answer(&ana, ask, drafts::yes()).await.expect("the ask is still open");
}

/// 3-15.
pub async fn an_answer_lands_in_an_archived_topic(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let (message, ask) = scene.ask(&ana, room, drafts::yes_or_no()).await;
    archive(&scene, room, "asks").await;
    let (_, answer) = scene.answer(&ana, ask, drafts::yes()).await.unwrap();
    assert_eq!(answer.topic(), message.topic());
    let topic = scene.read().await.find_topic(message.topic()).await.unwrap().unwrap().topic;
    assert!(topic.archived, "an answer does not revive");
}

/// 5.9-19: the gates of a post are not run again.
pub async fn an_answer_is_posted_where_only_the_owner_may_post(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let spec = ChannelSpec::new("owned", &[&ana, &ben]);
    let owned =
        scene.channel_with(ChannelSpec { policy: PostPolicy::OwnerOnly { owner: ana.id }, ..spec }).await;
    let (_, ask) = scene.ask(&ana, owned, drafts::yes_or_no()).await;
    let (_, answer) = scene.answer(&ben, ask, drafts::yes()).await.expect("a participant answers");
    assert_eq!(answer.author(), ben.id);
}

fn open(message: &Arc<Message>, ask: AskId) -> compass_domain::OpenAsk {
    match LockedAsk::restore(message, ask) {
        Ok(LockedAsk::Open(open)) => open,
        other => panic!("the ask is open, not {other:?}"),
    }
}

fn cancelled(scene: &Scene, message: &Arc<Message>, ask: AskId) -> ClosedAsk {
    open(message, ask).cancel(scene.now())
}

fn answered(
    scene: &Scene,
    by: &compass_domain::Account,
    message: &Arc<Message>,
    ask: AskId,
    seq: Seq,
) -> (ClosedAsk, NewMessage) {
    let human = by.actor().human().expect("a person");
    let reply = Reply { id: scene.ids.message(), seq, at: scene.now() };
    open(message, ask).answer(human, drafts::answers(drafts::yes()), reply).expect("a fitting answer")
}
