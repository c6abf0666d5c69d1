//! The acceptance cases of blocks and asks that need storage, through the use cases.

use std::sync::Arc;

use compass_comms::{
    asks::respond_to_ask::{self, Answered, RespondToAsk, respond_to_ask},
    channels::resolve::ChannelRef,
    messages::post_message::{self, PostMessage, Posted, TopicInput, post_message},
};
use compass_domain::{
    Account, Ask, AskId, AskState, BlockView, ChannelId, Classified, ErrorKind, Event,
    ask::{AnswerDraft, AskDraft, QuestionDraft},
    channel::PostPolicy,
    message::DraftBlock,
};
use compass_ports::Writer;
use tokio::sync::Barrier;
use tokio_util::task::TaskTracker;

use super::cancel_table::{cancel, next};
use crate::{ChannelSpec, Fixture, Scene, drafts};

/// 5.9-3.
pub async fn malformed_asks_are_refused_and_store_nothing(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let with = |recommended, options: &[&str]| {
        drafts::ask([QuestionDraft { recommended: Some(recommended), ..drafts::question("q", options) }])
    };
    let malformed = [
        drafts::ask([]),
        drafts::ask([drafts::question("", &["yes"])]),
        drafts::ask([drafts::question("q", &[]), drafts::question("q", &[])]),
        with(-1, &["yes", "no"]),
        with(2, &["yes", "no"]),
        with(0, &[]),
    ];
    for draft in malformed {
        let refused = post(&scene, &ana, room, vec![DraftBlock::Ask(draft.clone())], "").await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidArgument, "{draft:?}");
    }
    assert_eq!(scene.messages(room).await, []);
    assert_eq!(scene.read().await.list_topics(&[room], true).await.unwrap(), []);
}

/// 5.9-5.
pub async fn two_asks_of_one_post_get_distinct_server_ids(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let asks = ask(&scene, &ana, room, vec![drafts::yes_or_no(), drafts::yes_or_no()]).await;
    let again = ask(&scene, &ana, room, vec![drafts::yes_or_no()]).await;
    assert_ne!(asks[0], asks[1]);
    assert!(!asks.contains(&again[0]));
}

/// 5.9-7: and the order in which options were chosen.
pub async fn single_multi_free_and_custom_answers_are_stored_as_given(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let draft = drafts::ask([
        drafts::question("single", &["a", "b"]),
        drafts::multi("multi", &["a", "b", "c"]),
        drafts::question("free", &[]),
        drafts::question("custom", &["a", "b"]),
        drafts::multi("both", &["a", "b"]),
    ]);
    let asks = ask(&scene, &ana, room, vec![draft]).await;
    let given = [
        drafts::entry("both", &["b"], "and more"),
        drafts::entry("single", &["b"], ""),
        drafts::entry("multi", &["c", "a"], ""),
        drafts::entry("free", &[], "  text \n"),
        drafts::entry("custom", &[], "neither"),
    ];
    let answered = respond(&scene, &ana, asks[0], given.to_vec()).await.unwrap();
    let stored = scene.message(answered.ask_message.id()).await;
    let stored = stored.asks().next().unwrap();
    for entry in given {
        let index = stored.questions().iter().position(|question| question.id() == entry.question_id);
        let answer = stored.answer(index.unwrap()).unwrap();
        assert_eq!(answer.chosen(), entry.chosen_option_ids, "{}", entry.question_id);
        assert_eq!(answer.custom_text(), entry.custom_text, "{}", entry.question_id);
    }
}

/// 5.9-8.
pub async fn answers_that_do_not_fit_are_refused_and_store_nothing(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let draft = drafts::ask([drafts::question("single", &["a", "b"]), drafts::multi("multi", &["c", "d"])]);
    let asks = ask(&scene, &ana, room, vec![draft]).await;
    let stored = scene.messages(room).await;
    let (single, multi) = (drafts::entry("single", &["a"], ""), drafts::entry("multi", &["c"], ""));
    for (what, entries) in [
        ("two options on single", vec![drafts::entry("single", &["a", "b"], ""), multi.clone()]),
        ("option and text on single", vec![drafts::entry("single", &["a"], "x"), multi.clone()]),
        ("unknown option", vec![drafts::entry("single", &["z"], ""), multi.clone()]),
        ("option of a sibling", vec![drafts::entry("single", &["c"], ""), multi.clone()]),
        ("option twice on multi", vec![single.clone(), drafts::entry("multi", &["c", "c"], "")]),
        ("unknown question", vec![single.clone(), multi.clone(), drafts::entry("z", &[], "")]),
        ("question twice", vec![single.clone(), multi.clone(), single.clone()]),
        ("missing question", vec![single.clone()]),
        ("nothing", vec![]),
    ] {
        let refused = respond(&scene, &ana, asks[0], entries).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidArgument, "{what}");
    }
    assert_eq!(scene.messages(room).await, stored);
    respond(&scene, &ana, asks[0], vec![multi, single]).await.expect("the ask is still open");
}

/// 5.9-9.
pub async fn a_skip_of_everything_closes_the_ask(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let asks = ask(&scene, &ana, room, vec![drafts::yes_or_no()]).await;
    let answered = respond(&scene, &ana, asks[0], vec![drafts::entry("q", &[], "")]).await.unwrap();
    assert!(answered.ask_message.asks().next().unwrap().answer(0).unwrap().is_skip());
    let refused = respond(&scene, &ana, asks[0], drafts::yes()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
}

/// 5.9-10.
pub async fn a_second_answer_conflicts_and_changes_nothing(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana, &ben]).await;
    let asks = ask(&scene, &ana, room, vec![drafts::yes_or_no()]).await;
    respond(&scene, &ana, asks[0], drafts::yes()).await.unwrap();
    let stored = scene.messages(room).await;
    for person in [&ana, &ben] {
        let entries = vec![drafts::entry("q", &["no"], "")];
        let refused = respond(&scene, person, asks[0], entries).await.unwrap_err();
        assert!(matches!(refused, respond_to_ask::Error::AlreadyAnswered(_)), "{refused:?}");
    }
    assert_eq!(scene.messages(room).await, stored);
}

/// 5.9-11: the end is checked before the answers.
pub async fn a_malformed_second_answer_conflicts_too(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let asks = ask(&scene, &ana, room, vec![drafts::yes_or_no(), drafts::yes_or_no()]).await;
    respond(&scene, &ana, asks[0], drafts::yes()).await.unwrap();
    cancel(&scene, &ana, asks[1]).await.unwrap();
    for ask in asks {
        let refused = respond(&scene, &ana, ask, vec![drafts::entry("z", &["z"], "")]).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
    }
}

/// 5.9-12.
pub async fn a_stranger_and_an_unknown_ask_look_the_same_to_an_answer(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana]).await;
    let asks = ask(&scene, &ana, room, vec![drafts::yes_or_no()]).await;
    let hidden = respond(&scene, &ben, asks[0], drafts::yes()).await.unwrap_err();
    let unknown = respond(&scene, &ben, AskId::from_bytes([7; 16]), drafts::yes()).await.unwrap_err();
    assert_eq!(hidden.kind(), ErrorKind::NotFound);
    assert_eq!((unknown.kind(), unknown.to_string()), (hidden.kind(), hidden.to_string()));
}

/// 5.9-12: the scope is the channel, whoever posted and whatever topic they used.
pub async fn a_participant_that_is_not_the_author_may_answer(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana, &ben]).await;
    scene.say(&ben, room, "another topic", "text").await;
    let asks = ask(&scene, &ana, room, vec![drafts::yes_or_no()]).await;
    let answered = respond(&scene, &ben, asks[0], drafts::yes()).await.unwrap();
    assert_eq!(answered.answer_message.author(), ben.id);
}

/// 5.9-13.
pub async fn the_author_may_answer_its_own_ask(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let asks = ask(&scene, &ana, room, vec![drafts::yes_or_no()]).await;
    respond(&scene, &ana, asks[0], drafts::yes()).await.expect("a person answers itself");
}

/// I3.
pub async fn an_agent_never_answers_known_or_unknown_asks(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (bot, system) = (scene.agent("bot", &ana).await, scene.system().await);
    let room = scene.channel("room", &[&ana, &bot]).await;
    let known = ask(&scene, &bot, room, vec![drafts::yes_or_no()]).await[0];
    let stored = scene.messages(room).await;
    for actor in [&bot, &system] {
        for ask in [known, AskId::from_bytes([7; 16])] {
            let refused = respond(&scene, actor, ask, drafts::yes()).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied, "{}", actor.handle);
        }
    }
    assert_eq!(scene.messages(room).await, stored);
}

/// 5.9-14.
pub async fn concurrent_answers_to_two_asks_of_one_message_are_both_stored(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    for trial in 0..5 {
        let asks = ask(&scene, &ana, room, vec![drafts::yes_or_no(), drafts::yes_or_no()]).await;
        let (one, other) = race_answers(&scene, [(&ana, asks[0]), (&ana, asks[1])]).await;
        let (one, other) = (one.expect("stored"), other.expect("stored"));
        let stored = scene.message(one.ask_message.id()).await;
        assert!(stored.asks().all(|ask| !ask.is_open()), "trial {trial}");
        assert_ne!(one.answer_message.id(), other.answer_message.id());
    }
}

/// 5.9-15.
pub async fn concurrent_answers_to_one_ask_store_one_message(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana, &ben]).await;
    for trial in 0..5 {
        let before = scene.messages(room).await.len();
        let asks = ask(&scene, &ana, room, vec![drafts::yes_or_no()]).await;
        let lost = match race_answers(&scene, [(&ana, asks[0]), (&ben, asks[0])]).await {
            (Ok(_), Err(lost)) | (Err(lost), Ok(_)) => lost,
            other => panic!("trial {trial}: {other:?}"),
        };
        assert!(matches!(lost, respond_to_ask::Error::AlreadyAnswered(_)), "trial {trial}: {lost:?}");
        assert_eq!(scene.messages(room).await.len(), before + 2, "trial {trial}");
    }
}

/// 5.9-16.
pub async fn one_answer_message_carries_the_ask_as_stored(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana, &bot]).await;
    let asks = ask(&scene, &bot, room, vec![drafts::yes_or_no()]).await;
    let answered =
        respond(&scene, &ana, asks[0], vec![drafts::entry("q", &[], "my own words")]).await.unwrap();
    let messages = scene.messages(room).await;
    assert_eq!(messages, [Arc::clone(&answered.answer_message), Arc::clone(&answered.ask_message)]);
    let [answer, asked] = [&messages[0], &messages[1]];
    assert_eq!((answer.topic(), answer.author()), (asked.topic(), ana.id));
    let snapshot = answer.answer().expect("an answer block");
    assert_eq!((Some(snapshot.ask()), snapshot.asker()), (asked.asks().next(), bot.id));
    assert!(answer.search_text().contains("my own words"));
    assert_eq!(answer.blocks().len(), 1);
    assert!(matches!(answer.blocks()[0].view(), BlockView::Answer(_)));
}

/// 5.9-18.
pub async fn an_earlier_key_of_the_answerer_cannot_suppress_the_answer(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let asks = ask(&scene, &ana, room, vec![drafts::yes_or_no()]).await;
    let ask_text = asks[0].to_string();
    for key in ["key", ask_text.as_str()] {
        post(&scene, &ana, room, vec![drafts::text("text")], key).await.unwrap();
    }
    respond(&scene, &ana, asks[0], drafts::yes()).await.unwrap();
    assert_eq!(scene.messages(room).await.len(), 4);
}

/// 5.9-19.
pub async fn a_participant_answers_where_only_the_owner_posts(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let spec = ChannelSpec::new("owned", &[&ana, &ben]);
    let owned =
        scene.channel_with(ChannelSpec { policy: PostPolicy::OwnerOnly { owner: ana.id }, ..spec }).await;
    let asks = ask(&scene, &ana, owned, vec![drafts::yes_or_no()]).await;
    let refused = post(&scene, &ben, owned, vec![drafts::text("text")], "").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound);
    respond(&scene, &ben, asks[0], drafts::yes()).await.unwrap();
    assert_eq!(scene.messages(owned).await.len(), 2);
}

/// 5.9-21.
pub async fn a_cancelled_ask_reads_cancelled_and_adds_no_message(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let asks = ask(&scene, &ana, room, vec![drafts::yes_or_no()]).await;
    cancel(&scene, &ana, asks[0]).await.unwrap();
    let messages = scene.messages(room).await;
    let [message] = &messages[..] else { panic!("one message") };
    let states: Vec<&AskState> = message.asks().map(Ask::state).collect();
    assert!(matches!(states[..], [AskState::Cancelled { .. }]), "{states:?}");
}

/// 5.9-24.
pub async fn an_answer_after_a_cancel_conflicts_and_adds_no_message(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let asks = ask(&scene, &ana, room, vec![drafts::yes_or_no()]).await;
    cancel(&scene, &ana, asks[0]).await.unwrap();
    let stored = scene.messages(room).await;
    let refused = respond(&scene, &ana, asks[0], drafts::yes()).await.unwrap_err();
    assert!(matches!(refused, respond_to_ask::Error::Cancelled(_)), "{refused:?}");
    assert_eq!(scene.messages(room).await, stored);
    let topics = scene.read().await.list_topics(&[room], true).await.unwrap();
    assert_eq!(topics[0].topic.message_count, 1);
}

/// 5.9-26.
pub async fn one_of_two_asks_is_cancelled_and_the_other_answered(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let asks = ask(&scene, &ana, room, vec![drafts::yes_or_no(), drafts::yes_or_no()]).await;
    cancel(&scene, &ana, asks[0]).await.unwrap();
    let answered = respond(&scene, &ana, asks[1], drafts::yes()).await.unwrap();
    let stored = scene.message(answered.ask_message.id()).await;
    let states: Vec<&AskState> = stored.asks().map(Ask::state).collect();
    assert!(matches!(states[..], [AskState::Cancelled { .. }, AskState::Answered { .. }]), "{states:?}");
}

/// 5.9-27.
pub async fn twenty_races_of_answer_and_cancel_have_one_winner_each(fixture: &Fixture) {
    let scene = Arc::new(Scene::new(fixture));
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana, &bot]).await;
    for trial in 0..20 {
        let before = scene.messages(room).await.len();
        let raced = ask(&scene, &bot, room, vec![drafts::yes_or_no()]).await[0];
        let barrier = Arc::new(Barrier::new(2));
        let tasks = TaskTracker::new();
        let (with, at, who) = (Arc::clone(&scene), Arc::clone(&barrier), ana.clone());
        let answer = tasks.spawn(async move {
            at.wait().await;
            respond_over(&with, &with.second, &who, raced, drafts::yes()).await
        });
        let (with, who) = (Arc::clone(&scene), bot.clone());
        let cancel = tasks.spawn(async move {
            barrier.wait().await;
            cancel(&with, &who, raced).await
        });
        let (answer, cancel) = (answer.await.unwrap(), cancel.await.unwrap());
        let kinds =
            (answer.as_ref().err().map(Classified::kind), cancel.as_ref().err().map(Classified::kind));
        let added = scene.messages(room).await.len() - before;
        match kinds {
            (None, Some(ErrorKind::Conflict)) => assert_eq!(added, 2, "trial {trial}"),
            (Some(ErrorKind::Conflict), None) => assert_eq!(added, 1, "trial {trial}"),
            other => panic!("trial {trial}: {other:?}"),
        }
    }
}

/// 5.9-30: a known limit, pinned.
pub async fn a_removed_author_cannot_cancel_and_stays_waiting(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana, &bot]).await;
    let asks = ask(&scene, &bot, room, vec![drafts::yes_or_no()]).await;
    scene.remove(room, &bot).await;
    assert_eq!(cancel(&scene, &bot, asks[0]).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(scene.audience.with_open_asks(&scene.tenant, &[bot.id]).await.unwrap(), [bot.id]);
}

/// 7.4-18.
pub async fn an_answer_tells_update_then_post_and_nothing_between(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let asks = ask(&scene, &ana, room, vec![drafts::yes_or_no()]).await;
    let mut events = scene.bus.tap();
    let answered = respond(&scene, &ana, asks[0], drafts::yes()).await.unwrap();
    let canary = scene.say(&ana, room, "asks", "canary").await;
    for expected in [
        Event::MessageUpdated(answered.ask_message),
        Event::MessagePosted(answered.answer_message),
        Event::MessagePosted(canary),
    ] {
        assert_eq!(next(&mut *events).await, expected);
    }
}

/// Posts through the use case.
async fn post(
    scene: &Scene,
    author: &Account,
    channel: ChannelId,
    blocks: Vec<DraftBlock>,
    key: &str,
) -> Result<Posted, post_message::Error> {
    let post = PostMessage {
        channel: ChannelRef::Id(channel),
        topic: TopicInput { name: Some("asks".into()), ..TopicInput::default() },
        blocks,
        client_request_id: key.to_owned(),
    };
    post_message(&scene.comms(), &scene.caller(author), post).await
}

/// Posts asks as one message; their ids, in order.
async fn ask(scene: &Scene, author: &Account, channel: ChannelId, asks: Vec<AskDraft>) -> Vec<AskId> {
    let blocks = asks.into_iter().map(DraftBlock::Ask).collect();
    let posted = post(scene, author, channel, blocks, "").await.expect("the ask is posted");
    assert!(posted.inserted);
    posted.message.asks().map(Ask::id).collect()
}

/// Answers through the use case.
pub(super) async fn respond(
    scene: &Scene,
    by: &Account,
    ask: AskId,
    answers: Vec<AnswerDraft>,
) -> Result<Answered, respond_to_ask::Error> {
    respond_over(scene, &scene.writer, by, ask, answers).await
}

async fn respond_over(
    scene: &Scene,
    writer: &Arc<dyn Writer>,
    by: &Account,
    ask: AskId,
    answers: Vec<AnswerDraft>,
) -> Result<Answered, respond_to_ask::Error> {
    let respond = RespondToAsk { ask: Some(ask), answers };
    respond_to_ask(&scene.comms_over(writer), &scene.caller(by), respond).await
}

/// Answers `yes` twice at once, on the two writers.
async fn race_answers(
    scene: &Scene,
    [(one, first), (other, second)]: [(&Account, AskId); 2],
) -> (Result<Answered, respond_to_ask::Error>, Result<Answered, respond_to_ask::Error>) {
    tokio::join!(
        respond_over(scene, &scene.writer, one, first, drafts::yes()),
        respond_over(scene, &scene.second, other, second, drafts::yes())
    )
}
