//! Reads of messages, topics and open asks.

use std::sync::Arc;

use compass_comms::ports::{MessagePage, OpenAsksPage};
use compass_domain::{
    Message, MessageId, Seq, Topic,
    ask::{AskDraft, OptionDraft, QuestionDraft},
    limits,
    message::DraftBlock,
    topic::TopicSelector,
};
use compass_ports::{Locks, TopicWrite, Writes};

use crate::{Fixture, Scene, drafts, jobs::Raw, world::page_of};

/// MS-11, MS-13.
pub async fn pages_walk_all_messages_newest_first(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let mut posted = Vec::new();
    for number in 0..7 {
        posted.push(scene.say(&ana, room, ["a", "b"][number % 2], &format!("message {number}")).await);
    }
    posted.reverse();
    let mut walked: Vec<Arc<Message>> = Vec::new();
    loop {
        let before = walked.last().map(|message| message.id());
        let page = MessagePage { before, limit: 3, ..page_of(room) };
        let page = scene.read().await.list_messages(&page).await.unwrap();
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 3);
        walked.extend(page);
    }
    assert_eq!(walked, posted);
}

/// MS-14: membership is bounded, the state of asks is the present one.
pub async fn a_snapshot_bounds_a_page_but_not_its_content(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let (message, ask) = scene.ask(&ana, room, drafts::yes_or_no()).await;
    let snapshot = scene.read().await.last_position().await.unwrap();
    scene.answer(&ana, ask, drafts::yes()).await.unwrap();
    scene.say(&ana, room, "t", "later").await;
    let page = MessagePage { snapshot: Some(snapshot), ..page_of(room) };
    let page = scene.read().await.list_messages(&page).await.unwrap();
    assert_eq!(page.iter().map(|message| message.id()).collect::<Vec<_>>(), [message.id()]);
    assert!(page[0].asks().all(|ask| !ask.is_open()), "the page shows the answer");
}

/// MS-15.
pub async fn a_topic_narrows_a_page(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (room, other) = (scene.channel("room", &[&ana]).await, scene.channel("other", &[&ana]).await);
    let first = scene.say(&ana, room, "one", "1").await;
    let middle = scene.say(&ana, room, "two", "2").await;
    let last = scene.say(&ana, room, "one", "3").await;
    let narrowed = MessagePage { topic: Some(first.topic()), ..page_of(room) };
    let mut read = scene.read().await;
    assert_eq!(read.list_messages(&narrowed).await.unwrap(), [Arc::clone(&last), Arc::clone(&first)]);
    let older = MessagePage { before: Some(middle.id()), ..narrowed.clone() };
    assert_eq!(read.list_messages(&older).await.unwrap(), [first], "the cursor may be of another topic");
    let elsewhere = MessagePage { channel: other, ..narrowed };
    assert_eq!(
        read.list_messages(&elsewhere).await.unwrap(),
        [],
        "a topic of another channel yields nothing"
    );
}

/// M3: at 2 MiB, but never empty.
pub async fn a_page_ends_early_at_its_byte_bound_and_holds_one(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let text = "x".repeat(limits::MESSAGE_BYTES - 64);
    for _ in 0..10 {
        scene.say(&ana, room, "t", &text).await;
    }
    let first = scene.messages(room).await;
    assert!((1..=8).contains(&first.len()), "{} messages of 256 KiB", first.len());
    assert!(first.len() >= 7, "{} messages are far below the bound", first.len());
    let before = first.last().map(|message| message.id());
    let rest = scene.read().await.list_messages(&MessagePage { before, ..page_of(room) }).await.unwrap();
    assert_eq!(first.len() + rest.len(), 10);
}

/// EV-9: the boundary of a snapshot.
pub async fn the_last_position_grows_with_every_message(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let rooms = [scene.channel("a", &[&ana]).await, scene.channel("b", &[&ana]).await];
    let mut last = scene.read().await.last_position().await.unwrap();
    assert_eq!(last.0, 0, "there is no message");
    for number in 0..4 {
        scene.say(&ana, rooms[number % 2], "t", "text").await;
        let next = scene.read().await.last_position().await.unwrap();
        assert!(next > last, "{next:?} after {last:?}");
        last = next;
    }
}

/// TP-9.
pub async fn topics_are_listed_by_latest_activity(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    for topic in ["one", "two", "three", "one"] {
        scene.say(&ana, room, topic, "text").await;
    }
    archive(&scene, room, "three").await;
    let names = |all: bool| {
        let scene = &scene;
        async move {
            let topics = scene.read().await.list_topics(&[room], all).await.unwrap();
            topics.iter().map(|summary| summary.topic.name.as_str().to_owned()).collect::<Vec<_>>()
        }
    };
    assert_eq!(names(false).await, ["one", "two"]);
    assert_eq!(names(true).await, ["one", "three", "two"]);
    let one = scene.read().await.find_topic_named(room, "one").await.unwrap().unwrap().topic;
    assert_eq!((one.last_seq, one.message_count), (Seq(4), 2));
    assert_eq!(one.participants, [ana.id]);
}

/// Archives a topic, which no use case of the hot writes does.
pub(super) async fn archive(scene: &Scene, channel: compass_domain::ChannelId, name: &str) -> Arc<Topic> {
    let mut read = scene.read().await;
    let topic = read.find_topic_named(channel, name).await.unwrap().expect("the topic exists").topic;
    drop(read);
    let archived = Arc::new(Topic { archived: true, ..Topic::clone(&topic) });
    let locks =
        Locks::Post { channel, author: topic.created_by, topic: TopicSelector::Id(topic.id), key: None };
    let stored = Arc::clone(&archived);
    let job = Raw::new(locks, move |_| {
        let mut writes = Writes::none();
        writes.put_topic(TopicWrite { topic: Arc::clone(&stored), created: false });
        writes
    });
    scene.submit(job).await.expect("the topic is stored");
    archived
}

/// TP-3.
pub async fn a_topic_is_found_by_the_key_of_its_name_with_its_open_asks(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (room, other) = (scene.channel("room", &[&ana]).await, scene.channel("other", &[&ana]).await);
    let (message, asks) = scene.ask_all(&ana, room, vec![drafts::yes_or_no(), drafts::yes_or_no()]).await;
    scene.ask(&ana, other, drafts::yes_or_no()).await;
    let mut read = scene.read().await;
    let by_name = read.find_topic_named(room, "asks").await.unwrap().expect("the topic exists");
    assert_eq!(by_name.topic.id, message.topic());
    assert_eq!(by_name.open_asks, 2);
    assert_eq!(read.find_topic(message.topic()).await.unwrap(), Some(by_name.clone()));
    assert_eq!(read.list_topics(&[room], false).await.unwrap(), [by_name]);
    assert_eq!(read.find_topic_named(room, "ASKS").await.unwrap(), None, "the key is folded already");
    drop(read);
    scene.cancel(&ana, asks[0]).await.unwrap();
    let found = scene.read().await.find_topic(message.topic()).await.unwrap().unwrap();
    assert_eq!(found.open_asks, 1);
}

/// The order and the paging of open asks.
pub async fn open_asks_are_listed_newest_first_each_message_once(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (room, other) = (scene.channel("room", &[&ana]).await, scene.channel("other", &[&ana]).await);
    let (one, ask) = scene.ask(&ana, room, drafts::yes_or_no()).await;
    let (two, _) = scene.ask_all(&ana, other, vec![drafts::yes_or_no(), drafts::yes_or_no()]).await;
    scene.say(&ana, room, "t", "no ask").await;
    let (three, _) = scene.ask(&ana, room, drafts::yes_or_no()).await;
    assert_eq!(scene.open_asks(&ana).await, [three.id(), two.id(), one.id()]);
    let page = |channel, before, limit| OpenAsksPage { viewer: ana.id, channel, before, limit };
    assert_eq!(list(&scene, &page(Some(room), None, 9)).await, [three.id(), one.id()]);
    assert_eq!(list(&scene, &page(None, None, 2)).await, [three.id(), two.id()]);
    assert_eq!(list(&scene, &page(None, Some(two.id()), 9)).await, [one.id()]);
    scene.answer(&ana, ask, drafts::yes()).await.unwrap();
    assert_eq!(scene.open_asks(&ana).await, [three.id(), two.id()]);
    assert_eq!(list(&scene, &page(None, Some(one.id()), 9)).await, [], "the cursor need not be open");
}

async fn list(scene: &Scene, page: &OpenAsksPage) -> Vec<MessageId> {
    let asks = scene.read().await.list_open_asks(page).await.unwrap();
    asks.iter().map(|message| message.id()).collect()
}

/// CH-25, TREE included.
pub async fn open_asks_are_shown_only_where_the_viewer_takes_part(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let bot = scene.agent("bot", &ana).await;
    let tree = scene.tree("tree", &bot).await;
    let room = scene.channel("room", &[&ben]).await;
    let (in_tree, _) = scene.ask(&bot, tree, drafts::yes_or_no()).await;
    let (in_room, _) = scene.ask(&ben, room, drafts::yes_or_no()).await;
    assert_eq!(scene.open_asks(&ana).await, [in_tree.id()]);
    assert_eq!(scene.open_asks(&bot).await, [in_tree.id()]);
    assert_eq!(scene.open_asks(&ben).await, [in_room.id()]);
}

/// 5.9-1, with texts that encodings trip over.
pub async fn every_block_reads_back_as_it_was_posted(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let hostile =
        "\u{1b}[31m 'quoted' \"double\" \\ $1 ? %s {} \u{202e}rtl\u{2066} 🦀 e\u{301} \r\n\t\u{7f} \u{ffff}";
    let full = QuestionDraft {
        id: "full \"id\"".into(),
        text: hostile.into(),
        header: "Header".into(),
        options: vec![
            OptionDraft {
                id: "a".into(),
                label: hostile.into(),
                description: "why".into(),
                preview: "<b>preview</b>".into(),
            },
            OptionDraft::default(),
        ],
        allow_multiple: true,
        recommended: Some(0),
    };
    let bare = QuestionDraft { id: "bare".into(), ..Default::default() };
    let blocks = vec![
        drafts::text(hostile),
        drafts::text(""),
        DraftBlock::Ask(AskDraft { questions: vec![full, bare] }),
    ];
    let (job, asks) = scene.post_job(&ana, room, hostile.trim(), blocks, None);
    let posted = scene.submit(job).await.expect("the post is stored").message;
    assert_eq!(scene.message(posted.id()).await, posted);
    let entries = vec![drafts::entry("bare", &[], ""), drafts::entry("full \"id\"", &["", "a"], hostile)];
    let (asked, answer) = scene.answer(&ana, asks[0], entries).await.expect("the answer is stored");
    assert_eq!(scene.message(asked.id()).await, asked);
    assert_eq!(scene.message(answer.id()).await, answer);
}
