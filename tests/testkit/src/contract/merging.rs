//! Topics that become one: what the survivor is, where the other leads, and the races of merges.

use std::{collections::BTreeSet, sync::Arc};

use compass_comms::{
    Caller, Comms,
    ports::{MovedTopic, TopicSummary},
    topics::{
        list_topics_of_channels::{ListTopicsOfChannels, list_topics_of_channels},
        update_topic::{self, UpdateTopic, update_topic},
    },
};
use compass_domain::{
    Account, AccountId, ChannelId, Event, MessageId, Seq, Topic, TopicId, topic::LISTED_PARTICIPANTS,
};
use compass_ports::{WriteJob, submit};
use tokio::{sync::Barrier, task::JoinHandle};
use tokio_util::task::TaskTracker;

use super::{
    cancel_table::next,
    topics::{archived, found, named, renamed, update},
};
use crate::{Fixture, Scene, drafts, world::page_of};

const TRIALS: usize = 20;

/// Every topic of a channel says of its messages what they are.
async fn check_summaries(scene: &Scene, channel: ChannelId, what: &str) {
    let mut messages = scene.messages(channel).await;
    assert!(messages.len() < 200, "one page holds the channel");
    messages.reverse();
    for TopicSummary { topic, open_asks } in scene.read().await.list_topics(&[channel], true).await.unwrap() {
        let own: Vec<_> = messages.iter().filter(|message| message.topic() == topic.id).collect();
        let mut authors: Vec<AccountId> = Vec::new();
        for message in &own {
            if !authors.contains(&message.author()) {
                authors.push(message.author());
            }
        }
        authors.truncate(LISTED_PARTICIPANTS);
        let open = own.iter().flat_map(|message| message.asks()).filter(|ask| ask.is_open()).count();
        let newest = own.last().expect("a topic has messages");
        let expected = (own.len() as u64, newest.seq(), newest.at(), authors, open as u32);
        let Topic { message_count, last_seq, last_activity, participants, .. } = Topic::clone(&topic);
        assert_eq!(
            (message_count, last_seq, last_activity, participants, open_asks),
            expected,
            "{what}: {}",
            topic.name
        );
    }
    let topics: BTreeSet<TopicId> = messages.iter().map(|message| message.topic()).collect();
    let listed = scene.read().await.list_topics(&[channel], true).await.unwrap();
    assert_eq!(topics, listed.iter().map(|summary| summary.topic.id).collect(), "{what}");
}

/// TP-12, TP-16 and the summaries of the survivor.
pub async fn a_taken_name_joins_two_topics_and_the_survivor_sums_them_up(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let mut people = Vec::new();
    for handle in ["ana", "ben", "cleo", "dan", "eve", "fay", "gus"] {
        people.push(scene.user(handle).await);
    }
    let members: Vec<&Account> = people.iter().collect();
    let room = scene.channel("room", &members).await;
    let mut texts = Vec::new();
    for (author, topic) in [
        (0, "plan"),
        (1, "budget"),
        (2, "plan"),
        (3, "plan"),
        (1, "plan"),
        (4, "plan"),
        (5, "plan"),
        (6, "budget"),
    ] {
        texts.push(scene.say(&people[author], room, topic, "text").await);
    }
    let (source, target) = (texts[0].topic(), texts[1].topic());
    let untouched = scene.say(&people[0], room, "other", "text").await;
    let before = found(&scene, target).await.unwrap().topic;
    let mut events = scene.bus.tap();
    let after = update(&scene, &people[3], renamed(source, "BUDGET")).await.unwrap();
    assert_eq!(after.topic.id, target);
    assert_eq!(
        (&after.topic.name, after.topic.created_by),
        (&before.name, before.created_by),
        "first spelling"
    );
    assert_eq!((after.topic.message_count, after.topic.last_seq), (8, Seq(8)));
    let authors: Vec<AccountId> = people[..5].iter().map(|person| person.id).collect();
    assert_eq!(after.topic.participants, authors);
    assert_eq!(found(&scene, target).await, Some(after.clone()));
    assert_eq!((found(&scene, source).await, named(&scene, room, "plan").await), (None, None));
    check_summaries(&scene, room, "after the merge").await;
    let page = compass_comms::ports::MessagePage { topic: Some(target), ..page_of(room) };
    let listed = scene.read().await.list_messages(&page).await.unwrap();
    let ids: Vec<MessageId> = listed.iter().rev().map(|message| message.id()).collect();
    assert_eq!(
        ids,
        texts.iter().map(|message| message.id()).collect::<Vec<_>>(),
        "in the order of their seqs"
    );
    assert_eq!(scene.message(untouched.id()).await, untouched);
    let merged = Event::TopicMerged { from: source, into: Arc::clone(&after.topic) };
    assert_eq!(next(&mut *events).await, merged);
    assert_eq!(next(&mut *events).await, Event::TopicUpserted(after.topic));
    let canary = scene.say(&people[0], room, "budget", "canary").await;
    assert_eq!(next(&mut *events).await, Event::MessagePosted(canary), "and nothing else");
    check_summaries(&scene, room, "after another post").await;
}

/// TP-12: a flag that was asked for is the survivor's, otherwise it keeps its own.
pub async fn the_archive_flag_of_a_merge_applies_to_the_survivor(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    for (asked, target_is, survivor_is) in
        [(None, true, true), (None, false, false), (Some(false), true, false), (Some(true), false, true)]
    {
        let source = scene.say(&ana, room, "source", "text").await.topic();
        let target = scene.say(&ana, room, "target", "text").await.topic();
        update(&scene, &ana, archived(target, target_is)).await.unwrap();
        let merge = UpdateTopic { archived: asked, ..renamed(source, "target") };
        let after = update(&scene, &ana, merge).await.unwrap();
        assert_eq!((after.topic.id, after.topic.archived), (target, survivor_is), "{asked:?} {target_is}");
        assert_eq!(found(&scene, target).await, Some(after));
    }
}

/// Where topics went that were joined to others, as someone who asks for these channels is told; by id.
async fn moved(scene: &Scene, by: &Account, channels: &[ChannelId]) -> Vec<(TopicId, TopicId)> {
    let list = ListTopicsOfChannels { channels: channels.iter().copied().map(Some).collect() };
    let listed = list_topics_of_channels(&scene.comms(), &scene.caller(by), list).await.unwrap();
    pairs_of(listed.moved)
}

fn pairs_of(moved: Vec<MovedTopic>) -> Vec<(TopicId, TopicId)> {
    let mut pairs: Vec<_> = moved.into_iter().map(|moved| (moved.topic, moved.into)).collect();
    pairs.sort_unstable();
    pairs
}

fn sorted<const N: usize>(mut pairs: [(TopicId, TopicId); N]) -> [(TopicId, TopicId); N] {
    pairs.sort_unstable();
    pairs
}

/// What was joined to a topic goes on with it, also into one that has its own; another channel's go nowhere.
pub async fn a_joined_topic_leads_to_where_its_messages_are_after_any_number_of_merges(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (room, other) = (scene.channel("room", &[&ana]).await, scene.channel("other", &[&ana]).await);
    let mut topics = Vec::new();
    for name in ["one", "two", "three", "four", "five"] {
        topics.push(scene.say(&ana, room, name, "text").await.topic());
    }
    let [one, two, three, four, five] = topics[..] else { panic!("five topics") };
    let elsewhere = scene.say(&ana, other, "one", "text").await.topic();
    let stays = scene.say(&ana, other, "two", "text").await.topic();
    assert_eq!(moved(&scene, &ana, &[room, other]).await, []);
    update(&scene, &ana, renamed(elsewhere, "two")).await.unwrap();
    for (from, name, expected) in [
        (one, "two", &sorted([(one, two)])[..]),
        (three, "four", &sorted([(one, two), (three, four)])),
        (two, "FOUR", &sorted([(one, four), (three, four), (two, four)])),
        // A new name is no end.
        (four, "new", &sorted([(one, four), (three, four), (two, four)])),
        (four, "five", &sorted([(one, five), (three, five), (two, five), (four, five)])),
    ] {
        update(&scene, &ana, renamed(from, name)).await.unwrap();
        assert_eq!(moved(&scene, &ana, &[room]).await, expected, "{name}");
    }
    assert_eq!(moved(&scene, &ana, &[other]).await, [(elsewhere, stays)]);
    let listed = scene.read().await.list_moved_topics(&[other, room]).await.unwrap();
    assert_eq!(listed.len(), 5);
    let of_room: Vec<TopicId> =
        listed.iter().map(|moved| moved.topic).filter(|topic| *topic != elsewhere).collect();
    assert!(of_room.is_sorted(), "by id in a channel");
    let at = listed.iter().position(|moved| moved.topic == elsewhere);
    assert_eq!(at, Some(if other < room { 0 } else { 4 }), "channel by channel");
    assert_eq!(scene.read().await.list_moved_topics(&[]).await.unwrap(), []);
}

/// The archive hides neither the topic that is gone nor the one that it went to.
pub async fn a_joined_topic_leads_to_an_archived_one_too(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let source = scene.say(&ana, room, "source", "text").await.topic();
    let target = scene.say(&ana, room, "target", "text").await.topic();
    for topic in [source, target] {
        update(&scene, &ana, archived(topic, true)).await.unwrap();
    }
    let after = update(&scene, &ana, renamed(source, "target")).await.unwrap();
    assert!(after.topic.archived);
    assert_eq!(moved(&scene, &ana, &[room]).await, [(source, target)]);
}

/// Only who takes part learns where a topic went, and a merge that was refused moved nothing.
pub async fn where_a_topic_went_is_told_to_those_who_take_part(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let (room, bens) = (scene.channel("room", &[&ana]).await, scene.channel("bens", &[&ben]).await);
    let source = scene.say(&ana, room, "source", "text").await.topic();
    let target = scene.say(&ana, room, "target", "text").await.topic();
    update(&scene, &ben, renamed(source, "target")).await.unwrap_err();
    assert_eq!(moved(&scene, &ana, &[room]).await, []);
    update(&scene, &ana, renamed(source, "target")).await.unwrap();
    assert_eq!(moved(&scene, &ana, &[room, bens]).await, [(source, target)]);
    assert_eq!(moved(&scene, &ben, &[room, bens]).await, []);
}

/// Open asks move with their messages, and an answer follows them.
pub async fn an_ask_in_a_merged_topic_is_counted_and_answered_in_the_survivor(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana, &bot]).await;
    let (asked, ask) = scene.ask(&bot, room, drafts::yes_or_no()).await;
    let target = scene.say(&ana, room, "target", "text").await.topic();
    let after = update(&scene, &ana, renamed(asked.topic(), "target")).await.unwrap();
    assert_eq!((after.topic.id, after.open_asks), (target, 1));
    assert_eq!(scene.open_asks(&ana).await, [asked.id()]);
    let (closed, answer) = scene.answer(&ana, ask, drafts::yes()).await.unwrap();
    assert_eq!((closed.topic(), answer.topic()), (target, target));
    assert_eq!(found(&scene, target).await.unwrap().open_asks, 0);
    check_summaries(&scene, room, "after the answer").await;
}

/// Runs two things at once, behind one barrier.
async fn at_once<A, B>(
    one: impl Future<Output = A> + Send + 'static,
    other: impl Future<Output = B> + Send + 'static,
) -> (A, B)
where
    A: Send + 'static,
    B: Send + 'static,
{
    let (barrier, tasks) = (Arc::new(Barrier::new(2)), TaskTracker::new());
    let (first, second) = (Arc::clone(&barrier), barrier);
    let one: JoinHandle<A> = tasks.spawn(async move {
        first.wait().await;
        one.await
    });
    let other: JoinHandle<B> = tasks.spawn(async move {
        second.wait().await;
        other.await
    });
    (one.await.expect("the task ends"), other.await.expect("the task ends"))
}

fn updating(
    scene: &Scene,
    by: &Account,
    update: UpdateTopic,
) -> impl Future<Output = Result<TopicSummary, update_topic::Error>> + Send + 'static {
    let (comms, caller): (Comms, Caller) = (scene.comms(), scene.caller(by));
    async move { update_topic(&comms, &caller, update).await }
}

fn submitting<J: WriteJob + 'static>(
    scene: &Scene,
    job: J,
) -> impl Future<Output = Result<J::Outcome, J::Error>> + Send + 'static {
    let (writer, tenant) = (Arc::clone(&scene.second), scene.tenant.clone());
    async move { submit(&*writer, &tenant, job).await }
}

/// Two topics of a fresh channel that are given these names at once; what they were and what each came to.
async fn named_at_once(
    scene: &Scene,
    by: &Account,
    trial: usize,
    names: [&str; 2],
) -> (ChannelId, [TopicId; 2], [TopicSummary; 2]) {
    let room = scene.channel(&format!("room {trial}"), &[by]).await;
    let one = scene.say(by, room, "one", "text").await.topic();
    let two = scene.say(by, room, "two", "text").await.topic();
    let (first, second) =
        at_once(updating(scene, by, renamed(one, names[0])), updating(scene, by, renamed(two, names[1])))
            .await;
    (room, [one, two], [first, second].map(|named| named.expect("a name")))
}

/// TP-13: an answer that races a merge finds its ask, and lands in the survivor.
pub async fn an_answer_racing_a_merge_lands_in_the_survivor(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    for trial in 0..TRIALS {
        let room = scene.channel(&format!("room {trial}"), &[&ana, &bot]).await;
        let (asked, ask) = scene.ask(&bot, room, drafts::yes_or_no()).await;
        let target = scene.say(&ana, room, "target", "text").await.topic();
        let answer = submitting(&scene, scene.answer_job(&ana, ask, drafts::yes()));
        let (answer, merge) = at_once(answer, updating(&scene, &ana, renamed(asked.topic(), "target"))).await;
        let answer = answer.unwrap_or_else(|error| panic!("trial {trial}: {error}")).1;
        assert_eq!(merge.expect("the topics are joined").topic.id, target, "trial {trial}");
        for message in [asked.id(), answer.id()] {
            assert_eq!(scene.message(message).await.topic(), target, "trial {trial}");
        }
        assert_eq!(found(&scene, asked.topic()).await, None, "trial {trial}");
        check_summaries(&scene, room, &format!("trial {trial}")).await;
    }
}

/// A cancel locks the message alone, a merge moves it.
pub async fn a_cancel_racing_a_merge_loses_neither(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    for trial in 0..TRIALS {
        let room = scene.channel(&format!("room {trial}"), &[&ana, &bot]).await;
        let (asked, ask) = scene.ask(&bot, room, drafts::yes_or_no()).await;
        let target = scene.say(&ana, room, "target", "text").await.topic();
        let cancel = submitting(&scene, scene.cancel_job(&bot, ask));
        let (cancel, merge) = at_once(cancel, updating(&scene, &ana, renamed(asked.topic(), "target"))).await;
        assert!(cancel.unwrap_or_else(|error| panic!("trial {trial}: {error}")), "trial {trial}");
        merge.expect("the topics are joined");
        let stored = scene.message(asked.id()).await;
        assert_eq!(stored.topic(), target, "trial {trial}");
        assert!(stored.asks().all(|ask| !ask.is_open()), "trial {trial}");
        check_summaries(&scene, room, &format!("trial {trial}")).await;
    }
}

/// A post by name that races a merge of that topic is counted once, in whichever topic holds it.
pub async fn posts_racing_a_merge_are_all_stored_and_counted(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    for trial in 0..TRIALS {
        let room = scene.channel(&format!("room {trial}"), &[&ana]).await;
        let source = scene.say(&ana, room, "source", "text").await.topic();
        scene.say(&ana, room, "target", "text").await;
        let jobs: Vec<_> = ["source", "target", "source"]
            .into_iter()
            .map(|name| scene.post_job(&ana, room, name, vec![drafts::text("more")], None).0)
            .collect();
        let (writer, tenant) = (Arc::clone(&scene.second), scene.tenant.clone());
        let posts = async move {
            for job in jobs {
                submit(&*writer, &tenant, job).await?;
            }
            Ok::<(), crate::jobs::JobError>(())
        };
        let (posts, merge) = at_once(posts, updating(&scene, &ana, renamed(source, "target"))).await;
        posts.unwrap_or_else(|error| panic!("trial {trial}: {error}"));
        merge.expect("the topics are joined");
        assert_eq!(scene.messages(room).await.len(), 5, "trial {trial}");
        check_summaries(&scene, room, &format!("trial {trial}")).await;
    }
}

/// TP-13: two merges against each other do not deadlock and leave one topic.
pub async fn opposing_merges_leave_one_topic_with_all_messages(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    for trial in 0..TRIALS {
        let (room, [one, two], [first, second]) = named_at_once(&scene, &ana, trial, ["two", "one"]).await;
        // The later one finds the name it wanted free again and takes it.
        assert_eq!(first.topic.id, second.topic.id, "trial {trial}");
        let left = scene.read().await.list_topics(&[room], true).await.unwrap();
        assert_eq!(left.len(), 1, "trial {trial}");
        assert_eq!(left[0].topic.message_count, 2, "trial {trial}");
        let left = left[0].topic.id;
        let gone = if left == one { two } else { one };
        assert_eq!(moved(&scene, &ana, &[room]).await, [(gone, left)], "trial {trial}");
        check_summaries(&scene, room, &format!("trial {trial}")).await;
    }
}

/// Two topics that take one free name at once become one.
pub async fn two_renames_to_one_free_name_become_one_topic(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    for trial in 0..TRIALS {
        let (room, ..) = named_at_once(&scene, &ana, trial, ["new", "NEW"]).await;
        let left = scene.read().await.list_topics(&[room], true).await.unwrap();
        assert_eq!(
            left.iter().map(|summary| summary.topic.message_count).collect::<Vec<_>>(),
            [2],
            "trial {trial}"
        );
        check_summaries(&scene, room, &format!("trial {trial}")).await;
    }
}
