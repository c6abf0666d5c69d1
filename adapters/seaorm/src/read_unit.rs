//! The reads of the storage port over one snapshot.

use std::sync::Arc;

use async_trait::async_trait;
use compass_comms::ports::{
    AccountReads, AskReads, ChannelReads, GroupReads, MessagePage, MessageReads, MovedTopic, NamedChannel,
    OpenAsksPage, SearchPage, TokenReads, TokenRow, TopicReads, TopicSummary,
};
use compass_domain::{
    Account, AccountId, Actor, Channel, ChannelGroup, ChannelId, GroupId, Handle, Message, MessageId,
    Position, ReadPosition, TenantId, TopicId, UnixMillis, roster::RosterScope,
};
use compass_ports::StorageError;

use crate::{accounts, channels, groups, messages, read_positions, search, tokens, topics, transaction::Tx};

/// One snapshot of one tenant's rows.
pub(crate) struct SeaReadUnit {
    pub(crate) tx: Tx,
    pub(crate) tenant: TenantId,
}

#[async_trait]
impl AccountReads for SeaReadUnit {
    async fn find_account(&mut self, id: AccountId) -> Result<Option<Account>, StorageError> {
        accounts::find(&mut self.tx, &self.tenant, id).await
    }

    async fn find_accounts(&mut self, ids: &[AccountId]) -> Result<Vec<Account>, StorageError> {
        accounts::find_all(&mut self.tx, &self.tenant, ids).await
    }

    async fn find_account_by_handle(&mut self, handle: &Handle) -> Result<Option<Account>, StorageError> {
        accounts::find_by_handle(&mut self.tx, &self.tenant, handle).await
    }

    async fn list_accounts(&mut self, viewer: Actor) -> Result<Vec<Account>, StorageError> {
        accounts::list(&mut self.tx, &self.tenant, viewer).await
    }

    async fn sees_account(&mut self, viewer: Actor, account: AccountId) -> Result<bool, StorageError> {
        accounts::sees(&mut self.tx, &self.tenant, viewer, account).await
    }

    async fn list_roster(
        &mut self,
        viewer: Actor,
        vantage: AccountId,
        scope: RosterScope,
    ) -> Result<Vec<Account>, StorageError> {
        accounts::roster(&mut self.tx, &self.tenant, viewer, vantage, scope).await
    }

    async fn channel_mates(&mut self, account: AccountId) -> Result<Vec<AccountId>, StorageError> {
        accounts::channel_mates(&mut self.tx, &self.tenant, account).await
    }

    async fn list_activities(
        &mut self,
        agents: &[AccountId],
    ) -> Result<Vec<(AccountId, String, UnixMillis)>, StorageError> {
        accounts::activities(&mut self.tx, &self.tenant, agents).await
    }
}

#[async_trait]
impl ChannelReads for SeaReadUnit {
    async fn find_channel(&mut self, id: ChannelId) -> Result<Option<Channel>, StorageError> {
        channels::find(&mut self.tx, &self.tenant, id).await
    }

    async fn list_channels(&mut self, viewer: Actor) -> Result<Vec<Channel>, StorageError> {
        channels::list(&mut self.tx, &self.tenant, viewer).await
    }

    async fn find_channels_named(
        &mut self,
        viewer: Actor,
        key: &str,
    ) -> Result<Vec<NamedChannel>, StorageError> {
        channels::named(&mut self.tx, &self.tenant, viewer, key).await
    }

    async fn participating(
        &mut self,
        account: AccountId,
        channels: &[ChannelId],
    ) -> Result<Vec<ChannelId>, StorageError> {
        channels::participating(&mut self.tx, &self.tenant, account, channels).await
    }

    async fn participants(&mut self, channel: ChannelId) -> Result<Vec<AccountId>, StorageError> {
        channels::participants(&mut self.tx, &self.tenant, channel).await
    }

    async fn sees_channel(&mut self, viewer: Actor, channel: ChannelId) -> Result<bool, StorageError> {
        channels::sees(&mut self.tx, &self.tenant, viewer, channel).await
    }
}

#[async_trait]
impl GroupReads for SeaReadUnit {
    async fn list_groups(&mut self, viewer: Actor) -> Result<Vec<ChannelGroup>, StorageError> {
        groups::list(&mut self.tx, &self.tenant, viewer).await
    }

    async fn sees_group(&mut self, viewer: Actor, group: GroupId) -> Result<bool, StorageError> {
        let chain = groups::chain(&mut self.tx, &self.tenant, group).await?;
        Ok(compass_domain::group::is_visible(&chain, viewer))
    }
}

#[async_trait]
impl TopicReads for SeaReadUnit {
    async fn find_topic(&mut self, id: TopicId) -> Result<Option<TopicSummary>, StorageError> {
        topics::find(&mut self.tx, &self.tenant, id).await
    }

    async fn find_topic_named(
        &mut self,
        channel: ChannelId,
        key: &str,
    ) -> Result<Option<TopicSummary>, StorageError> {
        topics::find_named(&mut self.tx, &self.tenant, channel, key).await
    }

    async fn list_topics(
        &mut self,
        channels: &[ChannelId],
        include_archived: bool,
    ) -> Result<Vec<TopicSummary>, StorageError> {
        topics::list(&mut self.tx, &self.tenant, channels, include_archived).await
    }

    async fn list_moved_topics(&mut self, channels: &[ChannelId]) -> Result<Vec<MovedTopic>, StorageError> {
        topics::list_moved(&mut self.tx, &self.tenant, channels).await
    }

    async fn list_read_positions(
        &mut self,
        account: AccountId,
        channels: Option<&[ChannelId]>,
    ) -> Result<Vec<ReadPosition>, StorageError> {
        read_positions::list(&mut self.tx, &self.tenant, account, channels).await
    }

    async fn find_read_position(
        &mut self,
        account: AccountId,
        topic: TopicId,
    ) -> Result<Option<ReadPosition>, StorageError> {
        read_positions::find(&mut self.tx, &self.tenant, account, topic).await
    }
}

#[async_trait]
impl MessageReads for SeaReadUnit {
    async fn list_messages(&mut self, page: &MessagePage) -> Result<Vec<Arc<Message>>, StorageError> {
        messages::list(&mut self.tx, &self.tenant, page).await
    }

    async fn search_messages(&mut self, page: &SearchPage) -> Result<Vec<Arc<Message>>, StorageError> {
        search::search(&mut self.tx, &self.tenant, page).await
    }

    async fn list_pinned(&mut self, channel: ChannelId) -> Result<Vec<Arc<Message>>, StorageError> {
        messages::list_pinned(&mut self.tx, &self.tenant, channel).await
    }

    async fn find_message(&mut self, id: MessageId) -> Result<Option<Arc<Message>>, StorageError> {
        messages::find(&mut self.tx, &self.tenant, id).await
    }

    async fn last_position(&mut self) -> Result<Position, StorageError> {
        messages::last_position(&mut self.tx, &self.tenant).await
    }
}

#[async_trait]
impl AskReads for SeaReadUnit {
    async fn list_open_asks(&mut self, page: &OpenAsksPage) -> Result<Vec<Arc<Message>>, StorageError> {
        messages::list_open_asks(&mut self.tx, &self.tenant, page).await
    }
}

#[async_trait]
impl TokenReads for SeaReadUnit {
    async fn list_tokens(
        &mut self,
        account: AccountId,
        now: UnixMillis,
    ) -> Result<Vec<TokenRow>, StorageError> {
        tokens::list(&mut self.tx, &self.tenant, account, now).await
    }
}
