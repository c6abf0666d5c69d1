//! The event stream: boundary, replay, live, visibility at send time, and how it ends.

use std::sync::Arc;

use compass_comms::{
    Caller,
    accounts::set_status::{SetStatus, set_status},
    channels::{
        resolve::ChannelRef,
        update_members::{UpdateMembers, update_members},
    },
    events::{EventStream, Feed, StreamItem, SubscribeFrom, subscribe, subscribe_to},
    messages::post_message::{PostMessage, post_message},
};
use compass_domain::{Event, LifecycleState, MessageId, Position, Presence, SessionId};
use compass_ports::RETAINED;
use compass_testkit::CountedStorage;

use crate::house::{House, a_post};

const START: SubscribeFrom = SubscribeFrom { since_seq: 0, epoch: 0 };
const EPOCH: u64 = 77;

async fn stream(house: &House, caller: &Caller, from: SubscribeFrom) -> EventStream {
    subscribe(&house.comms, &house.audiences, caller, from).await
}

/// A stream that starts over and has yielded its boundary.
async fn started(house: &House, caller: &Caller) -> EventStream {
    let mut stream = stream(house, caller, START).await;
    assert!(matches!(stream.next().await, StreamItem::Boundary { epoch: EPOCH, .. }));
    stream
}

async fn next(stream: &mut EventStream) -> (u64, Event) {
    match stream.next().await {
        StreamItem::Event(published) => (published.seq, published.event.clone()),
        other => panic!("no event but {other:?}"),
    }
}

async fn next_posted(stream: &mut EventStream) -> MessageId {
    loop {
        if let (_, Event::MessagePosted(message)) = next(stream).await {
            return message.id();
        }
    }
}

#[tokio::test]
async fn a_stream_that_starts_over_begins_with_a_boundary_even_when_nothing_happened() {
    let (comms, _) = crate::house::empty();
    let house = House::new().await;
    let mut fresh = subscribe(&comms, &Arc::default(), &house.admin, START).await;
    let StreamItem::Boundary { snapshot, epoch } = fresh.next().await else { panic!("a boundary") };
    assert_eq!((snapshot, epoch), (Position(0), EPOCH));
    let channel = house.channel(&house.admin, "plans", &[]).await.id;
    house.post(&house.admin, channel, "hello").await;
    let mut stream = stream(&house, &house.admin, SubscribeFrom { since_seq: 0, epoch: 5 }).await;
    let StreamItem::Boundary { snapshot, .. } = stream.next().await else { panic!("a boundary") };
    assert_eq!(snapshot, Position(1));
}

#[tokio::test]
async fn replay_and_live_events_follow_in_order_without_gap() {
    let house = House::new().await;
    let channel = house.channel(&house.admin, "plans", &[]).await.id;
    let before = house.post(&house.admin, channel, "before").await.message.id();
    let mut stream = started(&house, &house.admin).await;
    let after = house.post(&house.admin, channel, "after").await.message.id();
    assert_eq!(next_posted(&mut stream).await, before);
    assert_eq!(next_posted(&mut stream).await, after);
}

#[tokio::test]
async fn a_stream_goes_on_after_the_seq_it_saw() {
    let house = House::new().await;
    let channel = house.channel(&house.admin, "plans", &[]).await.id;
    house.post(&house.admin, channel, "one").await;
    let mut first = started(&house, &house.admin).await;
    let seen = loop {
        if let (seq, Event::MessagePosted(_)) = next(&mut first).await {
            break seq;
        }
    };
    let two = house.post(&house.admin, channel, "two").await.message.id();
    let mut stream = stream(&house, &house.admin, SubscribeFrom { since_seq: seen, epoch: EPOCH }).await;
    let (seq, event) = next(&mut stream).await;
    let Event::MessagePosted(message) = event else { panic!("{event:?}") };
    assert_eq!((seq, message.id()), (seen + 1, two));
}

#[tokio::test]
async fn a_place_that_is_not_retained_asks_for_a_new_start_once() {
    let house = House::new().await;
    for from in [
        SubscribeFrom { since_seq: 1, epoch: EPOCH + 1 },
        SubscribeFrom { since_seq: 1, epoch: 0 },
        SubscribeFrom { since_seq: 1_000_000, epoch: EPOCH },
    ] {
        let mut stream = stream(&house, &house.admin, from).await;
        assert!(matches!(stream.next().await, StreamItem::Resync { epoch: EPOCH }), "{from:?}");
        assert!(matches!(stream.next().await, StreamItem::End));
        assert!(matches!(stream.next().await, StreamItem::End));
    }
}

#[tokio::test]
async fn a_slow_subscriber_is_told_to_start_over_and_another_one_keeps_up() {
    let house = House::new().await;
    let channel = house.channel(&house.admin, "plans", &[]).await.id;
    let mut slow = started(&house, &house.admin).await;
    let mut quick = started(&house, &house.admin).await;
    for _ in 0..=2 * RETAINED {
        let posted = house.post(&house.admin, channel, "more").await.message.id();
        assert_eq!(next_posted(&mut quick).await, posted);
    }
    let last = loop {
        match slow.next().await {
            StreamItem::Event(_) => {}
            other => break other,
        }
    };
    assert!(matches!(last, StreamItem::Resync { epoch: EPOCH }));
    assert!(matches!(slow.next().await, StreamItem::End));
}

#[tokio::test]
async fn a_bus_that_closes_ends_the_stream_and_so_does_one_that_is_closed() {
    let house = House::new().await;
    let mut live = stream(&house, &house.admin, SubscribeFrom { since_seq: 1, epoch: EPOCH }).await;
    house.comms.bus.close();
    while let StreamItem::Event(_) = live.next().await {}
    assert!(matches!(live.next().await, StreamItem::End));
    let mut late = started(&house, &house.admin).await;
    assert!(matches!(late.next().await, StreamItem::End));
}

#[tokio::test]
async fn messages_and_topics_of_a_foreign_channel_are_skipped_in_replay_and_live() {
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let private = house.channel(&ada, "private", &[]).await.id;
    let both = house.channel(&ada, "both", &[&bob]).await.id;
    house.post(&ada, private, "secret").await;
    let first = house.post(&ada, both, "first").await.message.id();
    let mut bobs = started(&house, &bob).await;
    house.post(&ada, private, "secret again").await;
    let second = house.post(&ada, both, "second").await.message.id();
    let mut seen = Vec::new();
    while seen.len() < 2 {
        match next(&mut bobs).await.1 {
            Event::MessagePosted(message) => {
                assert_eq!(message.channel(), both);
                seen.push(message.id());
            }
            Event::TopicUpserted(topic) => assert_eq!(topic.channel, both),
            Event::ChannelChanged { channel, .. } => assert_eq!(channel.id, both),
            _ => {}
        }
    }
    assert_eq!(seen, [first, second]);
}

#[tokio::test]
async fn a_removed_member_gets_the_event_of_its_removal_and_nothing_after() {
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let eve = house.user("eve").await;
    let plans = house.channel(&ada, "plans", &[&bob]).await;
    let both = house.channel(&ada, "both", &[&bob, &eve]).await.id;
    let seen = house.told_so_far().await;
    let mut bobs = stream(&house, &bob, SubscribeFrom { since_seq: seen, epoch: EPOCH }).await;
    let mut eves = stream(&house, &eve, SubscribeFrom { since_seq: seen, epoch: EPOCH }).await;
    let leave = UpdateMembers { remove: vec![bob.actor.id], ..UpdateMembers::of(ChannelRef::Id(plans.id)) };
    update_members(&house.comms, &ada, leave).await.unwrap();
    house.post(&ada, plans.id, "without bob").await;
    let canary = house.post(&ada, both, "canary").await.message.id();
    let (_, event) = next(&mut bobs).await;
    let Event::ChannelChanged { channel, removed } = event else { panic!("{event:?}") };
    assert_eq!((channel.id, removed), (plans.id, vec![bob.actor.id]));
    assert!(matches!(next(&mut bobs).await.1, Event::TopicUpserted(topic) if topic.channel == both));
    assert_eq!(next_posted(&mut bobs).await, canary);
    // The event of the removal is for who was removed; others outside the channel do not see it.
    assert!(matches!(next(&mut eves).await.1, Event::TopicUpserted(topic) if topic.channel == both));
}

#[tokio::test]
async fn what_a_viewer_may_see_is_decided_when_an_event_is_sent() {
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let plans = house.channel(&ada, "plans", &[&bob]).await.id;
    let both = house.channel(&ada, "both", &[&bob]).await.id;
    let seen = house.told_so_far().await;
    let mut bobs = stream(&house, &bob, SubscribeFrom { since_seq: seen, epoch: EPOCH }).await;
    house.post(&ada, plans, "bob still takes part").await;
    let leave = UpdateMembers { remove: vec![bob.actor.id], ..UpdateMembers::of(ChannelRef::Id(plans)) };
    update_members(&house.comms, &ada, leave).await.unwrap();
    let canary = house.post(&ada, both, "canary").await.message.id();
    // Published while bob took part, sent when he does not any more.
    assert!(matches!(next(&mut bobs).await.1, Event::ChannelChanged { .. }));
    assert_eq!(next_posted(&mut bobs).await, canary);
}

#[tokio::test]
async fn accounts_and_presence_are_told_to_who_may_see_them() {
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let both = house.channel(&ada, "both", &[&bob]).await.id;
    let seen = house.told_so_far().await;
    let mut adas = stream(&house, &ada, SubscribeFrom { since_seq: seen, epoch: EPOCH }).await;
    let mut bobs = stream(&house, &bob, SubscribeFrom { since_seq: seen, epoch: EPOCH }).await;
    let bot = house.agent(&ada, "bot").await;
    let presence = Event::AgentPresenceChanged {
        agent: bot.actor.id,
        presence: Presence::Idle,
        activity: String::new(),
    };
    house.comms.bus.publish(&house.tenant, vec![presence.clone()]);
    house.post(&ada, both, "canary").await;
    assert!(matches!(next(&mut adas).await.1, Event::AccountChanged(account) if account.id == bot.actor.id));
    assert!(matches!(next(&mut adas).await.1, Event::ChannelChanged { .. }));
    assert_eq!(next(&mut adas).await.1, presence);
    // A stranger's agent shows nowhere.
    assert!(matches!(next(&mut bobs).await.1, Event::TopicUpserted(_)));
    let mut bots = stream(&house, &bot, SubscribeFrom { since_seq: seen, epoch: EPOCH }).await;
    loop {
        if next(&mut bots).await.1 == presence {
            break;
        }
    }
}

#[tokio::test]
async fn what_only_the_server_listens_to_is_never_sent() {
    let house = House::new().await;
    let bot = house.agent(&house.admin, "bot").await;
    let home = house.home_of(&bot).await;
    let seen = house.told_so_far().await;
    let mut stream = stream(&house, &bot, SubscribeFrom { since_seq: seen, epoch: EPOCH }).await;
    set_status(&house.comms, &bot, SetStatus { activity: "busy".into() }).await.unwrap();
    let settled = Event::MessageSettled { channel: home, message: MessageId::from_bytes([1; 16]) };
    house.comms.bus.publish(&house.tenant, vec![settled]);
    house.post(&bot, home, "canary").await;
    let (seq, event) = next(&mut stream).await;
    assert!(matches!(event, Event::TopicUpserted(_)), "{event:?}");
    assert_eq!(seq, seen + 3, "skipped events leave gaps");
}

#[tokio::test]
async fn a_repeat_under_a_key_tells_nothing() {
    let house = House::new().await;
    let channel = house.channel(&house.admin, "plans", &[]).await.id;
    let keyed = PostMessage { client_request_id: "key".into(), ..a_post(ChannelRef::Id(channel)) };
    post_message(&house.comms, &house.admin, keyed.clone()).await.unwrap();
    let seen = house.told_so_far().await;
    let mut stream = stream(&house, &house.admin, SubscribeFrom { since_seq: seen, epoch: EPOCH }).await;
    post_message(&house.comms, &house.admin, keyed).await.unwrap();
    let canary = house.post(&house.admin, channel, "canary").await.message;
    let told = next(&mut stream).await;
    assert_eq!(told, (seen + 1, Event::MessagePosted(Arc::clone(&canary))));
}

#[tokio::test]
async fn dropping_a_wait_for_the_next_item_loses_nothing() {
    let house = House::new().await;
    let channel = house.channel(&house.admin, "plans", &[]).await.id;
    let seen = house.told_so_far().await;
    let mut stream = stream(&house, &house.admin, SubscribeFrom { since_seq: seen, epoch: EPOCH }).await;
    tokio::select! {
        biased;
        item = stream.next() => panic!("nothing happened, but {item:?}"),
        () = std::future::ready(()) => {}
    }
    let posted = house.post(&house.admin, channel, "hello").await.message.id();
    assert_eq!(next_posted(&mut stream).await, posted);
}

#[tokio::test]
async fn a_hundred_subscribers_share_one_read_of_who_sees_an_event_and_one_count_of_its_open_asks() {
    const SUBSCRIBERS: usize = 100;
    let mut house = House::new().await;
    let counted = Arc::new(CountedStorage::over(Arc::clone(&house.comms.storage)));
    house.comms.storage = Arc::<CountedStorage>::clone(&counted);
    let bot = house.agent(&house.admin, "bot").await;
    let home = house.home_of(&bot).await;
    let seen = house.told_so_far().await;
    let mut streams = Vec::new();
    for _ in 0..SUBSCRIBERS {
        let from = SubscribeFrom { since_seq: seen, epoch: EPOCH };
        streams.push(stream(&house, &house.admin, from).await);
    }
    house.ask(&bot, home).await;
    let presence = Event::AgentPresenceChanged {
        agent: bot.actor.id,
        presence: Presence::Idle,
        activity: String::new(),
    };
    house.comms.bus.publish(&house.tenant, vec![presence.clone()]);
    counted.take_snapshots();
    let mut tasks = tokio::task::JoinSet::new();
    for mut stream in streams {
        let (audiences, storage) = (Arc::clone(&house.audiences), Arc::clone(&house.comms.storage));
        let presence = presence.clone();
        tasks.spawn(async move {
            let StreamItem::Event(topic) = stream.next().await else { panic!("the topic") };
            assert!(matches!(topic.event, Event::TopicUpserted(_)), "{:?}", topic.event);
            assert_eq!(audiences.open_asks(&*storage, &topic).await.unwrap(), 1);
            assert!(matches!(next(&mut stream).await.1, Event::MessagePosted(_)));
            assert_eq!(next(&mut stream).await.1, presence);
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert_eq!(counted.take_snapshots(), 3, "participants, open asks, mates");
}

/// AC-17: a session's state is told to those who see its agent, and to no stream about the conversation.
#[tokio::test]
async fn states_of_sessions_are_a_feed_of_their_own_for_those_who_see_the_agent() {
    let house = House::new().await;
    let owner = house.user("ada").await;
    let (bot, others) = (house.agent(&owner, "bot").await, house.agent(&house.admin, "others").await);
    let of = async |caller: &Caller| {
        let feed = Feed::Sessions;
        let mut stream = subscribe_to(feed, &house.comms, &house.audiences, caller, START).await;
        assert!(matches!(stream.next().await, StreamItem::Boundary { .. }));
        stream
    };
    let mut conversation = started(&house, &owner).await;
    let (mut seen, mut own, mut hidden) = (of(&owner).await, of(&bot).await, of(&house.admin).await);
    let told = |number: u8, agent: &Caller| {
        let (session, state) = (SessionId::from_bytes([number; 16]), LifecycleState::Ready);
        let event = Event::AgentSessionChanged { session, agent: agent.actor.id, state };
        house.comms.bus.publish(&house.tenant, vec![event.clone()]);
        event
    };
    let event = told(1, &bot);
    assert_eq!(next(&mut seen).await.1, event);
    assert_eq!(next(&mut own).await.1, event);
    let event = told(2, &others);
    assert_eq!(next(&mut hidden).await.1, event, "nothing of the one it does not see");
    let channel = house.channel(&owner, "plans", &[&house.admin, &bot]).await;
    let event = told(3, &bot);
    assert_eq!(next(&mut hidden).await.1, event, "now they share a channel");
    let posted = house.post(&owner, channel.id, "canary").await.message.id();
    loop {
        match next(&mut conversation).await.1 {
            Event::MessagePosted(message) if message.id() == posted => break,
            event => assert!(!matches!(event, Event::AgentSessionChanged { .. }), "{event:?}"),
        }
    }
}
