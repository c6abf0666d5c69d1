//! Reads of one snapshot, each answered by an index.

use std::sync::Arc;

use async_trait::async_trait;
use compass_domain::{
    Account, AccountId, Actor, Channel, ChannelId, GroupId, Handle, Message, MessageId, Position,
    ReadPosition, SearchQuery, Topic, TopicId, UnixMillis, channel::ChannelName, roster::RosterScope,
};
use compass_ports::StorageError;

/// Reads of accounts.
#[async_trait]
pub trait AccountReads {
    /// An account by id, whoever asks.
    async fn find_account(&mut self, id: AccountId) -> Result<Option<Account>, StorageError>;

    /// Accounts by id, whoever asks; in no order, and without the unknown ones.
    async fn find_accounts(&mut self, ids: &[AccountId]) -> Result<Vec<Account>, StorageError>;

    /// An account by handle, whoever asks.
    async fn find_account_by_handle(&mut self, handle: &Handle) -> Result<Option<Account>, StorageError>;

    /// What `viewer` may see: itself, every person, its own agents, and whoever shares a channel with it; by handle.
    async fn list_accounts(&mut self, viewer: Actor) -> Result<Vec<Account>, StorageError>;

    /// True if `viewer` may see `account` by the rule of [`AccountReads::list_accounts`].
    async fn sees_account(&mut self, viewer: Actor, account: AccountId) -> Result<bool, StorageError>;

    /// The agents of a scope around `vantage` that `viewer` may see by the rule of
    /// [`AccountReads::list_accounts`], by id.
    async fn list_roster(
        &mut self,
        viewer: Actor,
        vantage: AccountId,
        scope: RosterScope,
    ) -> Result<Vec<Account>, StorageError>;

    /// Everyone who shares a channel with the account, by participation; the account itself if it takes part
    /// anywhere.
    async fn channel_mates(&mut self, account: AccountId) -> Result<Vec<AccountId>, StorageError>;

    /// What agents last said they do, with the time they said it; agents that said nothing are left out.
    async fn list_activities(
        &mut self,
        agents: &[AccountId],
    ) -> Result<Vec<(AccountId, String, UnixMillis)>, StorageError>;
}

/// A channel that was found by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedChannel {
    /// Which.
    pub id: ChannelId,
    /// What it is called.
    pub name: ChannelName,
    /// The group it stands in.
    pub group: Option<GroupId>,
}

/// Reads of channels.
#[async_trait]
pub trait ChannelReads {
    /// A channel with members and pins, whoever asks.
    async fn find_channel(&mut self, id: ChannelId) -> Result<Option<Channel>, StorageError>;

    /// What `viewer` may see: where it takes part, and ordinary channels of an effectively shared group; by name.
    async fn list_channels(&mut self, viewer: Actor) -> Result<Vec<Channel>, StorageError>;

    /// The channels with this name key in which `viewer` takes part, by id.
    async fn find_channels_named(
        &mut self,
        viewer: Actor,
        key: &str,
    ) -> Result<Vec<NamedChannel>, StorageError>;

    /// The channels among `channels` in which the account takes part.
    async fn participating(
        &mut self,
        account: AccountId,
        channels: &[ChannelId],
    ) -> Result<Vec<ChannelId>, StorageError>;

    /// Everyone who takes part in the channel.
    async fn participants(&mut self, channel: ChannelId) -> Result<Vec<AccountId>, StorageError>;

    /// True if `viewer` may see the channel by the rule of [`ChannelReads::list_channels`].
    async fn sees_channel(&mut self, viewer: Actor, channel: ChannelId) -> Result<bool, StorageError>;
}

/// A topic with what its row does not keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicSummary {
    /// The row.
    pub topic: Arc<Topic>,
    /// Open asks in it, counted now.
    pub open_asks: u32,
}

/// A topic that was joined to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedTopic {
    /// The one that is gone.
    pub topic: TopicId,
    /// The one that has its messages now, after however many merges.
    pub into: TopicId,
}

/// Reads of topics.
#[async_trait]
pub trait TopicReads {
    /// A topic by id, whoever asks.
    async fn find_topic(&mut self, id: TopicId) -> Result<Option<TopicSummary>, StorageError>;

    /// A topic of a channel by the key of its name.
    async fn find_topic_named(
        &mut self,
        channel: ChannelId,
        key: &str,
    ) -> Result<Option<TopicSummary>, StorageError>;

    /// The topics of channels, whoever asks: channel by channel in the order of their ids, and in each newest activity
    /// first, then newest created, then by id.
    async fn list_topics(
        &mut self,
        channels: &[ChannelId],
        include_archived: bool,
    ) -> Result<Vec<TopicSummary>, StorageError>;

    /// The topics of channels that are gone because they were joined to others, whoever asks: by channel, then by id.
    async fn list_moved_topics(&mut self, channels: &[ChannelId]) -> Result<Vec<MovedTopic>, StorageError>;

    /// How far a person has read each topic of these channels or, without any named, of every channel in which it takes
    /// part, archived ones included; a topic it never read is at 0. By topic id.
    async fn list_read_positions(
        &mut self,
        account: AccountId,
        channels: Option<&[ChannelId]>,
    ) -> Result<Vec<ReadPosition>, StorageError>;

    /// How far a person has read a topic; none if there is no such topic.
    async fn find_read_position(
        &mut self,
        account: AccountId,
        topic: TopicId,
    ) -> Result<Option<ReadPosition>, StorageError>;
}

/// Which messages to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessagePage {
    /// Of which channel.
    pub channel: ChannelId,
    /// Of one topic only.
    pub topic: Option<TopicId>,
    /// Strictly older than this message of the same channel.
    pub before: Option<MessageId>,
    /// Not newer than this position.
    pub snapshot: Option<Position>,
    /// At the most, already clamped.
    pub limit: u32,
}

/// What to search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPage {
    /// Who searches; only where it takes part.
    pub viewer: AccountId,
    /// For what.
    pub query: SearchQuery,
    /// In one channel only.
    pub channel: Option<ChannelId>,
    /// Not newer than this position.
    pub snapshot: Option<Position>,
    /// At the most, already clamped.
    pub limit: u32,
}

/// Reads of messages.
#[async_trait]
pub trait MessageReads {
    /// A page, newest first; it ends early at [`compass_domain::limits::PAGE_BYTES`] of stored blocks but
    /// holds at least one message. A corrupt message fails the page.
    async fn list_messages(&mut self, page: &MessagePage) -> Result<Vec<Arc<Message>>, StorageError>;

    /// The messages that a search finds, the best first, the newer of two equally good ones first; ends early like a
    /// page of messages.
    async fn search_messages(&mut self, page: &SearchPage) -> Result<Vec<Arc<Message>>, StorageError>;

    /// What is pinned in a channel, in the order of its board, whoever asks.
    async fn list_pinned(&mut self, channel: ChannelId) -> Result<Vec<Arc<Message>>, StorageError>;

    /// A message by id, whoever asks.
    async fn find_message(&mut self, id: MessageId) -> Result<Option<Arc<Message>>, StorageError>;

    /// The highest position given out; 0 when there is no message.
    async fn last_position(&mut self) -> Result<Position, StorageError>;
}

/// Which open asks to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenAsksPage {
    /// Who asks; only where it takes part.
    pub viewer: AccountId,
    /// Of one channel only.
    pub channel: Option<ChannelId>,
    /// Strictly older, by position, than this message; it need not hold an open ask any more.
    pub before: Option<MessageId>,
    /// At the most, already clamped.
    pub limit: u32,
}

/// Reads of open asks.
#[async_trait]
pub trait AskReads {
    /// Messages that hold an open ask, each once, newest first by position; ends early like a page of messages.
    async fn list_open_asks(&mut self, page: &OpenAsksPage) -> Result<Vec<Arc<Message>>, StorageError>;
}
