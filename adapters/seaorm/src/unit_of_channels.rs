//! The rare writes of groups, boards, policies and participation, in the same transaction as the others.

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

use crate::{channels, groups, participants, pins, settings, unit_of_work::SeaUnitOfWork};

#[async_trait]
impl GroupRepository for SeaUnitOfWork {
    async fn insert(&mut self, group: &ChannelGroup) -> Result<(), StorageError> {
        Ok(groups::insert(&mut self.tx, &self.tenant, group).await?)
    }

    async fn chain(&mut self, id: GroupId) -> Result<Vec<ChannelGroup>, StorageError> {
        groups::chain(&mut self.tx, &self.tenant, id).await
    }

    async fn list_owned(&mut self, owner: AccountId, key: &str) -> Result<Vec<ChannelGroup>, StorageError> {
        groups::owned(&mut self.tx, &self.tenant, owner, key).await
    }
}

#[async_trait]
impl ParticipantRepository for SeaUnitOfWork {
    async fn lock_all(&mut self, channels: &[ChannelId]) -> Result<Vec<Channel>, StorageError> {
        participants::lock_all(&mut self.tx, &self.tenant, channels).await
    }

    async fn agents(
        &mut self,
        channels: &[ChannelId],
    ) -> Result<Vec<(ChannelId, AgentMember)>, StorageError> {
        participants::agents(&mut self.tx, &self.tenant, channels).await
    }

    async fn trees_of(&mut self, anchors: &[AccountId]) -> Result<Vec<ChannelId>, StorageError> {
        participants::trees_of(&mut self.tx, &self.tenant, anchors).await
    }

    async fn put_subscription(
        &mut self,
        channel: ChannelId,
        account: AccountId,
        subscribed: bool,
    ) -> Result<(), StorageError> {
        let tx = &mut self.tx;
        Ok(participants::put_subscription(tx, &self.tenant, channel, account, subscribed).await?)
    }

    async fn touch(&mut self, channels: &[ChannelId]) -> Result<(), StorageError> {
        Ok(participants::touch(&mut self.tx, &self.tenant, channels).await?)
    }

    async fn sees(&mut self, viewer: Actor, channel: ChannelId) -> Result<bool, StorageError> {
        channels::sees(&mut self.tx, &self.tenant, viewer, channel).await
    }
}

#[async_trait]
impl PurposeRepository for SeaUnitOfWork {
    async fn find(&mut self, purpose: &Purpose) -> Result<Option<ChannelId>, StorageError> {
        settings::find(&mut self.tx, &self.tenant, purpose).await
    }

    async fn claim(&mut self, channel: &Channel, purpose: &Purpose) -> Result<bool, StorageError> {
        Ok(channels::claim(&mut self.tx, &self.tenant, channel, purpose).await?)
    }
}

#[async_trait]
impl SettingsRepository for SeaUnitOfWork {
    async fn rename(&mut self, channel: ChannelId, name: &ChannelName) -> Result<(), StorageError> {
        settings::rename(&mut self.tx, &self.tenant, channel, name).await
    }

    async fn convert(&mut self, channel: ChannelId) -> Result<(), StorageError> {
        Ok(settings::convert(&mut self.tx, &self.tenant, channel).await?)
    }

    async fn set_policy(
        &mut self,
        channel: ChannelId,
        policy: PostPolicy,
        mandatory: bool,
    ) -> Result<(), StorageError> {
        Ok(settings::set_policy(&mut self.tx, &self.tenant, channel, policy, mandatory).await?)
    }
}

#[async_trait]
impl PinRepository for SeaUnitOfWork {
    async fn holds(&mut self, channel: ChannelId, message: MessageId) -> Result<bool, StorageError> {
        pins::holds(&mut self.tx, &self.tenant, channel, message).await
    }

    async fn replace(&mut self, channel: ChannelId, board: &[Pin]) -> Result<(), StorageError> {
        Ok(pins::replace(&mut self.tx, &self.tenant, channel, board).await?)
    }
}
