//! The event stream of one caller: where it begins, what it may show, and how it ends.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use compass_comms::{
    Caller, Comms,
    accounts::create_agent::{CreateAgent, create_agent},
    asks::{
        cancel_ask::{CancelAsk, cancel_ask},
        respond_to_ask::{RespondToAsk, respond_to_ask},
    },
    channels::{
        create_channel::{CreateChannel, Mode, create_channel},
        resolve::ChannelRef,
        update_members::{UpdateMembers, update_members},
    },
    events::{Audiences, EventStream, StreamItem, SubscribeFrom, subscribe},
    groups::{
        create_group::{CreateGroup, create_group},
        resolve::GroupRef,
    },
};
use compass_domain::{
    AskState, ChannelId, Event, Message, MessageId, Position, Presence, Topic, TopicId, TopicName,
    UnixMillis, group::Visibility,
};
use compass_ports::{Next, submit};
use tokio::{sync::Barrier, task::JoinSet, time::timeout};

use super::channels::RandomWorld;
use crate::{Fixture, Scene, drafts};

/// How long an event may take that must come.
const PATIENCE: Duration = Duration::from_mins(2);

/// Use cases, and what their subscribers share.
struct Stage {
    scene: Scene,
    comms: Comms,
    audiences: Arc<Audiences>,
}

impl Stage {
    fn new(fixture: &Fixture) -> Self {
        let scene = Scene::new(fixture);
        Self { comms: scene.comms(), audiences: Arc::default(), scene }
    }

    async fn subscribe(&self, viewer: &Caller, from: SubscribeFrom) -> EventStream {
        subscribe(&self.comms, &self.audiences, viewer, from).await
    }

    /// A stream of what comes from now on.
    async fn now_on(&self, viewer: &Caller) -> EventStream {
        let since_seq = self.seq().await;
        self.subscribe(viewer, SubscribeFrom { since_seq, epoch: self.comms.bus.epoch() }).await
    }

    /// The seq of the newest event, which is one that no subscriber gets.
    async fn seq(&self) -> u64 {
        let mut tap = self.comms.bus.tap();
        let nobodys = Event::MessageSettled {
            channel: ChannelId::from_bytes([0; 16]),
            message: MessageId::from_bytes([0; 16]),
        };
        self.publish(nobodys);
        let Next::Event(published) = tap.next().await else { panic!("an event") };
        published.seq
    }

    fn publish(&self, event: Event) {
        self.comms.bus.publish(&self.scene.tenant, vec![event]);
    }

    async fn channel(&self, by: &Caller, name: &str, members: &[&Caller]) -> ChannelId {
        let create = CreateChannel {
            name: name.into(),
            group: None,
            members: members.iter().map(|member| member.actor.id).collect(),
            member_handles: Vec::new(),
            mode: Mode::Flat,
        };
        create_channel(&self.comms, by, create).await.expect("a channel").id
    }
}

/// The next event; one that never comes fails the test.
async fn next(stream: &mut EventStream) -> Event {
    match timeout(PATIENCE, stream.next()).await {
        Ok(StreamItem::Event(published)) => published.event.clone(),
        other => panic!("an event, not {other:?}"),
    }
}

/// The next message, whatever comes before it.
async fn next_posted(stream: &mut EventStream) -> Arc<Message> {
    loop {
        if let Event::MessagePosted(message) = next(stream).await {
            return message;
        }
    }
}

/// 7.4-8, EV-9.
pub async fn a_stream_begins_with_the_newest_position_even_when_nothing_happened(fixture: &Fixture) {
    let stage = Stage::new(fixture);
    let anas = stage.scene.user("ana").await;
    let ana = stage.scene.caller(&anas);
    let start = SubscribeFrom { since_seq: 0, epoch: 5 };
    let mut empty = stage.subscribe(&ana, start).await;
    let StreamItem::Boundary { snapshot, epoch } = empty.next().await else { panic!("a boundary") };
    assert_eq!((snapshot, epoch), (Position(0), stage.comms.bus.epoch()));
    let room = stage.scene.channel("room", &[&anas]).await;
    let first = stage.scene.say(&anas, room, "t", "one").await;
    let newest = stage.scene.read().await.last_position().await.unwrap();
    assert!(newest > Position(0));
    let mut stream = stage.subscribe(&ana, start).await;
    let StreamItem::Boundary { snapshot, .. } = stream.next().await else { panic!("a boundary") };
    assert_eq!(snapshot, newest);
    assert_eq!(next_posted(&mut stream).await, first, "then the replay");
}

/// 7.4-9.
pub async fn another_life_of_the_bus_asks_for_a_new_start(fixture: &Fixture) {
    let stage = Stage::new(fixture);
    let anas = stage.scene.user("ana").await;
    let ana = stage.scene.caller(&anas);
    let room = stage.scene.channel("room", &[&anas]).await;
    let posted = stage.scene.say(&anas, room, "t", "one").await;
    let epoch = stage.comms.bus.epoch();
    for from in [
        SubscribeFrom { since_seq: 1, epoch: epoch.wrapping_sub(1) },
        SubscribeFrom { since_seq: 1, epoch: 0 },
        SubscribeFrom { since_seq: u64::MAX, epoch },
    ] {
        let mut stream = stage.subscribe(&ana, from).await;
        let StreamItem::Resync { epoch: now } = stream.next().await else { panic!("a resync") };
        assert_eq!(now, epoch, "{from:?}");
        assert!(matches!(stream.next().await, StreamItem::End));
    }
    let mut again = stage.subscribe(&ana, SubscribeFrom::default()).await;
    assert!(matches!(again.next().await, StreamItem::Boundary { .. }));
    assert_eq!(next_posted(&mut again).await, posted);
}

/// 7.4-10, 7.4-11, 7.4-16, EV-13.
pub async fn what_is_private_is_skipped_in_replay_and_live_and_the_next_visible_event_arrives(
    fixture: &Fixture,
) {
    let stage = Stage::new(fixture);
    let (anas, bens) = (stage.scene.user("ana").await, stage.scene.user("ben").await);
    let private = stage.scene.channel("private", &[&anas]).await;
    let both = stage.scene.channel("both", &[&anas, &bens]).await;
    stage.scene.say(&anas, private, "t", "secret").await;
    let first = stage.scene.say(&anas, both, "t", "first").await;
    let mut stream = stage.subscribe(&stage.scene.caller(&bens), SubscribeFrom::default()).await;
    assert!(matches!(stream.next().await, StreamItem::Boundary { .. }));
    let mut seqs = Vec::new();
    let mut take = async |expected: &Arc<Message>, has_topic: bool| {
        if has_topic {
            let StreamItem::Event(topic) = stream.next().await else { panic!("the topic") };
            assert!(
                matches!(&topic.event, Event::TopicUpserted(topic) if topic.channel == both),
                "{topic:?}"
            );
            seqs.push(topic.seq);
        }
        let StreamItem::Event(posted) = stream.next().await else { panic!("the message") };
        assert_eq!(posted.event, Event::MessagePosted(Arc::clone(expected)));
        seqs.push(posted.seq);
    };
    take(&first, true).await;
    stage.scene.say(&anas, private, "new", "secret again").await;
    let second = stage.scene.say(&anas, both, "t", "second").await;
    take(&second, false).await;
    assert_eq!(seqs, [3, 4, 7], "skipped events leave gaps");
}

/// 7.4-13.
pub async fn accounts_follow_the_directory_and_presence_follows_shared_channels(fixture: &Fixture) {
    let stage = Stage::new(fixture);
    let (anas, bens) = (stage.scene.user("ana").await, stage.scene.user("ben").await);
    let (ana, ben) = (stage.scene.caller(&anas), stage.scene.caller(&bens));
    let lobby = stage.scene.channel("lobby", &[&anas, &bens]).await;
    stage.scene.say(&anas, lobby, "t", "hello").await;
    let (mut to_ana, mut to_ben) = (stage.now_on(&ana).await, stage.now_on(&ben).await);
    let create = CreateAgent { handle: "bot".into(), ..CreateAgent::default() };
    let bot = create_agent(&stage.comms, &ana, create).await.unwrap();
    let present = |presence| Event::AgentPresenceChanged { agent: bot.id, presence, activity: String::new() };
    stage.publish(present(Presence::Idle));
    let told = [next(&mut to_ana).await, next(&mut to_ana).await, next(&mut to_ana).await];
    assert_eq!(told[0], Event::AccountChanged(Arc::new(bot.clone())));
    assert!(matches!(&told[1], Event::ChannelChanged { channel, .. } if channel.name.as_str() == "bot"));
    assert_eq!(told[2], present(Presence::Idle));
    let canary = stage.scene.say(&anas, lobby, "t", "canary").await;
    assert_eq!(next(&mut to_ben).await, Event::MessagePosted(canary), "nothing of a stranger's agent");
    let both = stage.channel(&ana, "both", &[&ben, &stage.scene.caller(&bot)]).await;
    stage.publish(present(Presence::Working));
    assert!(matches!(next(&mut to_ben).await, Event::ChannelChanged { channel, .. } if channel.id == both));
    assert_eq!(next(&mut to_ben).await, present(Presence::Working));
    let remove = UpdateMembers { remove: vec![bot.id], ..UpdateMembers::of(ChannelRef::Id(both)) };
    update_members(&stage.comms, &ana, remove).await.unwrap();
    stage.publish(present(Presence::Waiting));
    let canary = stage.scene.say(&anas, both, "t", "canary").await;
    assert!(matches!(next(&mut to_ben).await, Event::ChannelChanged { .. }));
    assert!(matches!(next(&mut to_ben).await, Event::TopicUpserted(_)), "and no presence any more");
    assert_eq!(next(&mut to_ben).await, Event::MessagePosted(canary));
}

/// 7.4-14, EV-16, EV-17.
pub async fn a_removed_member_gets_the_event_of_its_removal_and_nothing_after(fixture: &Fixture) {
    let stage = Stage::new(fixture);
    let (anas, bens, evas) =
        (stage.scene.user("ana").await, stage.scene.user("ben").await, stage.scene.user("eva").await);
    let (ana, ben, eva) = (stage.scene.caller(&anas), stage.scene.caller(&bens), stage.scene.caller(&evas));
    let room = stage.channel(&ana, "room", &[&ben]).await;
    let all = stage.channel(&ana, "all", &[&ben, &eva]).await;
    let (mut to_ben, mut to_eva) = (stage.now_on(&ben).await, stage.now_on(&eva).await);
    stage.scene.say(&anas, room, "t", "ben still reads").await;
    assert!(matches!(next(&mut to_ben).await, Event::TopicUpserted(_)));
    next_posted(&mut to_ben).await;
    let remove = UpdateMembers { remove: vec![bens.id], ..UpdateMembers::of(ChannelRef::Id(room)) };
    update_members(&stage.comms, &ana, remove).await.unwrap();
    stage.scene.say(&anas, room, "t", "without ben").await;
    let subscribe = UpdateMembers { subscribe: vec![anas.id], ..UpdateMembers::of(ChannelRef::Id(room)) };
    update_members(&stage.comms, &ana, subscribe).await.unwrap();
    let canary = stage.scene.say(&anas, all, "t", "canary").await;
    let Event::ChannelChanged { channel, removed } = next(&mut to_ben).await else { panic!("the removal") };
    assert_eq!((channel.id, removed), (room, vec![bens.id]));
    for stream in [&mut to_ben, &mut to_eva] {
        assert!(matches!(next(stream).await, Event::TopicUpserted(topic) if topic.channel == all));
        assert_eq!(next(stream).await, Event::MessagePosted(Arc::clone(&canary)));
    }
}

/// EV-16 under concurrency: whatever order posts and the removal come in, nothing follows the removal.
pub async fn a_removal_that_races_with_posts_is_the_last_event_of_its_channel(fixture: &Fixture) {
    let stage = Stage::new(fixture);
    let (anas, bens) = (stage.scene.user("ana").await, stage.scene.user("ben").await);
    let (ana, ben) = (stage.scene.caller(&anas), stage.scene.caller(&bens));
    let lobby = stage.scene.channel("lobby", &[&anas, &bens]).await;
    for trial in 0..20 {
        let room = stage.channel(&ana, &format!("room {trial}"), &[&ben]).await;
        let mut to_ben = stage.now_on(&ben).await;
        let barrier = Arc::new(Barrier::new(4));
        let mut tasks = JoinSet::new();
        for number in 0..3 {
            let topic = format!("topic {number}");
            let (job, _) = stage.scene.post_job(&anas, room, &topic, vec![drafts::text("racing")], None);
            let (writer, tenant) = (Arc::clone(&stage.scene.writer), stage.scene.tenant.clone());
            let barrier = Arc::clone(&barrier);
            tasks.spawn(async move {
                barrier.wait().await;
                submit(&*writer, &tenant, job).await.is_ok()
            });
        }
        let remove = UpdateMembers { remove: vec![bens.id], ..UpdateMembers::of(ChannelRef::Id(room)) };
        let (comms, by) = (stage.comms.clone(), ana.clone());
        tasks.spawn(async move {
            barrier.wait().await;
            update_members(&comms, &by, remove).await.is_ok()
        });
        // Read while it happens, as a subscriber does.
        let mut told = Vec::new();
        let removal = async {
            loop {
                match next(&mut to_ben).await {
                    Event::ChannelChanged { channel, removed }
                        if channel.id == room && !removed.is_empty() =>
                    {
                        return;
                    }
                    event => told.push(event),
                }
            }
        };
        removal.await;
        assert!(tasks.join_all().await.into_iter().all(|done| done), "trial {trial}");
        let canary = stage.scene.say(&anas, lobby, "t", "canary").await;
        loop {
            match next(&mut to_ben).await {
                Event::MessagePosted(message) if message == canary => break,
                Event::TopicUpserted(topic) if topic.channel == lobby => {}
                late => panic!("trial {trial}: {late:?} after the removal and {} before it", told.len()),
            }
        }
    }
}

/// 7.4-17.
pub async fn a_repeat_under_a_key_tells_nothing(fixture: &Fixture) {
    let stage = Stage::new(fixture);
    let anas = stage.scene.user("ana").await;
    let room = stage.scene.channel("room", &[&anas]).await;
    let say = |text, key| stage.scene.say_with_key(&anas, room, "t", text, key);
    say("once", Some("key")).await.unwrap();
    let mut stream = stage.now_on(&stage.scene.caller(&anas)).await;
    assert!(!say("once", Some("key")).await.unwrap().inserted);
    let canary = say("canary", None).await.unwrap().message;
    assert_eq!(next(&mut stream).await, Event::MessagePosted(canary));
}

/// 7.4-18, 7.4-19.
pub async fn an_answer_is_an_update_then_a_post_and_a_cancel_is_one_update(fixture: &Fixture) {
    let stage = Stage::new(fixture);
    let (anas, bens) = (stage.scene.user("ana").await, stage.scene.user("ben").await);
    let bots = stage.scene.agent("bot", &anas).await;
    let (ben, bot) = (stage.scene.caller(&bens), stage.scene.caller(&bots));
    let room = stage.scene.channel("room", &[&anas, &bens, &bots]).await;
    let (message, asks) =
        stage.scene.ask_all(&bots, room, vec![drafts::yes_or_no(), drafts::yes_or_no()]).await;
    let mut stream = stage.now_on(&ben).await;
    let respond = RespondToAsk { ask: Some(asks[0]), answers: drafts::yes() };
    respond_to_ask(&stage.comms, &ben, respond).await.unwrap();
    for _ in 0..2 {
        cancel_ask(&stage.comms, &bot, CancelAsk { ask: Some(asks[1]) }).await.unwrap();
    }
    let canary = stage.scene.say(&anas, room, "asks", "canary").await;
    let Event::MessageUpdated(answered) = next(&mut stream).await else { panic!("the update") };
    assert_eq!(answered.id(), message.id());
    let Event::MessagePosted(answer) = next(&mut stream).await else { panic!("the answer") };
    assert_eq!((answer.author(), answer.answer().is_some()), (bens.id, true));
    let Event::MessageUpdated(cancelled) = next(&mut stream).await else { panic!("the cancel") };
    let states: Vec<&AskState> = cancelled.asks().map(compass_domain::Ask::state).collect();
    assert!(matches!(states[..], [AskState::Answered { .. }, AskState::Cancelled { .. }]), "{states:?}");
    assert_eq!(next(&mut stream).await, Event::MessagePosted(canary), "the second cancel told nothing");
}

/// EV-19.
pub async fn agents_of_a_tree_get_its_events_without_a_member_row(fixture: &Fixture) {
    let stage = Stage::new(fixture);
    let anas = stage.scene.user("ana").await;
    let top = stage.scene.agent("top", &anas).await;
    let (leaf, other) = (stage.scene.child("leaf", &top).await, stage.scene.agent("other", &anas).await);
    let tree = stage.scene.tree("tree", &top).await;
    let all = stage.scene.channel("all", &[&leaf, &other]).await;
    let mut to_leaf = stage.now_on(&stage.scene.caller(&leaf)).await;
    let mut to_other = stage.now_on(&stage.scene.caller(&other)).await;
    let below = stage.scene.say(&anas, tree, "t", "below").await;
    let canary = stage.scene.say(&leaf, all, "t", "canary").await;
    assert_eq!(next_posted(&mut to_leaf).await, below);
    assert_eq!(next_posted(&mut to_leaf).await, canary);
    assert_eq!(next_posted(&mut to_other).await, canary);
}

/// EV-15: the stream shows each event to exactly those whom the read of the same thing shows it.
pub async fn every_event_is_seen_by_whom_the_read_shows_it_on_random_worlds(fixture: &Fixture) {
    let stage = Stage::new(fixture);
    let world = RandomWorld::build(&stage.scene, 23).await;
    let mut streams = Vec::new();
    for viewer in &world.accounts {
        streams.push((viewer, stage.now_on(&stage.scene.caller(viewer)).await));
    }
    let mut channels = Vec::new();
    for (id, _) in &world.channels {
        let channel = stage.scene.read().await.find_channel(*id).await.unwrap().expect("the channel");
        stage.publish(Event::ChannelChanged { channel: Arc::new(channel), removed: Vec::new() });
        let name = TopicName::parse("t").expect("a name");
        let topic =
            Topic::new(TopicId::from_bytes(*id.as_bytes()), *id, name, world.accounts[0].id, UnixMillis(1));
        stage.publish(Event::TopicUpserted(Arc::new(topic)));
        channels.push(*id);
    }
    for account in &world.accounts {
        stage.publish(Event::AccountChanged(Arc::new(account.clone())));
        if account.is_agent() {
            let (presence, activity) = (Presence::Idle, String::new());
            stage.publish(Event::AgentPresenceChanged { agent: account.id, presence, activity });
        }
    }
    stage.comms.bus.close();
    for (viewer, mut stream) in streams {
        let (mut seen_channels, mut topics) = (BTreeSet::new(), BTreeSet::new());
        let (mut accounts, mut presences) = (BTreeSet::new(), BTreeSet::new());
        loop {
            match stream.next().await {
                StreamItem::Event(published) => match &published.event {
                    Event::ChannelChanged { channel, .. } => drop(seen_channels.insert(channel.id)),
                    Event::TopicUpserted(topic) => drop(topics.insert(topic.channel)),
                    Event::AccountChanged(account) => drop(accounts.insert(account.id)),
                    Event::AgentPresenceChanged { agent, .. } => drop(presences.insert(*agent)),
                    other => panic!("{other:?} was not published"),
                },
                StreamItem::End => break,
                other => panic!("an event or the end, not {other:?}"),
            }
        }
        let mut read = stage.scene.read().await;
        let who = &viewer.handle;
        let listed = read.list_channels(viewer.actor()).await.unwrap();
        assert_eq!(seen_channels, listed.iter().map(|channel| channel.id).collect(), "{who}");
        let part = read.participating(viewer.id, &channels).await.unwrap();
        assert_eq!(topics, part.into_iter().collect(), "{who}");
        let listed = read.list_accounts(viewer.actor()).await.unwrap();
        assert_eq!(accounts, listed.iter().map(|account| account.id).collect(), "{who}");
        let mates = read.channel_mates(viewer.id).await.unwrap();
        let agents = world.accounts.iter().filter(|account| account.is_agent()).map(|account| account.id);
        assert_eq!(presences, agents.filter(|agent| mates.contains(agent)).collect(), "{who}");
    }
}

/// 7.4-12, EV-18: who sees a channel through a shared group is told of it, and of none of its messages.
pub async fn a_shared_channel_is_told_to_everyone_and_its_messages_to_its_members(fixture: &Fixture) {
    let stage = Stage::new(fixture);
    let (anas, bens) = (stage.scene.user("ana").await, stage.scene.user("ben").await);
    let (ana, ben) = (stage.scene.caller(&anas), stage.scene.caller(&bens));
    let public = CreateGroup { name: "public".into(), parent: None, visibility: Visibility::Shared };
    let group = create_group(&stage.comms, &ana, public).await.expect("a group").id;
    let mut bens_stream = stage.now_on(&ben).await;
    let create = |name: &str, group| CreateChannel {
        name: name.into(),
        group,
        members: Vec::new(),
        member_handles: Vec::new(),
        mode: Mode::Flat,
    };
    let hidden = create_channel(&stage.comms, &ana, create("hidden", None)).await.expect("a channel");
    let shared = create("shared", Some(GroupRef::Id(group)));
    let shared = create_channel(&stage.comms, &ana, shared).await.expect("a channel");
    stage.scene.say(&anas, hidden.id, "t", "text").await;
    stage.scene.say(&anas, shared.id, "t", "text").await;
    let other = create_channel(&stage.comms, &ana, create("other", Some(GroupRef::Id(group)))).await;
    let other = other.expect("a channel");
    // The messages came in between.
    for seen in [shared.id, other.id] {
        let Event::ChannelChanged { channel, .. } = next(&mut bens_stream).await else { panic!("a channel") };
        assert_eq!((channel.id, channel.members.len()), (seen, 1), "its members are shown to all");
    }
    let update =
        UpdateMembers { add_handles: vec!["ben".into()], ..UpdateMembers::of(ChannelRef::Id(shared.id)) };
    update_members(&stage.comms, &ana, update).await.expect("ben is added");
    let Event::ChannelChanged { channel, .. } = next(&mut bens_stream).await else { panic!("the channel") };
    assert_eq!((channel.id, channel.members.len()), (shared.id, 2));
    let after = stage.scene.say(&anas, shared.id, "t", "for ben, too").await;
    assert_eq!(next_posted(&mut bens_stream).await, after);
}
