//! Repositories of the rare writes.

use async_trait::async_trait;
use compass_domain::{Account, AccountId, Channel, ChannelId, Handle, UnixMillis, channel::Member};
use compass_ports::StorageError;

/// Account rows.
#[async_trait]
pub trait AccountRepository: Send {
    /// Stores an account; a taken handle is [`StorageError::Conflict`].
    async fn insert(&mut self, account: &Account) -> Result<(), StorageError>;

    /// An account by id.
    async fn find(&mut self, id: AccountId) -> Result<Option<Account>, StorageError>;

    /// An account by handle.
    async fn find_by_handle(&mut self, handle: &Handle) -> Result<Option<Account>, StorageError>;

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
}
