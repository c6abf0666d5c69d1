//! Repositories of what changes about a channel after it was made.

use async_trait::async_trait;
use compass_domain::{
    AccountId, Actor, Channel, ChannelId, MessageId,
    channel::{ChannelName, Pin, PostPolicy, Purpose},
    delivery::AgentMember,
};
use compass_ports::StorageError;

/// Who takes part and who is swept, member rows or not.
#[async_trait]
pub trait ParticipantRepository: Send {
    /// Locks the rows of channels in the order of their ids, and reads them with members and pins; absent ones are
    /// left out.
    async fn lock_all(&mut self, channels: &[ChannelId]) -> Result<Vec<Channel>, StorageError>;

    /// The agents that take part in each channel, by channel and account.
    async fn agents(&mut self, channels: &[ChannelId])
    -> Result<Vec<(ChannelId, AgentMember)>, StorageError>;

    /// The TREE channels whose anchor is among `anchors`, by id.
    async fn trees_of(&mut self, anchors: &[AccountId]) -> Result<Vec<ChannelId>, StorageError>;

    /// Stores whether an account without a member row is subscribed in a TREE channel.
    async fn put_subscription(
        &mut self,
        channel: ChannelId,
        account: AccountId,
        subscribed: bool,
    ) -> Result<(), StorageError>;

    /// Tells whoever remembers who takes part in these channels that it changed; without that a writer may go on by
    /// what it knew.
    async fn touch(&mut self, channels: &[ChannelId]) -> Result<(), StorageError>;

    /// True if `viewer` may see the channel: it takes part, or the channel is an ordinary one of an effectively
    /// shared group.
    async fn sees(&mut self, viewer: Actor, channel: ChannelId) -> Result<bool, StorageError>;
}

/// Channels that the server made for a purpose.
#[async_trait]
pub trait PurposeRepository: Send {
    /// The channel of a purpose.
    async fn find(&mut self, purpose: &Purpose) -> Result<Option<ChannelId>, StorageError>;

    /// Stores a channel for a purpose; false, and nothing is stored, if the purpose has a channel or the name is
    /// taken in the group.
    async fn claim(&mut self, channel: &Channel, purpose: &Purpose) -> Result<bool, StorageError>;
}

/// What a channel is called and who may post.
#[async_trait]
pub trait SettingsRepository: Send {
    /// Gives a channel another name; a name taken in its group is [`StorageError::Conflict`].
    async fn rename(&mut self, channel: ChannelId, name: &ChannelName) -> Result<(), StorageError>;

    /// Makes an ordinary channel of a direct conversation; its pair has none from then on.
    async fn convert(&mut self, channel: ChannelId) -> Result<(), StorageError>;

    /// Stores who may post, and whether every agent that takes part is delivered to.
    async fn set_policy(
        &mut self,
        channel: ChannelId,
        policy: PostPolicy,
        mandatory: bool,
    ) -> Result<(), StorageError>;
}

/// Pinned boards.
#[async_trait]
pub trait PinRepository: Send {
    /// True if the message was posted in the channel.
    async fn holds(&mut self, channel: ChannelId, message: MessageId) -> Result<bool, StorageError>;

    /// Stores a board in place of the one before.
    async fn replace(&mut self, channel: ChannelId, board: &[Pin]) -> Result<(), StorageError>;
}
