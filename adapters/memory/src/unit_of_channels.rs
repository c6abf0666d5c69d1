//! The rare writes of groups, boards, policies and participation.

use async_trait::async_trait;
use compass_comms::ports::{
    GroupRepository, ParticipantRepository, PinRepository, PurposeRepository, SettingsRepository,
};
use compass_domain::{
    AccountId, Actor, Channel, ChannelGroup, ChannelId, GroupId, MessageId,
    channel::{ChannelName, Pin, PostPolicy, Purpose},
    delivery::AgentMember,
};
use compass_ports::StorageError;

use crate::unit::Unit;

#[async_trait]
impl GroupRepository for Unit {
    async fn insert(&mut self, group: &ChannelGroup) -> Result<(), StorageError> {
        self.rows().groups.insert(group);
        Ok(())
    }

    async fn chain(&mut self, id: GroupId) -> Result<Vec<ChannelGroup>, StorageError> {
        Ok(self.rows().groups.chain(id))
    }

    async fn list_owned(&mut self, owner: AccountId, key: &str) -> Result<Vec<ChannelGroup>, StorageError> {
        Ok(self.rows().groups.owned(owner, key))
    }
}

#[async_trait]
impl ParticipantRepository for Unit {
    async fn lock_all(&mut self, channels: &[ChannelId]) -> Result<Vec<Channel>, StorageError> {
        let rows = self.rows();
        let mut found: Vec<Channel> = channels.iter().filter_map(|id| rows.channel(*id)).collect();
        found.sort_by_key(|channel| channel.id);
        found.dedup_by_key(|channel| channel.id);
        Ok(found)
    }

    async fn agents(
        &mut self,
        channels: &[ChannelId],
    ) -> Result<Vec<(ChannelId, AgentMember)>, StorageError> {
        let rows = self.rows();
        let mut wanted = channels.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let agents =
            wanted.into_iter().flat_map(|id| rows.agents_of(id).into_iter().map(move |agent| (id, agent)));
        Ok(agents.collect())
    }

    async fn trees_of(&mut self, anchors: &[AccountId]) -> Result<Vec<ChannelId>, StorageError> {
        Ok(self.rows().channels.trees_of(anchors))
    }

    async fn put_subscription(
        &mut self,
        channel: ChannelId,
        account: AccountId,
        subscribed: bool,
    ) -> Result<(), StorageError> {
        self.rows().channels.choose(channel, account, subscribed);
        Ok(())
    }

    async fn touch(&mut self, _channels: &[ChannelId]) -> Result<(), StorageError> {
        // Nothing here remembers who takes part.
        Ok(())
    }

    async fn sees(&mut self, viewer: Actor, channel: ChannelId) -> Result<bool, StorageError> {
        Ok(self.rows().sees_channel(viewer.id, channel))
    }
}

#[async_trait]
impl PurposeRepository for Unit {
    async fn find(&mut self, purpose: &Purpose) -> Result<Option<ChannelId>, StorageError> {
        Ok(self.rows().channels.for_purpose(&purpose.key()))
    }

    async fn claim(&mut self, channel: &Channel, purpose: &Purpose) -> Result<bool, StorageError> {
        Ok(self.rows().channels.claim(channel, purpose.key()))
    }
}

#[async_trait]
impl SettingsRepository for Unit {
    async fn rename(&mut self, channel: ChannelId, name: &ChannelName) -> Result<(), StorageError> {
        self.rows().channels.rename(channel, name)
    }

    async fn convert(&mut self, channel: ChannelId) -> Result<(), StorageError> {
        self.rows().channels.convert(channel);
        Ok(())
    }

    async fn set_policy(
        &mut self,
        channel: ChannelId,
        policy: PostPolicy,
        mandatory: bool,
    ) -> Result<(), StorageError> {
        self.rows().channels.set_policy(channel, policy, mandatory);
        Ok(())
    }
}

#[async_trait]
impl PinRepository for Unit {
    async fn holds(&mut self, channel: ChannelId, message: MessageId) -> Result<bool, StorageError> {
        Ok(self.rows().messages.find(message).is_some_and(|row| row.message.channel() == channel))
    }

    async fn replace(&mut self, channel: ChannelId, board: &[Pin]) -> Result<(), StorageError> {
        self.rows().channels.set_pins(channel, board);
        Ok(())
    }
}
