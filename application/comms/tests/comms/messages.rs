//! Posting and reading.

use std::sync::Arc;

use compass_comms::{
    Caller,
    channels::resolve::ChannelRef,
    messages::{
        list_messages::{ListMessages, list_messages},
        post_message::{PostMessage, TopicInput, post_message},
    },
};
use compass_domain::{
    BlockView, ChannelId, ErrorKind, Message, MessageBlock, MessageId, Position, TopicId, limits,
    message::DraftBlock,
};
use tokio::sync::Barrier;

use crate::house::{House, a_post, ask_draft, kind, next, text};

fn list(channel: ChannelId) -> ListMessages {
    ListMessages {
        channel: ChannelRef::Id(channel),
        topic: None,
        topic_name: None,
        before: None,
        limit: 0,
        snapshot: None,
    }
}

fn texts(page: &[Arc<Message>]) -> Vec<&str> {
    let views = page.iter().filter_map(|message| message.blocks().first()).map(MessageBlock::view);
    views
        .filter_map(|view| match view {
            BlockView::Text(text) => Some(text),
            _ => None,
        })
        .collect()
}

async fn filled(house: &House, by: &Caller, count: usize) -> ChannelId {
    let channel = house.channel(by, "plans", &[]).await.id;
    for number in 0..count {
        house.post(by, channel, &number.to_string()).await;
    }
    channel
}

#[tokio::test]
async fn a_post_is_refused_before_the_channel_is_looked_at() {
    let house = House::new().await;
    let nowhere = ChannelRef::Name("nowhere".into());
    let both = TopicInput { id: Some(TopicId::from_bytes([1; 16])), ..a_post(nowhere.clone()).topic };
    let bad = [
        PostMessage { blocks: Vec::new(), ..a_post(nowhere.clone()) },
        PostMessage { topic: TopicInput::default(), ..a_post(nowhere.clone()) },
        PostMessage { topic: both, ..a_post(nowhere.clone()) },
        PostMessage { client_request_id: "k".repeat(129), ..a_post(nowhere.clone()) },
        PostMessage { blocks: vec![DraftBlock::Text("a\0b".into())], ..a_post(nowhere.clone()) },
    ];
    for post in bad {
        let refused = post_message(&house.comms, &house.admin, post).await;
        assert_eq!(kind(refused), ErrorKind::InvalidArgument);
    }
    let refused = post_message(&house.comms, &house.admin, a_post(nowhere)).await;
    assert_eq!(kind(refused), ErrorKind::NotFound);
}

#[tokio::test]
async fn a_message_over_the_limit_is_refused_with_limit_and_size() {
    let house = House::new().await;
    let channel = ChannelRef::Id(house.channel(&house.admin, "plans", &[]).await.id);
    let post = |length: usize| PostMessage {
        blocks: vec![DraftBlock::Text("x".repeat(length))],
        ..a_post(channel.clone())
    };
    let refused = text(post_message(&house.comms, &house.admin, post(limits::MESSAGE_BYTES)).await);
    assert!(refused.contains(&limits::MESSAGE_BYTES.to_string()), "{refused}");
    let overhead = 8;
    assert!(post_message(&house.comms, &house.admin, post(limits::MESSAGE_BYTES - overhead)).await.is_ok());
}

#[tokio::test]
async fn who_hears_of_a_message_can_read_it() {
    let house = House::new().await;
    let channel = house.channel(&house.admin, "plans", &[]).await.id;
    let mut events = house.listen();
    let posted = house.post(&house.admin, channel, "hello").await;
    // The topic came first.
    next(&mut events).await;
    assert_eq!(next(&mut events).await, compass_domain::Event::MessagePosted(Arc::clone(&posted.message)));
    let page = list_messages(&house.comms, &house.admin, list(channel)).await.unwrap();
    assert_eq!(page, [posted.message]);
}

#[tokio::test]
async fn keys_are_per_author_and_no_key_never_repeats() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let channel = ChannelRef::Id(house.channel(&ada, "plans", &[&house.admin]).await.id);
    let keyed = || PostMessage { client_request_id: "key".into(), ..a_post(channel.clone()) };
    let adas = post_message(&house.comms, &ada, keyed()).await.unwrap();
    let again = post_message(&house.comms, &ada, keyed()).await.unwrap();
    let roots = post_message(&house.comms, &house.admin, keyed()).await.unwrap();
    assert_eq!((adas.inserted, again.inserted, roots.inserted), (true, false, true));
    assert_eq!(again.message, adas.message);
    let one = post_message(&house.comms, &ada, a_post(channel.clone())).await.unwrap();
    let two = post_message(&house.comms, &ada, a_post(channel.clone())).await.unwrap();
    assert_ne!(one.message.id(), two.message.id());
    // Dense, so the repeat left no gap.
    assert_eq!(two.message.seq().0, 4);
}

#[tokio::test]
async fn a_key_holds_across_channels_topics_and_ask_content() {
    let house = House::new().await;
    let plans = house.channel(&house.admin, "plans", &[]).await.id;
    let other = house.channel(&house.admin, "other", &[]).await.id;
    let first = PostMessage { client_request_id: "key".into(), ..a_post(ChannelRef::Id(plans)) };
    post_message(&house.comms, &house.admin, first.clone()).await.unwrap();
    let mut topic = first.clone();
    topic.topic.name = Some("another".into());
    let changed = [
        PostMessage { channel: ChannelRef::Id(other), ..first.clone() },
        topic,
        PostMessage { blocks: vec![DraftBlock::Ask(ask_draft())], ..first.clone() },
    ];
    for post in changed {
        assert_eq!(kind(post_message(&house.comms, &house.admin, post).await), ErrorKind::Conflict);
    }
    // By name or by id, it is the same channel.
    let by_name = PostMessage { channel: ChannelRef::Name("plans".into()), ..first };
    assert!(!post_message(&house.comms, &house.admin, by_name).await.unwrap().inserted);
}

#[tokio::test]
async fn a_repeat_to_a_new_topic_name_leaves_no_topic_behind() {
    let house = House::new().await;
    let channel = house.channel(&house.admin, "plans", &[]).await.id;
    let first = PostMessage { client_request_id: "key".into(), ..a_post(ChannelRef::Id(channel)) };
    post_message(&house.comms, &house.admin, first.clone()).await.unwrap();
    let mut elsewhere = first;
    elsewhere.topic.name = Some("fresh".into());
    assert_eq!(kind(post_message(&house.comms, &house.admin, elsewhere).await), ErrorKind::Conflict);
    let mut unit = house.comms.storage.read(&house.tenant).await.unwrap();
    assert_eq!(unit.list_topics(&[channel], true).await.unwrap().len(), 1);
}

#[tokio::test]
async fn paging_walks_all_messages_newest_first() {
    let house = House::new().await;
    let channel = filled(&house, &house.admin, 7).await;
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let page = ListMessages { before, limit: 3, ..list(channel) };
        let page = list_messages(&house.comms, &house.admin, page).await.unwrap();
        let Some(last) = page.last() else { break };
        before = Some(last.id());
        seen.extend(texts(&page).into_iter().map(str::to_owned));
    }
    assert_eq!(seen, ["6", "5", "4", "3", "2", "1", "0"]);
}

#[tokio::test]
async fn a_page_holds_50_messages_by_default_and_200_at_most() {
    let house = House::new().await;
    let channel = filled(&house, &house.admin, 201).await;
    for (asked, got) in [(0, 50), (1, 1), (200, 200), (201, 200)] {
        let page = ListMessages { limit: asked, ..list(channel) };
        assert_eq!(list_messages(&house.comms, &house.admin, page).await.unwrap().len(), got);
    }
}

#[tokio::test]
async fn a_cursor_must_be_a_message_of_the_channel() {
    let house = House::new().await;
    let channel = filled(&house, &house.admin, 1).await;
    let other = house.channel(&house.admin, "other", &[]).await.id;
    let elsewhere = house.post(&house.admin, other, "elsewhere").await.message.id();
    for before in [elsewhere, MessageId::from_bytes([9; 16])] {
        let page = ListMessages { before: Some(before), ..list(channel) };
        let refused = list_messages(&house.comms, &house.admin, page).await;
        assert_eq!(kind(refused), ErrorKind::InvalidArgument);
    }
}

#[tokio::test]
async fn a_snapshot_leaves_out_what_came_later() {
    let house = House::new().await;
    let channel = filled(&house, &house.admin, 2).await;
    let mut unit = house.comms.storage.read(&house.tenant).await.unwrap();
    let snapshot = unit.last_position().await.unwrap();
    assert_eq!(snapshot, Position(2));
    house.post(&house.admin, channel, "later").await;
    let page = ListMessages { snapshot: Some(snapshot), ..list(channel) };
    let page = list_messages(&house.comms, &house.admin, page).await.unwrap();
    assert_eq!(texts(&page), ["1", "0"]);
}

#[tokio::test]
async fn a_channel_that_is_absent_or_foreign_lists_nothing() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let channel = filled(&house, &house.admin, 1).await;
    let some = house.post(&house.admin, channel, "secret").await.message.id();
    let pages = [
        list(channel),
        list(ChannelId::from_bytes([9; 16])),
        ListMessages { channel: ChannelRef::Name("plans".into()), ..list(channel) },
        ListMessages { channel: ChannelRef::Name("nothing".into()), ..list(channel) },
        // Not even whether the cursor or the topic exists shows.
        ListMessages { before: Some(some), ..list(channel) },
        ListMessages { topic_name: Some("general".into()), ..list(channel) },
        ListMessages { topic_name: Some("nothing".into()), ..list(channel) },
    ];
    for page in pages {
        assert!(list_messages(&house.comms, &ada, page).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_topic_narrows_the_list() {
    let house = House::new().await;
    let channel = house.channel(&house.admin, "plans", &[]).await.id;
    for (topic, text) in [("one", "a"), ("two", "b"), ("one", "c")] {
        let mut post = a_post(ChannelRef::Id(channel));
        post.topic.name = Some(topic.into());
        post.blocks = vec![DraftBlock::Text(text.into())];
        post_message(&house.comms, &house.admin, post).await.unwrap();
    }
    let named = |name: &str| ListMessages { topic_name: Some(name.into()), ..list(channel) };
    let page = list_messages(&house.comms, &house.admin, named("ONE")).await.unwrap();
    assert_eq!(texts(&page), ["c", "a"]);
    let by_id = ListMessages { topic: Some(page[0].topic()), ..list(channel) };
    assert_eq!(list_messages(&house.comms, &house.admin, by_id.clone()).await.unwrap(), page);
    let unknown = list_messages(&house.comms, &house.admin, named("three")).await;
    assert_eq!(kind(unknown), ErrorKind::NotFound);
    let both = ListMessages { topic_name: Some("one".into()), ..by_id.clone() };
    assert_eq!(kind(list_messages(&house.comms, &house.admin, both).await), ErrorKind::InvalidArgument);
    // A topic of another channel holds none of this one's.
    let other = house.channel(&house.admin, "other", &[]).await.id;
    let foreign = ListMessages { channel: ChannelRef::Id(other), ..by_id };
    assert!(list_messages(&house.comms, &house.admin, foreign).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_first_posts_to_a_new_name_make_one_topic() {
    for _ in 0..20 {
        let house = House::new().await;
        let channel = house.channel(&house.admin, "plans", &[]).await.id;
        let barrier = Arc::new(Barrier::new(2));
        let posts: Vec<_> = (0..2)
            .map(|_| {
                let (comms, caller) = (house.comms.clone(), house.admin.clone());
                let barrier = Arc::clone(&barrier);
                house.comms.tasks.spawn(async move {
                    barrier.wait().await;
                    post_message(&comms, &caller, a_post(ChannelRef::Id(channel))).await.unwrap()
                })
            })
            .collect();
        let mut topics = Vec::new();
        for post in posts {
            topics.push(post.await.unwrap().message.topic());
        }
        assert_eq!(topics[0], topics[1]);
        let mut unit = house.comms.storage.read(&house.tenant).await.unwrap();
        let listed = unit.list_topics(&[channel], true).await.unwrap();
        assert_eq!((listed.len(), listed[0].topic.message_count, listed[0].topic.last_seq.0), (1, 2, 2));
    }
}
