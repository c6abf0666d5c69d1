//! Asks: answered by a person, withdrawn by their author, exactly once.

use std::sync::Arc;

use compass_comms::{
    Caller, Comms,
    asks::{
        cancel_ask::{self, CancelAsk, Withdrawn, cancel_ask},
        list_open_asks::{ListOpenAsks, list_open_asks},
        respond_to_ask::{self, Answered, RespondToAsk, respond_to_ask},
    },
    channels::{
        resolve::ChannelRef,
        update_members::{UpdateMembers, update_members},
    },
};
use compass_domain::{
    Ask, AskId, AskState, ChannelId, ErrorKind, Event, MessageId, ask::AnswerDraft, limits,
    message::DraftBlock,
};
use tokio::sync::Barrier;

use crate::house::{House, answer, ask_draft, kind, next, text};

const UNKNOWN: AskId = AskId::from_bytes([9; 16]);

async fn respond(
    comms: &Comms,
    caller: &Caller,
    ask: AskId,
    answers: Vec<AnswerDraft>,
) -> Result<Answered, respond_to_ask::Error> {
    respond_to_ask(comms, caller, RespondToAsk { ask: Some(ask), answers }).await
}

async fn withdraw(comms: &Comms, caller: &Caller, ask: AskId) -> Result<Withdrawn, cancel_ask::Error> {
    cancel_ask(comms, caller, CancelAsk { ask: Some(ask) }).await
}

/// A house where `ada` and her agent `bot` share the bot's home channel, which holds an open ask of the bot.
struct Asked {
    house: House,
    ada: Caller,
    bot: Caller,
    home: ChannelId,
    ask: AskId,
}

async fn asked() -> Asked {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let bot = house.agent(&ada, "bot").await;
    let home = house.home_of(&bot).await;
    let ask = house.ask(&bot, home).await;
    Asked { house, ada, bot, home, ask }
}

impl Asked {
    async fn open_asks(&self, viewer: &Caller) -> Vec<MessageId> {
        let open = list_open_asks(&self.house.comms, viewer, ListOpenAsks::default()).await.unwrap();
        open.iter().map(|message| message.id()).collect()
    }
}

#[tokio::test]
async fn an_answer_updates_the_ask_and_posts_one_message_after_it() {
    let Asked { house, ada, bot, home, ask } = asked().await;
    let mut events = house.listen();
    let answered = respond(&house.comms, &ada, ask, answer("yes")).await.unwrap();
    assert_eq!(next(&mut events).await, Event::MessageUpdated(Arc::clone(&answered.ask_message)));
    assert_eq!(next(&mut events).await, Event::MessagePosted(Arc::clone(&answered.answer_message)));
    let message = &answered.answer_message;
    assert_eq!((message.channel(), message.topic()), (home, answered.ask_message.topic()));
    assert_eq!(message.author(), ada.actor.id);
    let snapshot = message.answer().unwrap();
    assert_eq!(snapshot.asker(), bot.actor.id);
    assert_eq!(Some(snapshot.ask()), answered.ask_message.asks().next());
    let mut unit = house.comms.storage.read(&house.tenant).await.unwrap();
    assert_eq!(unit.find_message(answered.ask_message.id()).await.unwrap(), Some(answered.ask_message));
    assert_eq!(unit.find_message(message.id()).await.unwrap(), Some(Arc::clone(message)));
}

#[tokio::test]
async fn an_agent_never_answers_whatever_the_id() {
    let Asked { house, ada, bot, ask, .. } = asked().await;
    let known = text(respond(&house.comms, &bot, ask, answer("yes")).await);
    assert_eq!(kind(respond(&house.comms, &bot, ask, answer("yes")).await), ErrorKind::PermissionDenied);
    assert_eq!(text(respond(&house.comms, &bot, UNKNOWN, answer("yes")).await), known);
    let oversized =
        AnswerDraft { custom_text: "x".repeat(limits::CUSTOM_TEXT_BYTES + 1), ..AnswerDraft::default() };
    assert_eq!(text(respond(&house.comms, &bot, ask, vec![oversized]).await), known);
    let no_id = RespondToAsk { ask: None, answers: Vec::new() };
    assert_eq!(text(respond_to_ask(&house.comms, &bot, no_id).await), known);
    assert!(respond(&house.comms, &ada, ask, answer("yes")).await.is_ok());
}

#[tokio::test]
async fn an_ask_that_is_unknown_foreign_or_no_id_is_not_found_with_one_text() {
    let Asked { house, ask, .. } = asked().await;
    let bob = house.user("bob").await;
    let foreign = text(respond(&house.comms, &bob, ask, answer("yes")).await);
    assert_eq!(kind(respond(&house.comms, &bob, ask, answer("yes")).await), ErrorKind::NotFound);
    assert_eq!(text(respond(&house.comms, &bob, UNKNOWN, answer("yes")).await), foreign);
    let no_id = RespondToAsk { ask: None, answers: answer("yes") };
    assert_eq!(text(respond_to_ask(&house.comms, &bob, no_id).await), foreign);
    let foreign = text(withdraw(&house.comms, &bob, ask).await);
    assert_eq!(text(withdraw(&house.comms, &bob, UNKNOWN).await), foreign);
    assert_eq!(text(cancel_ask(&house.comms, &bob, CancelAsk { ask: None }).await), foreign);
}

#[tokio::test]
async fn any_person_who_takes_part_may_answer() {
    let Asked { house, ada, home, ask, .. } = asked().await;
    let bob = house.user("bob").await;
    let join = UpdateMembers { add: vec![bob.actor.id], ..UpdateMembers::of(ChannelRef::Id(home)) };
    update_members(&house.comms, &ada, join).await.unwrap();
    respond(&house.comms, &bob, ask, answer("no")).await.unwrap();
}

#[tokio::test]
async fn a_custom_text_over_the_limit_is_refused_with_limit_and_size() {
    let Asked { house, ada, ask, .. } = asked().await;
    let entry = |length: usize| {
        vec![AnswerDraft {
            question_id: "q".into(),
            chosen_option_ids: Vec::new(),
            custom_text: "x".repeat(length),
        }]
    };
    let refused = text(respond(&house.comms, &ada, ask, entry(limits::CUSTOM_TEXT_BYTES + 1)).await);
    assert!(refused.contains(&limits::CUSTOM_TEXT_BYTES.to_string()), "{refused}");
    assert!(refused.contains(&(limits::CUSTOM_TEXT_BYTES + 1).to_string()), "{refused}");
    assert!(respond(&house.comms, &ada, ask, entry(limits::CUSTOM_TEXT_BYTES)).await.is_ok());
}

#[tokio::test]
async fn a_second_answer_is_a_conflict_and_posts_nothing() {
    let Asked { house, ada, home, ask, .. } = asked().await;
    let first = respond(&house.comms, &ada, ask, answer("yes")).await.unwrap();
    let again = text(respond(&house.comms, &ada, ask, answer("no")).await);
    assert_eq!(again, format!("ask \"{ask}\" is already answered"));
    let mut unit = house.comms.storage.read(&house.tenant).await.unwrap();
    assert_eq!(unit.find_message(first.ask_message.id()).await.unwrap(), Some(first.ask_message));
    assert_eq!(unit.list_topics(&[home], false).await.unwrap()[0].topic.message_count, 2);
}

#[tokio::test]
async fn a_cancel_tells_one_update_and_a_repeat_tells_nothing() {
    let Asked { house, bot, home, ask, .. } = asked().await;
    let mut events = house.listen();
    assert_eq!(withdraw(&house.comms, &bot, ask).await.unwrap(), Withdrawn::Now);
    assert_eq!(withdraw(&house.comms, &bot, ask).await.unwrap(), Withdrawn::Before);
    let canary = house.post(&bot, home, "canary").await;
    let Event::MessageUpdated(message) = next(&mut events).await else { panic!("an update") };
    assert!(matches!(message.asks().next().unwrap().state(), AskState::Cancelled { .. }));
    assert_eq!(next(&mut events).await, Event::MessagePosted(canary.message));
}

#[tokio::test]
async fn a_withdrawn_ask_takes_no_answer_and_an_answered_one_no_cancel() {
    let Asked { house, ada, bot, home, ask } = asked().await;
    withdraw(&house.comms, &bot, ask).await.unwrap();
    let late = text(respond(&house.comms, &ada, ask, answer("yes")).await);
    assert_eq!(late, format!("ask \"{ask}\" is cancelled"));
    let other = house.ask(&bot, home).await;
    respond(&house.comms, &ada, other, answer("yes")).await.unwrap();
    let late = text(withdraw(&house.comms, &bot, other).await);
    assert_eq!(late, format!("ask \"{other}\" is already answered"));
    assert_eq!(kind(withdraw(&house.comms, &ada, other).await), ErrorKind::PermissionDenied);
}

#[tokio::test]
async fn one_of_two_asks_of_a_message_is_withdrawn_and_the_other_answered() {
    let Asked { house, ada, bot, home, .. } = asked().await;
    let blocks = vec![DraftBlock::Ask(ask_draft()), DraftBlock::Ask(ask_draft())];
    let posted = house.post_blocks(&bot, home, blocks).await.message;
    let ids: Vec<AskId> = posted.asks().map(Ask::id).collect();
    assert_ne!(ids[0], ids[1]);
    withdraw(&house.comms, &bot, ids[0]).await.unwrap();
    let answered = respond(&house.comms, &ada, ids[1], answer("yes")).await.unwrap();
    let states: Vec<&AskState> = answered.ask_message.asks().map(Ask::state).collect();
    assert!(matches!(states[..], [AskState::Cancelled { .. }, AskState::Answered { .. }]));
}

#[tokio::test]
async fn open_asks_are_listed_newest_first_until_they_end() {
    let asked = asked().await;
    let first = asked.open_asks(&asked.ada).await;
    let second = asked.house.ask(&asked.bot, asked.home).await;
    let both = asked.open_asks(&asked.ada).await;
    assert_eq!((both.len(), both[1]), (2, first[0]));
    let other = asked.house.channel(&asked.ada, "other", &[]).await.id;
    let of = |channel| ListOpenAsks { channel: Some(channel), ..ListOpenAsks::default() };
    let comms = &asked.house.comms;
    assert_eq!(list_open_asks(comms, &asked.ada, of(asked.home)).await.unwrap().len(), 2);
    assert!(list_open_asks(comms, &asked.ada, of(other)).await.unwrap().is_empty());
    // The cursor's ask may have ended meanwhile.
    withdraw(comms, &asked.bot, second).await.unwrap();
    let page = ListOpenAsks { before: Some(both[0]), limit: 1, channel: None };
    assert_eq!(list_open_asks(comms, &asked.ada, page).await.unwrap()[0].id(), first[0]);
    respond(comms, &asked.ada, asked.ask, answer("yes")).await.unwrap();
    assert!(asked.open_asks(&asked.ada).await.is_empty());
}

#[tokio::test]
async fn open_asks_of_foreign_channels_stay_hidden_as_cursors_too() {
    let asked = asked().await;
    let bob = asked.house.user("bob").await;
    assert!(asked.open_asks(&bob).await.is_empty());
    let hidden = asked.open_asks(&asked.ada).await[0];
    for before in [hidden, MessageId::from_bytes([9; 16])] {
        let page = ListOpenAsks { before: Some(before), ..ListOpenAsks::default() };
        let refused = list_open_asks(&asked.house.comms, &bob, page).await;
        assert_eq!(kind(refused), ErrorKind::InvalidArgument);
    }
}

#[tokio::test]
async fn an_agent_that_left_cannot_withdraw_its_ask() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let bot = house.agent(&ada, "bot").await;
    let channel = house.channel(&ada, "plans", &[&bot]).await.id;
    let ask = house.ask(&bot, channel).await;
    let leave = UpdateMembers { remove: vec![bot.actor.id], ..UpdateMembers::of(ChannelRef::Id(channel)) };
    update_members(&house.comms, &ada, leave).await.unwrap();
    assert_eq!(kind(withdraw(&house.comms, &bot, ask).await), ErrorKind::NotFound);
    let open = list_open_asks(&house.comms, &ada, ListOpenAsks::default()).await.unwrap();
    assert_eq!(open.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_answer_and_cancel_at_once_exactly_one_wins() {
    for _ in 0..20 {
        let Asked { house, ada, bot, home, ask } = asked().await;
        let barrier = Arc::new(Barrier::new(2));
        let (comms, released) = (house.comms.clone(), Arc::clone(&barrier));
        let answering = house.comms.tasks.spawn(async move {
            released.wait().await;
            respond(&comms, &ada, ask, answer("yes")).await.is_ok()
        });
        let (comms, caller) = (house.comms.clone(), bot.clone());
        let cancelling = house.comms.tasks.spawn(async move {
            barrier.wait().await;
            withdraw(&comms, &caller, ask).await.is_ok()
        });
        let (answered, cancelled) = (answering.await.unwrap(), cancelling.await.unwrap());
        assert!(answered ^ cancelled);
        let mut unit = house.comms.storage.read(&house.tenant).await.unwrap();
        let messages = unit.list_topics(&[home], false).await.unwrap()[0].topic.message_count;
        assert_eq!(messages, if answered { 2 } else { 1 });
    }
}
