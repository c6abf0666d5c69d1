//! A client that is as simple as a client can be, and what it shows.
//!
//! It upserts by id; it drops a channel that it lost; it reads again a channel that it gained, and the accounts when who
//! takes part in a channel changed; it counts a topic's messages by itself. Whatever else it would have to do is an event
//! that is missing or incomplete.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use compass_comms::{
    Caller, Comms,
    accounts::list_accounts::list_accounts,
    channels::{list_channels::list_channels, resolve::ChannelRef},
    events::{EventStream, StreamItem, SubscribeFrom, subscribe},
    groups::list_groups::list_groups,
    messages::list_messages::{ListMessages, list_messages},
    ports::TopicSummary,
    topics::list_topics::{self, ListTopics, list_topics},
};
use compass_domain::{
    Account, AccountId, Channel, ChannelGroup, ChannelId, Event, GroupId, Message, MessageId, Position, Seq,
    Topic, TopicId, UnixMillis,
    brake::{AGENT_MESSAGES, AgentRun},
    channel::MembershipMode,
    topic::LISTED_PARTICIPANTS,
};
use tokio::time::timeout;

use super::{PATIENCE, cast::Cast};

/// What a client shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    accounts: BTreeMap<AccountId, Account>,
    groups: BTreeMap<GroupId, ChannelGroup>,
    channels: BTreeMap<ChannelId, Channel>,
    topics: BTreeMap<TopicId, TopicSummary>,
    messages: BTreeMap<MessageId, Arc<Message>>,
}

impl View {
    /// Everything the viewer may read, messages up to `snapshot`.
    pub(super) async fn read(comms: &Comms, viewer: &Caller, snapshot: Option<Position>) -> Self {
        let mut view = Self::default();
        view.read_accounts(comms, viewer).await;
        let groups = list_groups(comms, viewer).await.expect("groups");
        view.groups = groups.into_iter().map(|group| (group.id, group)).collect();
        for channel in list_channels(comms, viewer).await.expect("channels") {
            view.read_channel(comms, viewer, channel.id, snapshot).await;
            view.channels.insert(channel.id, channel);
        }
        view
    }

    pub(super) async fn read_accounts(&mut self, comms: &Comms, viewer: &Caller) {
        let accounts = list_accounts(comms, viewer).await.expect("accounts");
        self.accounts = accounts.into_iter().map(|account| (account.id, account)).collect();
    }

    pub(super) async fn read_channel(
        &mut self,
        comms: &Comms,
        viewer: &Caller,
        channel: ChannelId,
        snapshot: Option<Position>,
    ) {
        let list = ListTopics { channel: ChannelRef::Id(channel), include_archived: true };
        match list_topics(comms, viewer, list).await {
            Ok(listed) => {
                self.topics.extend(listed.topics.into_iter().map(|summary| (summary.topic.id, summary)));
                let messages = messages_of(comms, viewer, ChannelRef::Id(channel), snapshot).await;
                self.messages.extend(messages.into_iter().map(|message| (message.id(), message)));
            }
            // Seen, and no more than that.
            Err(list_topics::Error::ChannelNotFound) => {}
            Err(error) => panic!("topics: {error}"),
        }
    }

    pub(super) fn drop_channel(&mut self, channel: ChannelId) {
        self.channels.remove(&channel);
        self.topics.retain(|_, summary| summary.topic.channel != channel);
        self.messages.retain(|_, message| message.channel() != channel);
    }

    /// The topics with what the messages in hand say about them.
    pub(super) fn counted(&self) -> BTreeMap<TopicId, TopicSummary> {
        self.topics.iter().map(|(id, summary)| (*id, self.count(summary))).collect()
    }

    pub(super) fn count(&self, summary: &TopicSummary) -> TopicSummary {
        let mut messages: Vec<&Arc<Message>> =
            self.messages.values().filter(|message| message.topic() == summary.topic.id).collect();
        messages.sort_by_key(|message| message.seq());
        let mut topic = (*summary.topic).clone();
        topic.message_count = messages.len() as u64;
        topic.last_seq = messages.last().map_or(topic.last_seq, |message| message.seq());
        topic.last_activity = messages.iter().map(|message| message.at()).max().unwrap_or(UnixMillis(0));
        topic.run = told_of(topic.run);
        topic.participants.clear();
        for message in &messages {
            let is_new = !topic.participants.contains(&message.author());
            if is_new && topic.participants.len() < LISTED_PARTICIPANTS {
                topic.participants.push(message.author());
            }
        }
        let open = messages.iter().flat_map(|message| message.asks()).filter(|ask| ask.is_open()).count();
        TopicSummary { topic: Arc::new(topic), open_asks: u32::try_from(open).expect("few asks") }
    }
}

pub(super) async fn messages_of(
    comms: &Comms,
    viewer: &Caller,
    channel: ChannelRef,
    snapshot: Option<Position>,
) -> Vec<Arc<Message>> {
    let list = ListMessages { channel, topic: None, topic_name: None, before: None, limit: 200, snapshot };
    let messages = list_messages(comms, viewer, list).await.expect("messages");
    assert!(messages.len() < 200, "one page holds all");
    messages
}

/// What a client is told of a run, which the server alone counts: whether it brakes.
pub(super) fn told_of(run: AgentRun) -> AgentRun {
    AgentRun { length: if run.is_braked() { AGENT_MESSAGES } else { 0 }, person: Seq(0) }
}

/// One viewer's client.
pub(super) struct Client {
    viewer: Caller,
    view: View,
    stream: EventStream,
}

impl Client {
    /// Subscribes, then reads.
    pub(super) async fn start(cast: &Cast, viewer: &Caller) -> Self {
        let start = SubscribeFrom::default();
        let mut stream = subscribe(&cast.comms, &cast.audiences, viewer, start).await;
        let StreamItem::Boundary { snapshot, .. } = stream.next().await else { panic!("a boundary") };
        let snapshot = (snapshot != Position(0)).then_some(snapshot);
        let view = View::read(&cast.comms, viewer, snapshot).await;
        Self { viewer: viewer.clone(), view, stream }
    }

    /// Applies what comes up to the canary.
    pub(super) async fn follow(&mut self, cast: &Cast, until: u64) {
        loop {
            let item = timeout(PATIENCE, self.stream.next()).await;
            let Ok(StreamItem::Event(published)) = item else { panic!("an event, not {item:?}") };
            self.apply(cast, &published.event).await;
            if published.seq >= until {
                assert_eq!(published.seq, until, "everyone sees the canary");
                return;
            }
        }
    }

    pub(super) async fn apply(&mut self, cast: &Cast, event: &Event) {
        match event {
            Event::MessagePosted(message) | Event::MessageUpdated(message) => {
                self.view.messages.insert(message.id(), Arc::clone(message));
            }
            Event::TopicUpserted(topic) => {
                let summary = TopicSummary { topic: Arc::clone(topic), open_asks: 0 };
                self.view.topics.insert(topic.id, summary);
            }
            Event::TopicMerged { from, into } => {
                self.view.topics.remove(from);
                self.view.read_channel(&cast.comms, &self.viewer, into.channel, None).await;
            }
            Event::ChannelChanged { channel, removed } if removed.contains(&self.viewer.actor.id) => {
                self.view.drop_channel(channel.id);
                self.view.read_accounts(&cast.comms, &self.viewer).await;
            }
            Event::ChannelChanged { channel, removed } => {
                self.channel_changed(cast, channel).await;
                // Who takes part in a tree is not all in its list of members.
                if !removed.is_empty() || matches!(channel.mode, MembershipMode::Tree { .. }) {
                    self.view.read_accounts(&cast.comms, &self.viewer).await;
                }
            }
            Event::AccountChanged(account) => {
                self.view.accounts.insert(account.id, Account::clone(account));
            }
            Event::ChannelGroupChanged(group) => {
                self.view.groups.insert(group.id, ChannelGroup::clone(group));
            }
            Event::AgentPresenceChanged { .. } | Event::ReadPositionChanged { .. } => {}
            Event::MessageSettled { .. }
            | Event::ActivityChanged { .. }
            | Event::AgentSessionChanged { .. } => {
                panic!("{event:?} is nobody's here")
            }
        }
    }

    pub(super) async fn channel_changed(&mut self, cast: &Cast, channel: &Channel) {
        let members = |channel: &Channel| -> BTreeSet<AccountId> {
            channel.members.iter().map(|member| member.account).collect()
        };
        let before = self.view.channels.insert(channel.id, channel.clone());
        let is_member = |channel: &Channel| members(channel).contains(&self.viewer.actor.id);
        if before.as_ref().is_none_or(|before| !is_member(before) && is_member(channel)) {
            self.view.read_channel(&cast.comms, &self.viewer, channel.id, None).await;
        }
        if before.is_none_or(|before| members(&before) != members(channel)) {
            self.view.read_accounts(&cast.comms, &self.viewer).await;
        }
    }

    pub(super) async fn check(&self, cast: &Cast, after: &str) {
        let fresh = View::read(&cast.comms, &self.viewer, None).await;
        let who = &self.viewer.actor.id;
        assert_eq!(self.view.accounts, fresh.accounts, "accounts of {who} after {after}");
        assert_eq!(self.view.groups, fresh.groups, "groups of {who} after {after}");
        assert_eq!(self.view.channels, fresh.channels, "channels of {who} after {after}");
        assert_eq!(self.view.messages, fresh.messages, "messages of {who} after {after}");
        let told = fresh.topics.into_iter().map(|(id, TopicSummary { topic, open_asks })| {
            let topic = Topic { run: told_of(topic.run), ..Topic::clone(&topic) };
            (id, TopicSummary { topic: Arc::new(topic), open_asks })
        });
        let told: BTreeMap<TopicId, TopicSummary> = told.collect();
        assert_eq!(self.view.counted(), told, "topics of {who} after {after}");
    }
}
