//! What people's commands call: accounts, channels, topics, messages and asks.

use compass_domain::{ask::AnswerDraft, message::DraftBlock};
use compass_proto::v1 as pb;

use crate::{
    Client, ClientError, NewChannel,
    connect::within_deadline,
    convert,
    model::{Account, Channel, Message, OpenAsk, ReadPosition, RosterEntry, Topic},
};

/// How a channel is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelName {
    /// By its id.
    Id(String),
    /// By its name.
    Name(String),
}

/// How a topic is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopicName {
    /// By its id.
    Id(String),
    /// By its name.
    Name(String),
}

/// How far a roster reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RosterScope {
    /// The agent, its parent, its siblings and its children.
    Neighborhood,
    /// The agent and everything below it.
    Subtree,
    /// Every agent of the same owner.
    Owner,
}

/// A message to post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPost {
    /// Where; `None` is an agent's home channel and refused for a person.
    pub channel: Option<ChannelName>,
    /// Under which topic.
    pub topic: TopicName,
    /// Refuses to make a topic.
    pub existing_topic_only: bool,
    /// What it says.
    pub blocks: Vec<DraftBlock>,
    /// Makes sending it again safe; at most 128 bytes.
    pub key: String,
}

/// Which page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// At most so many; 0 is the server's default.
    pub limit: u32,
    /// Only what is older than this message.
    pub before: Option<String>,
    /// If not 0, only what was posted up to that point.
    pub snapshot_seq: u64,
}

impl Client {
    /// Lists the accounts the caller can see, by handle.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn accounts(&self) -> Result<Vec<Account>, ClientError> {
        let request = within_deadline(pb::ListAccountsRequest::default());
        let reply = self.take(self.comms().list_accounts(request).await?);
        Ok(reply.accounts.into_iter().map(Account::from).collect())
    }

    /// Reads a roster: the agents around an agent, or around the caller, that the caller can see.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn roster(
        &self,
        scope: RosterScope,
        agent_id: Option<&str>,
    ) -> Result<Vec<RosterEntry>, ClientError> {
        let scope = match scope {
            RosterScope::Neighborhood => pb::RosterScope::Neighborhood,
            RosterScope::Subtree => pb::RosterScope::Subtree,
            RosterScope::Owner => pb::RosterScope::Owner,
        };
        let agent_account_id = agent_id.unwrap_or_default().into();
        let request = within_deadline(pb::GetRosterRequest { scope: scope.into(), agent_account_id });
        let reply = self.take(self.comms().get_roster(request).await?);
        Ok(reply.entries.into_iter().map(RosterEntry::from).collect())
    }

    /// Creates a person; administrators only.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn create_user(&self, handle: &str, display_name: &str) -> Result<Account, ClientError> {
        let request = pb::CreateUserRequest { handle: handle.into(), display_name: display_name.into() };
        let reply = self.take(self.comms().create_user(within_deadline(request)).await?);
        reply.account.map(Account::from).ok_or(ClientError::Protocol("CreateUser without an account"))
    }

    /// Creates an agent of the caller; `parent` is the id of the agent it reports to.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn create_agent(
        &self,
        handle: &str,
        display_name: &str,
        parent: Option<&str>,
    ) -> Result<Account, ClientError> {
        let request = pb::CreateAgentRequest {
            handle: handle.into(),
            display_name: display_name.into(),
            parent_agent_id: parent.unwrap_or_default().into(),
        };
        let reply = self.take(self.comms().create_agent(within_deadline(request)).await?);
        reply.account.map(Account::from).ok_or(ClientError::Protocol("CreateAgent without an account"))
    }

    /// Lists the channels the caller can see, by name.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn channels(&self) -> Result<Vec<Channel>, ClientError> {
        let request = within_deadline(pb::ListChannelsRequest::default());
        let reply = self.take(self.comms().list_channels(request).await?);
        Ok(reply.channels.into_iter().map(Channel::from).collect())
    }

    /// Creates a channel with the caller and the accounts named by handle.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn create_channel(&self, name: &str, members: Vec<String>) -> Result<Channel, ClientError> {
        self.create_channel_as(NewChannel { name: name.into(), members, ..NewChannel::default() }).await
    }

    /// Lists a channel's topics, latest activity first.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn topics(&self, channel: &ChannelName, archived: bool) -> Result<Vec<Topic>, ClientError> {
        Ok(self.topics_read(channel, archived).await?.0)
    }

    /// Lists a channel's topics, latest activity first, and how far the caller has read each of them.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn topics_read(
        &self,
        channel: &ChannelName,
        archived: bool,
    ) -> Result<(Vec<Topic>, Vec<ReadPosition>), ClientError> {
        let (channel_id, channel_name) = match channel.clone() {
            ChannelName::Id(id) => (id, String::new()),
            ChannelName::Name(name) => (String::new(), name),
        };
        let request = pb::ListTopicsRequest { channel_id, channel_name, include_archived: archived };
        let reply = self.take(self.comms().list_topics(within_deadline(request)).await?);
        let positions = reply.read_positions.into_iter().map(ReadPosition::from).collect();
        Ok((reply.topics.into_iter().map(Topic::from).collect(), positions))
    }

    /// Renames, archives or revives a topic and returns it, or the topic that it became a part of.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn update_topic(
        &self,
        topic_id: &str,
        name: Option<String>,
        archived: Option<bool>,
    ) -> Result<Topic, ClientError> {
        let request = pb::UpdateTopicRequest { topic_id: topic_id.into(), name, archived };
        let reply = self.take(self.comms().update_topic(within_deadline(request)).await?);
        reply.topic.map(Topic::from).ok_or(ClientError::Protocol("UpdateTopic without a topic"))
    }

    /// Finds messages, the best first; at most `limit`, or the server's default for 0.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn search(
        &self,
        query: &str,
        channel_id: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Message>, ClientError> {
        use pb::search_messages_request::Scope;
        let scope = channel_id.map(|id| Scope::ChannelId(id.to_owned()));
        let request = pb::SearchMessagesRequest { query: query.into(), limit, snapshot_seq: 0, scope };
        let reply = self.take(self.comms().search_messages(within_deadline(request)).await?);
        Ok(reply.messages.into_iter().map(Message::from).collect())
    }

    /// Notes that the caller has read a topic up to a place in its channel.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn mark_read(&self, topic_id: &str, channel_seq: u64) -> Result<ReadPosition, ClientError> {
        let request = pb::MarkReadRequest { topic_id: topic_id.into(), channel_seq };
        let reply = self.take(self.inbox().mark_read(within_deadline(request)).await?);
        reply.position.map(ReadPosition::from).ok_or(ClientError::Protocol("MarkRead without a position"))
    }

    /// Posts a message; with the same key the same message comes back.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; after [`ClientError::OutcomeUnknown`] send it again with the same key.
    pub async fn post(&self, post: NewPost) -> Result<Message, ClientError> {
        let reply = self.take(self.comms().post_message(within_deadline(post_request(post))).await?);
        reply.message.map(Message::from).ok_or(ClientError::Protocol("PostMessage without a message"))
    }

    /// Lists messages of a channel, newest first.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn messages(
        &self,
        channel: &ChannelName,
        topic: Option<&TopicName>,
        page: &Page,
    ) -> Result<Vec<Message>, ClientError> {
        let request = list_request(Some(channel), topic, page);
        let reply = self.take(self.comms().list_messages(within_deadline(request)).await?);
        Ok(reply.messages.into_iter().map(Message::from).collect())
    }

    /// Lists messages with open asks, newest first.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn open_asks(
        &self,
        channel_id: Option<&str>,
        page: &Page,
    ) -> Result<Vec<OpenAsk>, ClientError> {
        let request = pb::ListOpenAsksRequest {
            channel_id: channel_id.unwrap_or_default().into(),
            limit: page.limit,
            before_message_id: page.before.clone().unwrap_or_default(),
        };
        let reply = self.take(self.inbox().list_open_asks(within_deadline(request)).await?);
        let asks: Option<Vec<_>> = reply.asks.into_iter().map(convert::open_ask).collect();
        asks.ok_or(ClientError::Protocol("ListOpenAsks with an entry without a message"))
    }

    /// Answers an ask and thereby closes it; a question without options and text is skipped.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; `already_exists` names the end the ask had before.
    pub async fn answer(&self, ask_id: &str, answers: Vec<AnswerDraft>) -> Result<(), ClientError> {
        let answers = answers.into_iter().map(convert::answer).collect();
        let request = pb::RespondToAskRequest { ask_id: ask_id.into(), answers };
        self.take(self.comms().respond_to_ask(within_deadline(request)).await?);
        Ok(())
    }
}

pub(crate) fn post_request(post: NewPost) -> pb::PostMessageRequest {
    use pb::post_message_request::{Container, Topic};
    pb::PostMessageRequest {
        container: post.channel.map(|channel| match channel {
            ChannelName::Id(id) => Container::ChannelId(id),
            ChannelName::Name(name) => Container::ChannelName(name),
        }),
        topic: Some(match post.topic {
            TopicName::Id(id) => Topic::TopicId(id),
            TopicName::Name(name) => Topic::TopicName(name),
        }),
        blocks: post.blocks.into_iter().map(convert::block).collect(),
        client_request_id: post.key,
        existing_topic_only: post.existing_topic_only,
    }
}

pub(crate) fn list_request(
    channel: Option<&ChannelName>,
    topic: Option<&TopicName>,
    page: &Page,
) -> pb::ListMessagesRequest {
    use pb::list_messages_request::Container;
    let (topic_id, topic_name) = match topic.cloned() {
        Some(TopicName::Id(id)) => (id, String::new()),
        Some(TopicName::Name(name)) => (String::new(), name),
        None => (String::new(), String::new()),
    };
    pb::ListMessagesRequest {
        container: channel.cloned().map(|channel| match channel {
            ChannelName::Id(id) => Container::ChannelId(id),
            ChannelName::Name(name) => Container::ChannelName(name),
        }),
        limit: page.limit,
        before_message_id: page.before.clone().unwrap_or_default(),
        snapshot_seq: page.snapshot_seq,
        topic_id,
        topic_name,
    }
}
