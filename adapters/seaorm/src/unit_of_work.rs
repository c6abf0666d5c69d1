//! The rare writes of the storage port, all of one unit in one transaction.

use async_trait::async_trait;
use compass_comms::ports::{
    AccountRepository, ChannelRepository, CursorRepository, GroupRepository, ParticipantRepository,
    PinRepository, PurposeRepository, ReadPositionRepository, SettingsRepository, TokenHash, TokenRepository,
    TokenRow, TopicRepository, TopicSummary, UnitOfWork,
};
use compass_domain::{
    Account, AccountId, Channel, ChannelId, Handle, ReadPosition, Seq, TenantId, TokenId, Topic, TopicId,
    UnixMillis, channel::Member,
};
use compass_ports::StorageError;

use crate::{accounts, channels, participants, read_positions, tokens, topics, transaction::Tx};

/// One transaction over one tenant's rows; dropping it keeps nothing.
pub(crate) struct SeaUnitOfWork {
    pub(crate) tx: Tx,
    pub(crate) tenant: TenantId,
}

#[async_trait]
impl UnitOfWork for SeaUnitOfWork {
    fn accounts(&mut self) -> &mut dyn AccountRepository {
        self
    }

    fn channels(&mut self) -> &mut dyn ChannelRepository {
        self
    }

    fn groups(&mut self) -> &mut dyn GroupRepository {
        self
    }

    fn participants(&mut self) -> &mut dyn ParticipantRepository {
        self
    }

    fn purposes(&mut self) -> &mut dyn PurposeRepository {
        self
    }

    fn settings(&mut self) -> &mut dyn SettingsRepository {
        self
    }

    fn pins(&mut self) -> &mut dyn PinRepository {
        self
    }

    fn topics(&mut self) -> &mut dyn TopicRepository {
        self
    }

    fn read_positions(&mut self) -> &mut dyn ReadPositionRepository {
        self
    }

    fn cursors(&mut self) -> &mut dyn CursorRepository {
        self
    }

    fn tokens(&mut self) -> &mut dyn TokenRepository {
        self
    }

    async fn commit(self: Box<Self>) -> Result<(), StorageError> {
        self.tx.commit().await
    }
}

#[async_trait]
impl AccountRepository for SeaUnitOfWork {
    async fn insert(&mut self, account: &Account) -> Result<(), StorageError> {
        accounts::insert(&mut self.tx, &self.tenant, account).await
    }

    async fn find(&mut self, id: AccountId) -> Result<Option<Account>, StorageError> {
        accounts::find(&mut self.tx, &self.tenant, id).await
    }

    async fn find_all(&mut self, ids: &[AccountId]) -> Result<Vec<Account>, StorageError> {
        accounts::find_all(&mut self.tx, &self.tenant, ids).await
    }

    async fn find_all_by_handle(&mut self, handles: &[Handle]) -> Result<Vec<Account>, StorageError> {
        accounts::find_all_by_handle(&mut self.tx, &self.tenant, handles).await
    }

    async fn find_by_handle(&mut self, handle: &Handle) -> Result<Option<Account>, StorageError> {
        accounts::find_by_handle(&mut self.tx, &self.tenant, handle).await
    }

    async fn lock_tree(&mut self, owner: AccountId) -> Result<(), StorageError> {
        Ok(accounts::lock(&mut self.tx, &self.tenant, owner).await?)
    }

    async fn list_agents(&mut self, owner: AccountId) -> Result<Vec<Account>, StorageError> {
        accounts::agents_of(&mut self.tx, &self.tenant, owner).await
    }

    async fn set_parent(&mut self, agent: AccountId, parent: Option<AccountId>) -> Result<(), StorageError> {
        Ok(accounts::set_parent(&mut self.tx, &self.tenant, agent, parent).await?)
    }

    async fn put_activity(
        &mut self,
        agent: AccountId,
        activity: &str,
        at: UnixMillis,
    ) -> Result<(), StorageError> {
        Ok(accounts::put_activity(&mut self.tx, &self.tenant, agent, activity, at).await?)
    }
}

#[async_trait]
impl ChannelRepository for SeaUnitOfWork {
    async fn insert(&mut self, channel: &Channel) -> Result<(), StorageError> {
        channels::insert(&mut self.tx, &self.tenant, channel).await
    }

    async fn lock(&mut self, id: ChannelId) -> Result<Option<Channel>, StorageError> {
        channels::lock(&mut self.tx, &self.tenant, id).await
    }

    async fn participates(&mut self, account: AccountId, channel: ChannelId) -> Result<bool, StorageError> {
        channels::participates(&mut self.tx, &self.tenant, account, channel).await
    }

    async fn put_member(&mut self, channel: ChannelId, member: Member) -> Result<(), StorageError> {
        channels::put_member(&mut self.tx, &self.tenant, channel, member).await
    }

    async fn remove_member(&mut self, channel: ChannelId, account: AccountId) -> Result<bool, StorageError> {
        channels::remove_member(&mut self.tx, &self.tenant, channel, account).await
    }
}

#[async_trait]
impl TopicRepository for SeaUnitOfWork {
    async fn find(&mut self, id: TopicId) -> Result<Option<TopicSummary>, StorageError> {
        topics::find(&mut self.tx, &self.tenant, id).await
    }

    async fn find_named(&mut self, channel: ChannelId, key: &str) -> Result<Option<TopicId>, StorageError> {
        let found = topics::find_named(&mut self.tx, &self.tenant, channel, key).await?;
        Ok(found.map(|summary| summary.topic.id))
    }

    async fn keep(&mut self, id: TopicId) -> Result<Option<Topic>, StorageError> {
        topics::keep(&mut self.tx, &self.tenant, id).await
    }

    async fn lock(&mut self, ids: &[TopicId]) -> Result<Vec<Topic>, StorageError> {
        topics::lock(&mut self.tx, &self.tenant, ids).await
    }

    async fn lock_messages(&mut self, topic: TopicId) -> Result<(), StorageError> {
        Ok(topics::lock_messages(&mut self.tx, &self.tenant, topic).await?)
    }

    async fn first_posts(
        &mut self,
        topics: &[TopicId],
        authors: &[AccountId],
    ) -> Result<Vec<(AccountId, Seq)>, StorageError> {
        topics::first_posts(&mut self.tx, &self.tenant, topics, authors).await
    }

    async fn put(&mut self, topic: &Topic) -> Result<(), StorageError> {
        topics::put(&mut self.tx, &self.tenant, topic).await
    }

    async fn merge(&mut self, from: TopicId, into: &Topic) -> Result<(), StorageError> {
        topics::merge(&mut self.tx, &self.tenant, from, into).await
    }
}

#[async_trait]
impl ReadPositionRepository for SeaUnitOfWork {
    async fn find(
        &mut self,
        account: AccountId,
        topic: TopicId,
    ) -> Result<Option<ReadPosition>, StorageError> {
        read_positions::find(&mut self.tx, &self.tenant, account, topic).await
    }

    async fn advance(&mut self, account: AccountId, topic: TopicId, seq: Seq) -> Result<bool, StorageError> {
        Ok(read_positions::advance(&mut self.tx, &self.tenant, account, topic, seq).await?)
    }

    async fn list(&mut self, topics: &[TopicId]) -> Result<Vec<(TopicId, AccountId, Seq)>, StorageError> {
        read_positions::of_topics(&mut self.tx, &self.tenant, topics).await
    }

    async fn replace(
        &mut self,
        topic: TopicId,
        places: &[(AccountId, Seq)],
        gone: TopicId,
    ) -> Result<(), StorageError> {
        Ok(read_positions::replace(&mut self.tx, &self.tenant, topic, places, gone).await?)
    }
}

#[async_trait]
impl CursorRepository for SeaUnitOfWork {
    async fn seed(&mut self, agent: AccountId, channel: ChannelId) -> Result<(), StorageError> {
        Ok(participants::seed_cursors(&mut self.tx, &self.tenant, &[(agent, channel)]).await?)
    }

    async fn seed_all(&mut self, cursors: &[(AccountId, ChannelId)]) -> Result<(), StorageError> {
        Ok(participants::seed_cursors(&mut self.tx, &self.tenant, cursors).await?)
    }

    async fn owe_answers(&mut self, cursors: &[(AccountId, ChannelId)]) -> Result<(), StorageError> {
        Ok(participants::owe_answers(&mut self.tx, &self.tenant, cursors).await?)
    }
}

#[async_trait]
impl TokenRepository for SeaUnitOfWork {
    async fn insert(&mut self, token: &TokenRow) -> Result<(), StorageError> {
        tokens::insert(&mut self.tx, &self.tenant, token).await
    }

    async fn find(&mut self, id: TokenId) -> Result<Option<TokenRow>, StorageError> {
        tokens::find(&mut self.tx, &self.tenant, id).await
    }

    async fn find_by_hash(&mut self, hash: &TokenHash) -> Result<Option<TokenRow>, StorageError> {
        tokens::find_by_hash(&mut self.tx, &self.tenant, hash).await
    }

    async fn revoke(&mut self, id: TokenId, at: UnixMillis) -> Result<bool, StorageError> {
        tokens::revoke(&mut self.tx, &self.tenant, id, at).await
    }
}
