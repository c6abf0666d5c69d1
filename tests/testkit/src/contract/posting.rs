//! Posts: order, topics, keys, and jobs beside each other.

use std::{
    collections::BTreeSet,
    future::Future,
    pin::pin,
    sync::{Arc, atomic::AtomicBool, atomic::Ordering},
    task::Poll,
};

use compass_comms::ports::MessagePage;
use compass_domain::{
    ChannelId, Classified, ErrorKind, Message, NewMessage, Seq, Topic, UnixMillis, channel::PostPolicy,
    message::Placement, topic::TopicSelector,
};
use compass_ports::{Ids, Locks, StorageError, TopicWrite, Writes, submit};
use tokio::task::JoinSet;

use super::messages::archive;
use crate::{
    ChannelSpec, Fixture, Scene, drafts,
    jobs::{JobError, Post, Raw},
    world::{page_of, topic_named},
};

/// M1: dense from 1, and the order of positions is the order of seqs.
pub async fn seqs_are_dense_in_order_and_follow_positions_under_concurrency(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let rooms = [scene.channel("one", &[&ana]).await, scene.channel("two", &[&ana]).await];
    let mut tasks = JoinSet::new();
    for number in 0..60 {
        let (job, _) = scene.post_job(&ana, rooms[number % 2], "t", vec![drafts::text("text")], None);
        let writer = Arc::clone(if number % 3 == 0 { &scene.second } else { &scene.writer });
        let tenant = scene.tenant.clone();
        tasks.spawn(async move { submit(&*writer, &tenant, job).await });
    }
    let posted = tasks.join_all().await;
    assert!(posted.iter().all(Result::is_ok), "{posted:?}");
    for room in rooms {
        let seqs: Vec<u64> = scene.messages(room).await.iter().rev().map(|message| message.seq().0).collect();
        assert_eq!(seqs, (1..=30).collect::<Vec<u64>>());
        let topic = scene.read().await.find_topic_named(room, "t").await.unwrap().unwrap().topic;
        assert_eq!((topic.last_seq, topic.message_count), (Seq(30), 30));
    }
    let last = scene.read().await.last_position().await.unwrap();
    let mut read = scene.read().await;
    let mut before = 0;
    for bound in 0..=last.0 {
        let page = MessagePage { snapshot: Some(compass_domain::Position(bound)), ..page_of(rooms[0]) };
        let found = read.list_messages(&page).await.unwrap();
        assert!(found.len() == before || found.len() == before + 1, "positions follow seqs");
        assert!(found.first().is_none_or(|newest| newest.seq().0 == found.len() as u64));
        before = found.len();
    }
    assert_eq!(before, 30);
}

/// M7.
pub async fn the_time_of_a_channel_never_goes_back(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let mut times = Vec::new();
    for now in [2_000, 1_000, 3_000] {
        let (job, _) = scene.post_job(&ana, room, "t", vec![drafts::text("text")], None);
        let posted = scene.submit(Post { now: UnixMillis(now), ..job }).await.unwrap();
        times.push(posted.message.at().0);
    }
    assert_eq!(times, [2_000, 2_000, 3_000]);
}

/// TP-5.
pub async fn two_first_posts_by_name_make_one_topic(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    for trial in 0..10 {
        let (lower, upper) = (format!("topic {trial}"), format!("TOPIC {trial}"));
        let (one, _) = scene.post_job(&ana, room, &lower, vec![drafts::text("1")], None);
        let (other, _) = scene.post_job(&ana, room, &upper, vec![drafts::text("2")], None);
        let (one, other) = tokio::join!(
            submit(&*scene.writer, &scene.tenant, one),
            submit(&*scene.second, &scene.tenant, other)
        );
        let (one, other) = (one.unwrap().message, other.unwrap().message);
        assert_eq!(one.topic(), other.topic());
        let topic = scene.read().await.find_topic(one.topic()).await.unwrap().unwrap().topic;
        let first = if one.seq() < other.seq() { lower } else { upper };
        assert_eq!(topic.name.as_str(), first, "the first spelling stays");
    }
}

/// TP-6.
pub async fn a_post_by_name_revives_a_topic_and_one_by_id_does_not(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let first = scene.say(&ana, room, "t", "1").await;
    archive(&scene, room, "t").await;
    let (by_id, _) = scene.post_job(&ana, room, "t", vec![drafts::text("2")], None);
    scene.submit(Post { topic: TopicSelector::Id(first.topic()), ..by_id }).await.unwrap();
    let is_archived =
        || async { scene.read().await.find_topic(first.topic()).await.unwrap().unwrap().topic.archived };
    assert!(is_archived().await);
    scene.say(&ana, room, "T", "3").await;
    assert!(!is_archived().await);
}

/// TP-7.
pub async fn a_topic_of_another_channel_is_refused(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (room, other) = (scene.channel("room", &[&ana]).await, scene.channel("other", &[&ana]).await);
    let elsewhere = scene.say(&ana, other, "t", "text").await;
    let (job, _) = scene.post_job(&ana, room, "t", vec![drafts::text("text")], None);
    let refused = scene.submit(Post { topic: TopicSelector::Id(elsewhere.topic()), ..job }).await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(scene.messages(room).await, []);
}

/// CH-25, CH-41, and the TREE case CH-27.
pub async fn only_participants_post_and_only_the_owner_where_the_policy_says_so(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let top = scene.agent("top", &ana).await;
    let (inside, outside) = (scene.child("inside", &top).await, scene.agent("outside", &ana).await);
    let tree = scene.tree("tree", &top).await;
    let spec = ChannelSpec::new("owned", &[&ana, &ben]);
    let owned =
        scene.channel_with(ChannelSpec { policy: PostPolicy::OwnerOnly { owner: ana.id }, ..spec }).await;
    for (author, channel, allowed) in [
        (&top, tree, true),
        (&inside, tree, true),
        (&ana, tree, true),
        (&outside, tree, false),
        (&ben, tree, false),
        (&ana, owned, true),
        (&ben, owned, false),
    ] {
        let result = scene.say_with_key(author, channel, "t", "text", None).await;
        let refused = result.err().map(|error| error.kind());
        assert_eq!(refused, (!allowed).then_some(ErrorKind::NotFound), "{}", author.handle);
    }
    assert_eq!((scene.messages(tree).await.len(), scene.messages(owned).await.len()), (3, 1));
}

/// M4: looked up before a seq is taken.
pub async fn the_same_key_and_body_return_the_first_message_and_leave_no_gap(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let first = scene.say_with_key(&ana, room, "t", "text", Some("key")).await.unwrap();
    let again = scene.say_with_key(&ana, room, "t", "text", Some("key")).await.unwrap();
    assert_eq!((first.inserted, again.inserted), (true, false));
    assert_eq!(again.message, first.message);
    let next = scene.say(&ana, room, "t", "next").await;
    assert_eq!(next.seq(), Seq(2));
    let topic = scene.read().await.find_topic(next.topic()).await.unwrap().unwrap().topic;
    assert_eq!(topic.message_count, 2);
}

/// M4: the row as it is now.
pub async fn the_same_key_and_body_return_the_end_of_the_ask_too(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let blocks = || vec![compass_domain::message::DraftBlock::Ask(drafts::yes_or_no())];
    let (first, asks) = scene.post_job(&ana, room, "t", blocks(), Some("key"));
    let first = scene.submit(first).await.unwrap().message;
    let (closed, _) = scene.answer(&ana, asks[0], drafts::yes()).await.unwrap();
    let (again, _) = scene.post_job(&ana, room, "t", blocks(), Some("key"));
    let again = scene.submit(again).await.unwrap();
    assert!(!again.inserted);
    assert_eq!(again.message.id(), first.id());
    assert_eq!(again.message, closed);
}

/// M4.
pub async fn the_same_key_with_another_body_is_refused(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (room, other) = (scene.channel("room", &[&ana]).await, scene.channel("other", &[&ana]).await);
    scene.say_with_key(&ana, room, "t", "text", Some("key")).await.unwrap();
    for (channel, topic, text) in [(room, "t", "other"), (room, "other", "text"), (other, "t", "text")] {
        let refused = scene.say_with_key(&ana, channel, topic, text, Some("key")).await;
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Conflict, "{channel} {topic} {text}");
    }
    assert_eq!((scene.messages(room).await.len(), scene.messages(other).await.len()), (1, 0));
}

/// M4: no channel lock covers both channels, so the unique index decides.
pub async fn a_key_is_unique_over_channels_under_concurrency(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let rooms = [scene.channel("one", &[&ana]).await, scene.channel("two", &[&ana]).await];
    for trial in 0..20 {
        let key = format!("key {trial}");
        let post =
            |room: ChannelId| scene.post_job(&ana, room, "t", vec![drafts::text("text")], Some(&key)).0;
        let (one, other) = tokio::join!(
            submit(&*scene.writer, &scene.tenant, post(rooms[0])),
            submit(&*scene.second, &scene.tenant, post(rooms[1]))
        );
        let kinds: Vec<Option<ErrorKind>> =
            [&one, &other].map(|result| result.as_ref().err().map(Classified::kind)).to_vec();
        assert_eq!(kinds.iter().filter(|kind| kind.is_none()).count(), 1, "trial {trial}: {kinds:?}");
        assert!(kinds.contains(&Some(ErrorKind::Conflict)), "trial {trial}: {kinds:?}");
    }
    let stored = scene.messages(rooms[0]).await.len() + scene.messages(rooms[1]).await.len();
    assert_eq!(stored, 20);
    for room in rooms {
        let messages = scene.messages(room).await;
        let seqs: BTreeSet<u64> = messages.iter().map(|message| message.seq().0).collect();
        assert_eq!(seqs, (1..=messages.len() as u64).collect(), "the loser leaves no gap");
    }
}

/// 4.6-3.
pub async fn the_keys_of_two_authors_do_not_meet(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana, &ben]).await;
    for author in [&ana, &ben] {
        assert!(scene.say_with_key(author, room, "t", "text", Some("key")).await.unwrap().inserted);
    }
    assert_eq!(scene.messages(room).await.len(), 2);
}

/// TP-5, 3-11.
pub async fn a_repeat_leaves_no_new_topic(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    scene.say_with_key(&ana, room, "t", "text", Some("key")).await.unwrap();
    scene.say_with_key(&ana, room, "brand new", "text", Some("key")).await.unwrap_err();
    assert_eq!(scene.read().await.list_topics(&[room], true).await.unwrap().len(), 1);
}

/// 4.6-4.
pub async fn posts_without_a_key_are_all_stored(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    for _ in 0..2 {
        assert!(scene.say_with_key(&ana, room, "t", "text", None).await.unwrap().inserted);
    }
    assert_eq!(scene.messages(room).await.len(), 2);
}

/// The rows hold these rules whatever a job decides.
pub async fn a_message_id_a_seq_and_a_topic_name_are_taken_once(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let first = scene.say(&ana, room, "t", "text").await;
    let place = |id, seq| Placement { id, channel: room, topic: first.topic(), seq, at: first.at(), run: 0 };
    let locks = || Locks::Post { channel: room, author: ana.id, topic: topic_named("t"), key: None };
    for placement in [place(first.id(), Seq(2)), place(scene.ids.message(), first.seq())] {
        let new = new_text(&scene, &ana, placement);
        let job = Raw::new(locks(), move |_| {
            let mut writes = Writes::none();
            writes.append(new.clone());
            writes
        });
        let refused = scene.submit(job).await;
        assert!(matches!(refused, Err(StorageError::Conflict(_))), "{placement:?}: {refused:?}");
    }
    let name = compass_domain::TopicName::parse("T").unwrap();
    let twin = Arc::new(Topic::new(scene.ids.topic(), room, name, ana.id, first.at()));
    let job = Raw::new(locks(), move |_| {
        let mut writes = Writes::none();
        writes.put_topic(TopicWrite { topic: Arc::clone(&twin), created: true });
        writes
    });
    let refused = scene.submit(job).await;
    assert!(matches!(refused, Err(StorageError::Conflict(_))), "{refused:?}");
    assert_eq!(scene.messages(room).await, [first]);
}

/// A message of one text that is not stored.
pub(super) fn new_text(scene: &Scene, author: &compass_domain::Account, placement: Placement) -> NewMessage {
    let (content, _) = drafts::content(vec![drafts::text("raw")], &*scene.ids);
    NewMessage::post(author.actor(), &content, placement, None)
}

/// A batch re-runs one job at a time when one of them fails.
pub async fn a_failed_job_leaves_the_jobs_beside_it_alone(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let first = scene.say(&ana, room, "t", "first").await;
    let mut tasks: JoinSet<Result<bool, JobError>> = JoinSet::new();
    for number in 0..24 {
        let (writer, tenant) = (Arc::clone(&scene.writer), scene.tenant.clone());
        if number % 4 == 3 {
            let seq = first.seq();
            let id = scene.ids.message();
            let place = Placement { id, channel: room, topic: first.topic(), seq, at: first.at(), run: 0 };
            let new = new_text(&scene, &ana, place);
            let locks = Locks::Post { channel: room, author: ana.id, topic: topic_named("t"), key: None };
            let job = Raw::new(locks, move |_| {
                let mut writes = Writes::none();
                writes.append(new.clone());
                writes
            });
            tasks.spawn(async move { Ok(submit(&*writer, &tenant, job).await.map(|()| true)?) });
        } else {
            let (job, _) = scene.post_job(&ana, room, "t", vec![drafts::text("text")], None);
            tasks.spawn(async move { Ok(submit(&*writer, &tenant, job).await?.inserted) });
        }
    }
    let results = tasks.join_all().await;
    let stored = results.iter().filter(|result| matches!(result, Ok(true))).count();
    let refused = results.iter().filter_map(|result| result.as_ref().err());
    let refused: Vec<ErrorKind> = refused.map(Classified::kind).collect();
    assert_eq!((stored, refused.len()), (18, 6));
    assert!(refused.iter().all(|kind| *kind == ErrorKind::Conflict), "{refused:?}");
    let seqs: Vec<u64> = scene.messages(room).await.iter().rev().map(|message| message.seq().0).collect();
    assert_eq!(seqs, (1..=19).collect::<Vec<u64>>());
}

/// R5.
pub async fn a_caller_that_hangs_up_cancels_nothing(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let decided = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&decided);
    let id = scene.ids.message();
    let (topic_id, ana_actor) = (scene.ids.topic(), ana.actor());
    let (content, _) = drafts::content(vec![drafts::text("alone")], &*scene.ids);
    let name = compass_domain::TopicName::parse("t").unwrap();
    let locks = Locks::Post { channel: room, author: ana.id, topic: topic_named("t"), key: None };
    let job = Raw::new(locks, move |_| {
        seen.store(true, Ordering::SeqCst);
        let at = UnixMillis(1);
        let topic = Topic::new(topic_id, room, name.clone(), ana_actor.id, at);
        let topic = Arc::new(topic.with_message(ana_actor.id, Seq(1), at));
        let placement = Placement { id, channel: room, topic: topic_id, seq: Seq(1), at, run: 0 };
        let mut writes = Writes::none();
        writes.put_topic(TopicWrite { topic, created: true });
        writes.append(NewMessage::post(ana_actor, &content, placement, None));
        writes
    });
    {
        let mut caller = pin!(scene.submit(job));
        std::future::poll_fn(|context| {
            // One poll queues the job; whatever it returns, the caller goes away.
            drop(caller.as_mut().poll(context));
            Poll::Ready(())
        })
        .await;
    }
    let canary = scene.say(&ana, room, "t", "canary").await;
    assert!(decided.load(Ordering::SeqCst));
    let stored: Vec<_> =
        scene.messages(room).await.iter().map(|message: &Arc<Message>| message.id()).collect();
    assert_eq!(stored, [canary.id(), id]);
}
