//! Repositories of the rare writes.

use async_trait::async_trait;
use compass_domain::{
    Account, AccountId, Channel, ChannelId, Handle, ReadPosition, Seq, Topic, TopicId, UnixMillis,
    channel::Member,
};
use compass_ports::StorageError;

use super::TopicSummary;

/// Account rows.
#[async_trait]
pub trait AccountRepository: Send {
    /// Stores an account; a taken handle is [`StorageError::Conflict`].
    async fn insert(&mut self, account: &Account) -> Result<(), StorageError>;

    /// An account by id.
    async fn find(&mut self, id: AccountId) -> Result<Option<Account>, StorageError>;

    /// The accounts of ids, by id; unknown ones are left out.
    async fn find_all(&mut self, ids: &[AccountId]) -> Result<Vec<Account>, StorageError>;

    /// The accounts of handles, by handle; unknown ones are left out.
    async fn find_all_by_handle(&mut self, handles: &[Handle]) -> Result<Vec<Account>, StorageError>;

    /// An account by handle.
    async fn find_by_handle(&mut self, handle: &Handle) -> Result<Option<Account>, StorageError>;

    /// Locks a person's agents against another change of their tree until the unit ends; taken before any channel.
    async fn lock_tree(&mut self, owner: AccountId) -> Result<(), StorageError>;

    /// The agents of a person, by id.
    async fn list_agents(&mut self, owner: AccountId) -> Result<Vec<Account>, StorageError>;

    /// Puts an agent directly below another, or below nobody.
    async fn set_parent(&mut self, agent: AccountId, parent: Option<AccountId>) -> Result<(), StorageError>;

    /// Stores what an agent says it is doing, in place of what it said before.
    async fn put_activity(
        &mut self,
        agent: AccountId,
        activity: &str,
        at: UnixMillis,
    ) -> Result<(), StorageError>;
}

/// Channel and member rows.
#[async_trait]
pub trait ChannelRepository: Send {
    /// Stores a channel with its members; a name taken in its group is [`StorageError::Conflict`].
    async fn insert(&mut self, channel: &Channel) -> Result<(), StorageError>;

    /// Locks a channel's row until the unit ends, and reads it with members and pins.
    async fn lock(&mut self, id: ChannelId) -> Result<Option<Channel>, StorageError>;

    /// True if the account takes part in the channel.
    async fn participates(&mut self, account: AccountId, channel: ChannelId) -> Result<bool, StorageError>;

    /// Stores a member row, or changes the subscription of the one that is there.
    async fn put_member(&mut self, channel: ChannelId, member: Member) -> Result<(), StorageError>;

    /// Deletes a member row; false if there was none.
    async fn remove_member(&mut self, channel: ChannelId, account: AccountId) -> Result<bool, StorageError>;
}

/// Delivery cursors.
#[async_trait]
pub trait CursorRepository: Send {
    /// Gives the agent a cursor at the channel's newest message; one that is there stays as it is.
    async fn seed(&mut self, agent: AccountId, channel: ChannelId) -> Result<(), StorageError>;

    /// Seeds a cursor for each pair.
    async fn seed_all(&mut self, cursors: &[(AccountId, ChannelId)]) -> Result<(), StorageError>;

    /// Owes each agent the answers to its own asks that stand in the channel and that its cursor there does not
    /// cover; without a cursor there it is owed nothing.
    async fn owe_answers(&mut self, cursors: &[(AccountId, ChannelId)]) -> Result<(), StorageError>;
}

/// Topic rows. Whoever changes one has locked its channel.
#[async_trait]
pub trait TopicRepository: Send {
    /// A topic by id, not locked.
    async fn find(&mut self, id: TopicId) -> Result<Option<TopicSummary>, StorageError>;

    /// The topic of a channel with this name key, not locked.
    async fn find_named(&mut self, channel: ChannelId, key: &str) -> Result<Option<TopicId>, StorageError>;

    /// A topic by id that stays until the unit ends; its channel need not be locked, and posts in it go on.
    async fn keep(&mut self, id: TopicId) -> Result<Option<Topic>, StorageError>;

    /// Locks topics in the order of their ids and returns those that are there, in that order.
    async fn lock(&mut self, ids: &[TopicId]) -> Result<Vec<Topic>, StorageError>;

    /// Locks the messages of a topic in the order of their ids; comes before [`TopicRepository::lock`].
    async fn lock_messages(&mut self, topic: TopicId) -> Result<(), StorageError>;

    /// The place of the first message in any of `topics` of each author that has one there.
    async fn first_posts(
        &mut self,
        topics: &[TopicId],
        authors: &[AccountId],
    ) -> Result<Vec<(AccountId, Seq)>, StorageError>;

    /// Stores the name and the flag of a locked topic; a name taken in its channel is [`StorageError::Conflict`].
    async fn put(&mut self, topic: &Topic) -> Result<(), StorageError>;

    /// Moves every message of `from` to the topic `into`, stores that one's row and deletes the row of `from`, which
    /// nobody may have a read position in any more. Keeps where `from` went, and what was joined to `from` before.
    async fn merge(&mut self, from: TopicId, into: &Topic) -> Result<(), StorageError>;
}

/// How far people have read.
#[async_trait]
pub trait ReadPositionRepository: Send {
    /// How far a person has read a topic, not locked; none if there is no such topic.
    async fn find(
        &mut self,
        account: AccountId,
        topic: TopicId,
    ) -> Result<Option<ReadPosition>, StorageError>;

    /// Moves a person's place forward; false if it is that far already.
    async fn advance(&mut self, account: AccountId, topic: TopicId, seq: Seq) -> Result<bool, StorageError>;

    /// Every stored place in these topics, by topic and account.
    async fn list(&mut self, topics: &[TopicId]) -> Result<Vec<(TopicId, AccountId, Seq)>, StorageError>;

    /// Stores the places of people in `topic`, whatever they were, and deletes every place in `gone`.
    async fn replace(
        &mut self,
        topic: TopicId,
        places: &[(AccountId, Seq)],
        gone: TopicId,
    ) -> Result<(), StorageError>;
}
