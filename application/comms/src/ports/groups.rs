//! Groups of channels, read and written.

use async_trait::async_trait;
use compass_domain::{AccountId, Actor, ChannelGroup, GroupId};
use compass_ports::StorageError;

/// Reads of groups.
#[async_trait]
pub trait GroupReads {
    /// What `viewer` may see: effectively shared groups, its own, and those of its owner; by name.
    async fn list_groups(&mut self, viewer: Actor) -> Result<Vec<ChannelGroup>, StorageError>;

    /// True if `viewer` may see the group by the rule of [`GroupReads::list_groups`].
    async fn sees_group(&mut self, viewer: Actor, group: GroupId) -> Result<bool, StorageError>;
}

/// Group rows.
#[async_trait]
pub trait GroupRepository: Send {
    /// Stores a group.
    async fn insert(&mut self, group: &ChannelGroup) -> Result<(), StorageError>;

    /// A group and the groups it stands in, from the inside out; nothing if there is no such group.
    async fn chain(&mut self, id: GroupId) -> Result<Vec<ChannelGroup>, StorageError>;

    /// The groups that an account created under the key of a name, by id.
    async fn list_owned(&mut self, owner: AccountId, key: &str) -> Result<Vec<ChannelGroup>, StorageError>;
}
