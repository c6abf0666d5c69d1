//! Agents that talk among themselves: what waits for a person, and what lets it go.

use std::sync::Arc;

use compass_comms::topics::update_topic::{UpdateTopic, update_topic};
use compass_domain::{
    Account, ChannelId, Message, MessageId, TopicId, brake::AGENT_MESSAGES, delivery::Lane,
};
use compass_hub::ports::PendingQuery;

use tokio_util::task::TaskTracker;

use crate::{Fixture, Scene, drafts, world::pending_of};

/// A person, an agent that talks, and one that is delivered what it says in a room of both.
struct Talk {
    scene: Scene,
    ana: Account,
    talker: Account,
    listener: Account,
    room: ChannelId,
}

impl Talk {
    async fn new(fixture: &Fixture) -> Self {
        let scene = Scene::new(fixture);
        let ana = scene.user("ana").await;
        let (talker, listener) = (scene.agent("talker", &ana).await, scene.agent("listener", &ana).await);
        let room = scene.channel("room", &[&ana, &talker]).await;
        scene.subscribe(room, &listener).await;
        Self { scene, ana, talker, listener, room }
    }

    /// Agent messages in a topic, routed.
    async fn chatter(&self, topic: &str, number: u32) -> Vec<Arc<Message>> {
        let mut said = Vec::new();
        for number in 0..number {
            let message = self.scene.say(&self.talker, self.room, topic, &format!("{number}")).await;
            self.scene.route(message.id()).await;
            said.push(message);
        }
        said
    }

    async fn ready(&self, agent: &Account) -> Vec<(Lane, MessageId)> {
        let query = PendingQuery { include_unrouted: false, include_braked: false, ..pending_of(agent) };
        let page = self.scene.pending_by(&query).await;
        page.items.iter().map(|item| (item.lane, item.message.message.id())).collect()
    }

    async fn is_owed(&self, agent: &Account) -> bool {
        let found = self.scene.audience.owed(&self.scene.tenant, &[agent.id]).await;
        found.expect("the audience can be read") == [agent.id]
    }

    async fn is_braked(&self, topic: TopicId) -> bool {
        let found = self.scene.read().await.find_topic(topic).await.expect("topics can be read");
        found.expect("the topic is there").topic.run.is_braked()
    }
}

fn delivers(messages: &[Arc<Message>]) -> Vec<(Lane, MessageId)> {
    messages.iter().map(|message| (Lane::Deliver, message.id())).collect()
}

/// R13.
pub async fn the_31st_agent_message_waits_until_a_person_posts_and_then_all_go_in_order(fixture: &Fixture) {
    let talk = Talk::new(fixture).await;
    let mut said = talk.chatter("t", AGENT_MESSAGES - 1).await;
    let topic = said[0].topic();
    assert!(!talk.is_braked(topic).await);
    said.extend(talk.chatter("t", 4).await);
    assert!(talk.is_braked(topic).await);
    let limit = AGENT_MESSAGES as usize;
    assert_eq!(
        said.iter().map(|message| message.agent_run()).collect::<Vec<_>>(),
        (1..=33).collect::<Vec<_>>()
    );
    assert_eq!(talk.ready(&talk.listener).await, delivers(&said[..limit]));
    assert_eq!(talk.scene.pending(&talk.listener).await.items.len(), said.len(), "a start sweep takes them");
    let first: Vec<&Message> = said[..limit].iter().map(|message| &**message).collect();
    talk.scene.acknowledge(&talk.listener, &first).await;
    assert_eq!((talk.ready(&talk.listener).await, talk.is_owed(&talk.listener).await), (vec![], false));
    // Another topic of the channel is not held.
    let beside = talk.chatter("beside", 1).await;
    assert_eq!(talk.ready(&talk.listener).await, delivers(&beside));
    talk.scene.acknowledge(&talk.listener, &[&*beside[0]]).await;
    let release = talk.scene.say(&talk.ana, talk.room, "t", "go on").await;
    assert!(!talk.is_braked(topic).await);
    let mut expected = delivers(&said[limit..]);
    expected.push((Lane::Deliver, release.id()));
    assert_eq!((talk.ready(&talk.listener).await, talk.is_owed(&talk.listener).await), (expected, true));
    assert_eq!(talk.chatter("t", 1).await[0].agent_run(), 1, "a run begins anew");
}

/// R13: an answer is a person's message.
pub async fn an_answer_in_the_topic_releases_what_waits(fixture: &Fixture) {
    let talk = Talk::new(fixture).await;
    let (asked, ask) = talk.scene.ask(&talk.talker, talk.room, drafts::yes_or_no()).await;
    talk.scene.route(asked.id()).await;
    let said = talk.chatter("asks", AGENT_MESSAGES).await;
    assert_eq!(said[0].topic(), asked.topic());
    assert_eq!(talk.ready(&talk.listener).await.len(), AGENT_MESSAGES as usize);
    assert!(talk.is_braked(asked.topic()).await);
    let (_, answer) = talk.scene.answer(&talk.ana, ask, drafts::yes()).await.unwrap();
    talk.scene.route(answer.id()).await;
    assert!(!talk.is_braked(asked.topic()).await);
    let ready = talk.ready(&talk.listener).await;
    assert_eq!(ready.len(), AGENT_MESSAGES as usize + 2);
    assert_eq!(ready.last(), Some(&(Lane::Deliver, answer.id())));
}

/// R13, R7: what is owed outside the sweep set is recorded at once and waits as well.
pub async fn a_mention_beyond_the_brake_is_owed_and_waits(fixture: &Fixture) {
    let talk = Talk::new(fixture).await;
    let outside = talk.scene.agent("outside", &talk.ana).await;
    talk.scene.put_member(talk.room, &outside, false).await;
    talk.chatter("t", AGENT_MESSAGES).await;
    let mention = talk.scene.say(&talk.talker, talk.room, "t", "@outside help").await;
    assert_eq!(talk.scene.route(mention.id()).await, Some(vec![outside.id]));
    assert_eq!((talk.ready(&outside).await, talk.is_owed(&outside).await), (vec![], false));
    talk.scene.say(&talk.ana, talk.room, "t", "go on").await;
    assert_eq!(talk.ready(&outside).await, [(Lane::Steer, mention.id())]);
    assert!(talk.is_owed(&outside).await);
}

/// R13 and TP-13: the later person counts for both, and the longer run goes on.
pub async fn a_merge_keeps_the_longer_run_and_the_later_person(fixture: &Fixture) {
    let talk = Talk::new(fixture).await;
    let held = talk.chatter("held", AGENT_MESSAGES + 2).await;
    let opened = talk.scene.say(&talk.ana, talk.room, "open", "hello").await;
    let limit = AGENT_MESSAGES as usize;
    let mut expected = delivers(&held[..limit]);
    expected.push((Lane::Deliver, opened.id()));
    assert_eq!(talk.ready(&talk.listener).await, expected);
    let rename = UpdateTopic { topic: Some(held[0].topic()), name: Some("open".to_owned()), archived: None };
    update_topic(&talk.scene.comms(), &talk.scene.caller(&talk.ana), rename).await.unwrap();
    let mut expected = delivers(&held);
    expected.push((Lane::Deliver, opened.id()));
    assert_eq!(talk.ready(&talk.listener).await, expected, "a person posted after them");
    assert!(talk.is_braked(opened.topic()).await, "the longer run stays");
    let next = talk.chatter("open", 1).await;
    assert_eq!(next[0].agent_run(), AGENT_MESSAGES + 3);
    assert_eq!(talk.ready(&talk.listener).await, expected);
    talk.scene.say(&talk.ana, talk.room, "open", "go on").await;
    assert!(talk.ready(&talk.listener).await.contains(&(Lane::Deliver, next[0].id())));
}

/// R13: the built-in sender neither waits nor lets anything go.
pub async fn the_system_does_not_count(fixture: &Fixture) {
    let talk = Talk::new(fixture).await;
    let system = talk.scene.system().await;
    talk.scene.put_member(talk.room, &system, false).await;
    let said = talk.chatter("t", AGENT_MESSAGES + 1).await;
    let told = talk.scene.say(&system, talk.room, "t", "by the way").await;
    assert_eq!(told.agent_run(), 0);
    let mut expected = delivers(&said[..AGENT_MESSAGES as usize]);
    expected.push((Lane::Deliver, told.id()));
    assert_eq!(talk.ready(&talk.listener).await, expected);
}

/// The number of a run is given under the topic's lock.
pub async fn posts_beside_each_other_are_numbered_without_a_gap(fixture: &Fixture) {
    let talk = Talk::new(fixture).await;
    talk.scene.say(&talk.ana, talk.room, "t", "begin").await;
    let tasks = TaskTracker::new();
    let posts = (0..40).map(|number| {
        let (writer, tenant) = if number % 2 == 0 {
            (Arc::clone(&talk.scene.writer), talk.scene.tenant.clone())
        } else {
            (Arc::clone(&talk.scene.second), talk.scene.tenant.clone())
        };
        let blocks = vec![drafts::text("x")];
        let (job, _) = talk.scene.post_job(&talk.talker, talk.room, "t", blocks, None);
        tasks.spawn(async move { compass_ports::submit(&*writer, &tenant, job).await.unwrap().message })
    });
    let posts: Vec<_> = posts.collect();
    let mut messages = Vec::new();
    for post in posts {
        messages.push(post.await.unwrap());
    }
    messages.sort_by_key(|message| message.seq());
    let numbers: Vec<u32> = messages.iter().map(|message| message.agent_run()).collect();
    assert_eq!(numbers, (1..=40).collect::<Vec<_>>());
}
