//! How far people have read: forward only, for themselves alone, and through merges.

use std::sync::Arc;

use compass_comms::{
    channels::{
        resolve::ChannelRef,
        update_members::{UpdateMembers, update_members},
    },
    events::{Audiences, EventStream, StreamItem, SubscribeFrom, subscribe},
    topics::{
        list_topics::{ListTopics, list_topics},
        list_topics_of_channels::{self, ListTopicsOfChannels, MAX_CHANNELS, list_topics_of_channels},
        mark_read::{self, MarkRead, mark_read},
        read_positions::{self, ReadPositions, read_positions},
        update_topic::{UpdateTopic, update_topic},
    },
};
use compass_domain::{Account, ChannelId, Classified, ErrorKind, Event, ReadPosition, Seq, TopicId};
use tokio::sync::Barrier;
use tokio_util::task::TaskTracker;

use crate::{Fixture, Scene};

async fn mark(
    scene: &Scene,
    by: &Account,
    topic: TopicId,
    seq: u64,
) -> Result<ReadPosition, mark_read::Error> {
    let mark = MarkRead { topic: Some(topic), seq: Seq(seq) };
    mark_read(&scene.comms(), &scene.caller(by), mark).await
}

async fn positions(
    scene: &Scene,
    by: &Account,
    channel: Option<ChannelId>,
) -> Result<Vec<ReadPosition>, read_positions::Error> {
    read_positions(&scene.comms(), &scene.caller(by), ReadPositions { channel }).await
}

/// A place in a topic whose newest message is `newest`.
fn at(topic: TopicId, seq: u64, unread: u32, newest: u64) -> ReadPosition {
    ReadPosition { topic, seq: Seq(seq), unread, newest: Seq(newest) }
}

async fn join(scene: &Scene, by: &Account, from: TopicId, name: &str) {
    let update = UpdateTopic { topic: Some(from), name: Some(name.to_owned()), archived: None };
    update_topic(&scene.comms(), &scene.caller(by), update).await.expect("the topics are joined");
}

/// Forward only, and what others posted since.
pub async fn a_place_moves_forward_only_and_counts_what_others_posted(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana, &ben]).await;
    let topic = scene.say(&ben, room, "t", "1").await.topic();
    scene.say(&ben, room, "other", "2").await;
    for author in [&ana, &ben, &ben] {
        scene.say(author, room, "t", "3 4 5").await;
    }
    assert_eq!(
        mark(&scene, &ana, topic, 0).await.unwrap(),
        at(topic, 0, 3, 5),
        "own messages are not unread"
    );
    for (seq, expected) in
        [(4, at(topic, 4, 1, 5)), (1, at(topic, 4, 1, 5)), (4, at(topic, 4, 1, 5)), (5, at(topic, 5, 0, 5))]
    {
        assert_eq!(mark(&scene, &ana, topic, seq).await.unwrap(), expected, "{seq}");
    }
    scene.say(&ben, room, "t", "6").await;
    let mut read = scene.read().await;
    assert_eq!(read.find_read_position(ana.id, topic).await.unwrap(), Some(at(topic, 5, 1, 6)));
    assert_eq!(
        read.find_read_position(ben.id, topic).await.unwrap(),
        Some(at(topic, 0, 1, 6)),
        "each their own"
    );
    assert_eq!(read.find_read_position(ana.id, TopicId::from_bytes([9; 16])).await.unwrap(), None);
}

/// A place that no message has yet would hide what comes.
pub async fn a_place_beyond_the_newest_message_is_refused(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let topic = scene.say(&ana, room, "t", "1").await.topic();
    scene.say(&ana, room, "other", "2").await;
    let refused = mark(&scene, &ana, topic, 2).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
    assert_eq!(refused.to_string(), "channel_seq 2 is beyond the topic's newest message, which has 1");
    assert_eq!(mark(&scene, &ana, topic, u64::MAX).await.unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(positions(&scene, &ana, None).await.unwrap().iter().map(|place| place.seq.0).max(), Some(0));
}

/// Strangers learn nothing, agents have no place.
pub async fn only_a_person_that_takes_part_has_a_place(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, eve) = (scene.user("ana").await, scene.user("eve").await);
    let bot = scene.agent("bot", &ana).await;
    let tree = scene.tree("tree", &bot).await;
    let topic = scene.say(&bot, tree, "t", "text").await.topic();
    let foreign = mark(&scene, &eve, topic, 1).await.unwrap_err();
    let unknown = mark(&scene, &eve, TopicId::from_bytes([9; 16]), 1).await.unwrap_err();
    assert_eq!((foreign.kind(), foreign.to_string()), (unknown.kind(), unknown.to_string()));
    assert_eq!(foreign.kind(), ErrorKind::NotFound);
    let foreign = positions(&scene, &eve, Some(tree)).await.unwrap_err();
    let unknown = positions(&scene, &eve, Some(ChannelId::from_bytes([9; 16]))).await.unwrap_err();
    assert_eq!((foreign.kind(), foreign.to_string()), (unknown.kind(), unknown.to_string()));
    assert_eq!(foreign.kind(), ErrorKind::NotFound);
    assert_eq!(positions(&scene, &eve, None).await.unwrap(), []);
    assert_eq!(mark(&scene, &bot, topic, 1).await.unwrap_err().kind(), ErrorKind::PermissionDenied);
    assert_eq!(positions(&scene, &bot, None).await.unwrap_err().kind(), ErrorKind::PermissionDenied);
    assert_eq!(
        mark(&scene, &ana, topic, 1).await.unwrap(),
        at(topic, 1, 0, 1),
        "the owner takes part in the tree"
    );
    let listed = ListTopics { channel: ChannelRef::Id(tree), include_archived: false };
    let listed = list_topics(&scene.comms(), &scene.caller(&bot), listed).await.unwrap();
    assert_eq!((listed.topics.len(), listed.read_positions.len()), (1, 0));
}

/// All topics of a channel or of all of them; a list of topics has those it lists.
pub async fn places_are_listed_for_a_channel_and_for_all(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let (room, other) =
        (scene.channel("room", &[&ana, &ben]).await, scene.channel("other", &[&ana, &ben]).await);
    let bens = scene.channel("bens", &[&ben]).await;
    scene.say(&ben, bens, "t", "text").await;
    let mut topics = Vec::new();
    for (channel, name) in [(room, "one"), (room, "two"), (other, "three")] {
        topics.push(scene.say(&ben, channel, name, "text").await.topic());
    }
    mark(&scene, &ana, topics[1], 2).await.unwrap();
    let archive = UpdateTopic { topic: Some(topics[0]), name: None, archived: Some(true) };
    update_topic(&scene.comms(), &scene.caller(&ana), archive).await.unwrap();
    let sorted = |mut places: Vec<ReadPosition>| {
        places.sort_by_key(|place| place.topic);
        places
    };
    let in_room = sorted(vec![at(topics[0], 0, 1, 1), at(topics[1], 2, 0, 2)]);
    assert_eq!(positions(&scene, &ana, Some(room)).await.unwrap(), in_room);
    let all = sorted([in_room, vec![at(topics[2], 0, 1, 1)]].concat());
    assert_eq!(positions(&scene, &ana, None).await.unwrap(), all);
    let list = ListTopics { channel: ChannelRef::Id(room), include_archived: false };
    let listed = list_topics(&scene.comms(), &scene.caller(&ana), list).await.unwrap();
    assert_eq!(listed.read_positions, [at(topics[1], 2, 0, 2)]);
}

/// What several lists would say, in one; of channels where one takes no part nothing, as of those that are not there.
pub async fn topics_of_several_channels_are_listed_at_once(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let bot = scene.agent("bot", &ana).await;
    let (room, other) =
        (scene.channel("room", &[&ana, &ben]).await, scene.channel("other", &[&ana, &ben]).await);
    let (bens, empty) = (scene.channel("bens", &[&ben]).await, scene.channel("empty", &[&ana]).await);
    for (channel, name) in [(room, "one"), (room, "two"), (other, "three"), (room, "one"), (bens, "t")] {
        scene.say(&ben, channel, name, "text").await;
    }
    let archived = scene.say(&ben, other, "old", "text").await.topic();
    let archive = UpdateTopic { topic: Some(archived), name: None, archived: Some(true) };
    update_topic(&scene.comms(), &scene.caller(&ana), archive).await.unwrap();
    let list = async |by: &Account, channels: Vec<Option<ChannelId>>| {
        list_topics_of_channels(&scene.comms(), &scene.caller(by), ListTopicsOfChannels { channels }).await
    };
    let mut rooms = [room, other];
    rooms.sort_unstable();
    let mut singly = (Vec::new(), Vec::new());
    for channel in rooms {
        let one = ListTopics { channel: ChannelRef::Id(channel), include_archived: true };
        let one = list_topics(&scene.comms(), &scene.caller(&ana), one).await.unwrap();
        singly.0.extend(one.topics);
        singly.1.extend(one.read_positions);
    }
    singly.1.sort_by_key(|place: &ReadPosition| place.topic);
    let unknown = ChannelId::from_bytes([7; 16]);
    let named = vec![Some(other), None, Some(bens), Some(room), Some(unknown), Some(room), Some(empty)];
    let listed = list(&ana, named).await.unwrap();
    assert_eq!(listed.topics.len(), 4);
    assert_eq!((listed.topics, listed.read_positions), singly);
    let nothing = list(&ana, vec![Some(bens), None]).await.unwrap();
    assert_eq!((nothing.topics.len(), nothing.read_positions.len()), (0, 0));
    assert_eq!(list(&ana, vec![Some(room); MAX_CHANNELS]).await.unwrap().topics.len(), 2);
    for (count, text) in [(0, "channel_ids is empty"), (101, "channel_ids has 101 entries, more than 100")] {
        let refused: list_topics_of_channels::Error = list(&ana, vec![None; count]).await.unwrap_err();
        assert_eq!((refused.kind(), refused.to_string()), (ErrorKind::InvalidArgument, text.to_owned()));
    }
    let agents = list(&bot, vec![Some(room)]).await.unwrap_err();
    assert_eq!(agents.kind(), ErrorKind::PermissionDenied);
}

/// A merge marks nothing as read.
pub async fn a_merge_joins_the_places_of_everyone(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben, cleo) = (scene.user("ana").await, scene.user("ben").await, scene.user("cleo").await);
    let dan = scene.user("dan").await;
    let room = scene.channel("room", &[&ana, &ben, &cleo, &dan]).await;
    let mut topics = Vec::new();
    for name in ["source", "target", "source", "target", "source"] {
        topics.push(scene.say(&dan, room, name, "text").await.topic());
    }
    let (source, target) = (topics[0], topics[1]);
    mark(&scene, &ana, source, 5).await.unwrap();
    mark(&scene, &ana, target, 4).await.unwrap();
    mark(&scene, &ben, source, 3).await.unwrap();
    mark(&scene, &ben, target, 4).await.unwrap();
    mark(&scene, &cleo, source, 5).await.unwrap();
    join(&scene, &dan, source, "target").await;
    let mut read = scene.read().await;
    for (person, expected) in [
        (&ana, at(target, 5, 0, 5)),
        (&ben, at(target, 3, 2, 5)),
        (&cleo, at(target, 0, 5, 5)),
        (&dan, at(target, 0, 0, 5)),
    ] {
        assert_eq!(
            read.find_read_position(person.id, target).await.unwrap(),
            Some(expected),
            "{}",
            person.handle
        );
        assert_eq!(read.find_read_position(person.id, source).await.unwrap(), None);
    }
}

async fn heard(stream: &mut EventStream) -> Event {
    loop {
        match stream.next().await {
            StreamItem::Event(published) => return published.event.clone(),
            StreamItem::Boundary { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}

/// Nobody learns how far somebody else has read; a repeat is told to nobody.
pub async fn a_place_is_told_to_its_person_alone_and_only_when_it_moves(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana, &ben]).await;
    let topic = scene.say(&ben, room, "t", "text").await.topic();
    let (audiences, start) = (Arc::<Audiences>::default(), SubscribeFrom::default());
    let mut anas = subscribe(&scene.comms(), &audiences, &scene.caller(&ana), start).await;
    let mut bens = subscribe(&scene.comms(), &audiences, &scene.caller(&ben), start).await;
    for stream in [&mut anas, &mut bens] {
        assert!(matches!(heard(stream).await, Event::TopicUpserted(_)));
        assert!(matches!(heard(stream).await, Event::MessagePosted(_)));
    }
    for _ in 0..3 {
        mark(&scene, &ana, topic, 1).await.unwrap();
    }
    let canary = Event::MessagePosted(scene.say(&ben, room, "t", "canary").await);
    let moved = Event::ReadPositionChanged { account: ana.id, channel: room, topic };
    assert_eq!(heard(&mut anas).await, moved);
    assert_eq!(heard(&mut anas).await, canary);
    assert_eq!(heard(&mut bens).await, canary);
    let update =
        UpdateMembers { remove_handles: vec!["ana".into()], ..UpdateMembers::of(ChannelRef::Id(room)) };
    update_members(&scene.comms(), &scene.caller(&ben), update).await.unwrap();
    assert!(matches!(heard(&mut anas).await, Event::ChannelChanged { .. }));
    scene.bus.publish(&scene.tenant, vec![moved]);
    let other = scene.channel("other", &[&ana]).await;
    let canary = scene.say(&ana, other, "t", "canary").await;
    assert!(
        matches!(heard(&mut anas).await, Event::TopicUpserted(_)),
        "who left a channel is told no more of it"
    );
    assert_eq!(heard(&mut anas).await, Event::MessagePosted(canary));
}

/// Twenty at once: the furthest stands.
pub async fn concurrent_marks_leave_the_furthest(fixture: &Fixture) {
    const MARKS: u64 = 20;
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana, &ben]).await;
    let mut topic = None;
    for _ in 0..MARKS {
        topic = Some(scene.say(&ben, room, "t", "text").await.topic());
    }
    let topic = topic.expect("there are messages");
    let (barrier, tasks) = (Arc::new(Barrier::new(usize::try_from(MARKS).unwrap())), TaskTracker::new());
    let marks: Vec<_> = (1..=MARKS)
        .map(|seq| {
            let (comms, caller, barrier) = (scene.comms(), scene.caller(&ana), Arc::clone(&barrier));
            tasks.spawn(async move {
                barrier.wait().await;
                mark_read(&comms, &caller, MarkRead { topic: Some(topic), seq: Seq(seq) }).await
            })
        })
        .collect();
    for (seq, marked) in (1..=MARKS).zip(marks) {
        let marked = marked.await.expect("the task ends").expect("the mark is stored");
        assert!(marked.seq >= Seq(seq), "{marked:?} for {seq}");
    }
    let stored = scene.read().await.find_read_position(ana.id, topic).await.unwrap();
    assert_eq!(stored, Some(at(topic, MARKS, 0, MARKS)));
}

/// A mark that races the merge of its topic is kept or finds nothing, and never breaks the merge.
pub async fn a_mark_racing_a_merge_breaks_nothing(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    for trial in 0..20 {
        let room = scene.channel(&format!("room {trial}"), &[&ana, &ben]).await;
        let source = scene.say(&ben, room, "source", "text").await.topic();
        let target = scene.say(&ben, room, "target", "text").await.topic();
        mark(&scene, &ana, target, 2).await.unwrap();
        let (barrier, tasks) = (Arc::new(Barrier::new(2)), TaskTracker::new());
        let (comms, caller, first) = (scene.comms(), scene.caller(&ana), Arc::clone(&barrier));
        let marking = tasks.spawn(async move {
            first.wait().await;
            mark_read(&comms, &caller, MarkRead { topic: Some(source), seq: Seq(1) }).await
        });
        barrier.wait().await;
        join(&scene, &ben, source, "target").await;
        let expected = match marking.await.expect("the task ends") {
            Ok(marked) => {
                assert_eq!(marked, at(source, 1, 0, 1), "trial {trial}");
                at(target, 2, 0, 2)
            }
            Err(refused) => {
                assert_eq!(refused.kind(), ErrorKind::NotFound, "trial {trial}: {refused}");
                at(target, 0, 2, 2)
            }
        };
        let stored = scene.read().await.find_read_position(ana.id, target).await.unwrap();
        assert_eq!(stored, Some(expected), "trial {trial}");
    }
}
