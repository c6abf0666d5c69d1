//! The unit of work of rare writes: it changes a copy, and a commit puts the copy in force.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use compass_comms::ports::{
    AccountRepository, ChannelRepository, CursorRepository, GroupRepository, ParticipantRepository,
    PinRepository, PurposeRepository, ReadPositionRepository, SettingsRepository, TokenHash, TokenRepository,
    TokenRow, TopicRepository, TopicSummary, UnitOfWork,
};
use compass_domain::{
    Account, AccountId, Channel, ChannelId, Handle, Message, MessageId, ReadPosition, Seq, TenantId, TokenId,
    Topic, TopicId, UnixMillis, channel::Member, delivery::Cursor,
};
use compass_ports::{OwedRow, StorageError, TopicWrite};

use crate::{rows::TenantRows, storage::Turn};

/// One turn over the rows of one tenant.
pub(crate) struct Unit {
    turn: Turn,
    tenant: TenantId,
}

impl Unit {
    pub(crate) fn new(turn: Turn, tenant: TenantId) -> Self {
        Self { turn, tenant }
    }

    pub(crate) fn rows(&mut self) -> &mut TenantRows {
        self.turn.world.tenant_mut(&self.tenant)
    }
}

#[async_trait]
impl UnitOfWork for Unit {
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

    async fn commit(mut self: Box<Self>) -> Result<(), StorageError> {
        self.turn.keep();
        Ok(())
    }
}

#[async_trait]
impl AccountRepository for Unit {
    async fn insert(&mut self, account: &Account) -> Result<(), StorageError> {
        self.rows().accounts.insert(account)
    }

    async fn find(&mut self, id: AccountId) -> Result<Option<Account>, StorageError> {
        Ok(self.rows().accounts.find(id).map(|account| Account::clone(account)))
    }

    async fn find_all(&mut self, ids: &[AccountId]) -> Result<Vec<Account>, StorageError> {
        let rows = self.rows();
        let mut found: Vec<Account> = ids
            .iter()
            .filter_map(|id| rows.accounts.find(*id))
            .map(|account| Account::clone(account))
            .collect();
        found.sort_by_key(|account| account.id);
        found.dedup_by_key(|account| account.id);
        Ok(found)
    }

    async fn find_all_by_handle(&mut self, handles: &[Handle]) -> Result<Vec<Account>, StorageError> {
        let rows = self.rows();
        let found = handles.iter().filter_map(|handle| rows.accounts.find_by_handle(handle));
        let mut found: Vec<Account> = found.map(|account| Account::clone(account)).collect();
        found.sort_by(|one, other| one.handle.cmp(&other.handle));
        found.dedup_by(|one, other| one.id == other.id);
        Ok(found)
    }

    async fn find_by_handle(&mut self, handle: &Handle) -> Result<Option<Account>, StorageError> {
        Ok(self.rows().accounts.find_by_handle(handle).map(|account| Account::clone(account)))
    }

    async fn lock_tree(&mut self, _owner: AccountId) -> Result<(), StorageError> {
        // The turn holds every row already.
        Ok(())
    }

    async fn list_agents(&mut self, owner: AccountId) -> Result<Vec<Account>, StorageError> {
        Ok(self.rows().accounts.agents_of(owner))
    }

    async fn set_parent(&mut self, agent: AccountId, parent: Option<AccountId>) -> Result<(), StorageError> {
        self.rows().accounts.set_parent(agent, parent);
        Ok(())
    }

    async fn put_activity(
        &mut self,
        agent: AccountId,
        activity: &str,
        at: UnixMillis,
    ) -> Result<(), StorageError> {
        self.rows().accounts.put_activity(agent, activity, at);
        Ok(())
    }
}

#[async_trait]
impl ChannelRepository for Unit {
    async fn insert(&mut self, channel: &Channel) -> Result<(), StorageError> {
        self.rows().channels.insert(channel)
    }

    async fn lock(&mut self, id: ChannelId) -> Result<Option<Channel>, StorageError> {
        // The turn holds every row already.
        Ok(self.rows().channel(id))
    }

    async fn participates(&mut self, account: AccountId, channel: ChannelId) -> Result<bool, StorageError> {
        Ok(self.rows().participates(account, channel))
    }

    async fn put_member(&mut self, channel: ChannelId, member: Member) -> Result<(), StorageError> {
        self.rows().channels.put_member(channel, member)
    }

    async fn remove_member(&mut self, channel: ChannelId, account: AccountId) -> Result<bool, StorageError> {
        Ok(self.rows().channels.remove_member(channel, account))
    }
}

#[async_trait]
impl TopicRepository for Unit {
    async fn find(&mut self, id: TopicId) -> Result<Option<TopicSummary>, StorageError> {
        let rows = self.rows();
        Ok(rows.topics.find(id).map(|topic| rows.summary(topic)))
    }

    async fn find_named(&mut self, channel: ChannelId, key: &str) -> Result<Option<TopicId>, StorageError> {
        Ok(self.rows().topics.named(channel, key).map(|topic| topic.id))
    }

    async fn keep(&mut self, id: TopicId) -> Result<Option<Topic>, StorageError> {
        // The turn holds every row already, here and below.
        Ok(self.rows().topics.find(id).map(|topic| Topic::clone(topic)))
    }

    async fn lock(&mut self, ids: &[TopicId]) -> Result<Vec<Topic>, StorageError> {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        let topics = &self.rows().topics;
        Ok(ids.into_iter().filter_map(|id| topics.find(id)).map(|topic| Topic::clone(topic)).collect())
    }

    async fn lock_messages(&mut self, _topic: TopicId) -> Result<(), StorageError> {
        Ok(())
    }

    async fn first_posts(
        &mut self,
        topics: &[TopicId],
        authors: &[AccountId],
    ) -> Result<Vec<(AccountId, Seq)>, StorageError> {
        let messages = &self.rows().messages;
        let mut first: BTreeMap<AccountId, Seq> = BTreeMap::new();
        for row in topics.iter().flat_map(|topic| messages.above_in_topic(*topic, Seq(0))) {
            let (author, seq) = (row.message.author(), row.message.seq());
            if authors.contains(&author) {
                first.entry(author).and_modify(|known| *known = seq.min(*known)).or_insert(seq);
            }
        }
        Ok(first.into_iter().collect())
    }

    async fn put(&mut self, topic: &Topic) -> Result<(), StorageError> {
        self.rows().topics.put(&TopicWrite { topic: Arc::new(topic.clone()), created: false })
    }

    async fn merge(&mut self, from: TopicId, into: &Topic) -> Result<(), StorageError> {
        let rows = self.rows();
        if rows.read_places.of(from).next().is_some() {
            return Err(StorageError::Internal(format!("topic {from} still has read positions")));
        }
        rows.messages.move_all(from, into.id);
        rows.topics.remove(from);
        rows.topics.keep_moved(into.channel, from, into.id);
        rows.topics.put(&TopicWrite { topic: Arc::new(into.clone()), created: false })
    }
}

#[async_trait]
impl ReadPositionRepository for Unit {
    async fn find(
        &mut self,
        account: AccountId,
        topic: TopicId,
    ) -> Result<Option<ReadPosition>, StorageError> {
        let rows = self.rows();
        Ok(rows.topics.find(topic).map(|topic| rows.read_position(account, topic.id)))
    }

    async fn advance(&mut self, account: AccountId, topic: TopicId, seq: Seq) -> Result<bool, StorageError> {
        let places = &mut self.rows().read_places;
        let moves = places.find(account, topic).is_none_or(|stored| stored < seq);
        if moves {
            places.put(account, topic, seq);
        }
        Ok(moves)
    }

    async fn list(&mut self, topics: &[TopicId]) -> Result<Vec<(TopicId, AccountId, Seq)>, StorageError> {
        let places = &self.rows().read_places;
        let mut topics = topics.to_vec();
        topics.sort_unstable();
        let of = |topic: TopicId| places.of(topic).map(move |(account, seq)| (topic, account, seq));
        Ok(topics.into_iter().flat_map(of).collect())
    }

    async fn replace(
        &mut self,
        topic: TopicId,
        places: &[(AccountId, Seq)],
        gone: TopicId,
    ) -> Result<(), StorageError> {
        let stored = &mut self.rows().read_places;
        stored.remove_all(gone);
        for &(account, seq) in places {
            stored.put(account, topic, seq);
        }
        Ok(())
    }
}

#[async_trait]
impl CursorRepository for Unit {
    async fn seed(&mut self, agent: AccountId, channel: ChannelId) -> Result<(), StorageError> {
        let rows = self.rows();
        let head = rows.channels.head(channel);
        let head = head.ok_or_else(|| StorageError::Internal(format!("no channel {channel}")))?;
        rows.deliveries.seed(agent, channel, Cursor::seeded(head.last_seq));
        Ok(())
    }

    async fn seed_all(&mut self, cursors: &[(AccountId, ChannelId)]) -> Result<(), StorageError> {
        for &(agent, channel) in cursors {
            self.seed(agent, channel).await?;
        }
        Ok(())
    }

    async fn owe_answers(&mut self, cursors: &[(AccountId, ChannelId)]) -> Result<(), StorageError> {
        let rows = self.rows();
        for &(agent, channel) in cursors {
            let Some(cursor) = rows.deliveries.cursor(agent, channel) else { continue };
            let is_its_answer =
                |message: &Message| message.answer().is_some_and(|answer| answer.asker() == agent);
            let missed = rows
                .messages
                .above(channel, cursor.acked())
                .filter(|row| !cursor.covers(row.message.seq()) && is_its_answer(&row.message));
            let missed: Vec<MessageId> = missed.map(|row| row.message.id()).collect();
            for message in missed {
                rows.deliveries.owe(&OwedRow { agent, message, channel });
            }
        }
        Ok(())
    }
}

#[async_trait]
impl TokenRepository for Unit {
    async fn insert(&mut self, token: &TokenRow) -> Result<(), StorageError> {
        let world = &mut self.turn.world;
        if world.token_hashes.contains_key(&token.hash) {
            return Err(StorageError::Conflict("the token's hash is taken".into()));
        }
        world.token_hashes.insert_mut(token.hash, (self.tenant.clone(), token.id));
        self.rows().tokens.put(token.clone());
        Ok(())
    }

    async fn find(&mut self, id: TokenId) -> Result<Option<TokenRow>, StorageError> {
        Ok(self.rows().tokens.find(id).cloned())
    }

    async fn find_by_hash(&mut self, hash: &TokenHash) -> Result<Option<TokenRow>, StorageError> {
        let found = self.turn.world.token_hashes.get(hash).filter(|(tenant, _)| *tenant == self.tenant);
        let Some(&(_, id)) = found else { return Ok(None) };
        Ok(self.rows().tokens.find(id).cloned())
    }

    async fn revoke(&mut self, id: TokenId, at: UnixMillis) -> Result<bool, StorageError> {
        let tokens = &mut self.rows().tokens;
        let Some(row) = tokens.find(id).filter(|row| row.revoked_at.is_none()).cloned() else {
            return Ok(false);
        };
        tokens.put(TokenRow { revoked_at: Some(at), ..row });
        Ok(true)
    }
}
