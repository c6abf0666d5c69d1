//! Reads of one snapshot.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use async_trait::async_trait;
use compass_comms::ports::{
    AccountReads, AskReads, ChannelReads, GroupReads, MessagePage, MessageReads, MovedTopic, NamedChannel,
    OpenAsksPage, SearchPage, TokenReads, TokenRow, TopicReads, TopicSummary,
};
use compass_domain::{
    Account, AccountId, Actor, Channel, ChannelGroup, ChannelId, GroupId, Handle, Message, MessageId,
    Position, ReadPosition, Seq, TopicId, UnixMillis, limits,
    roster::{self, RosterScope},
};
use compass_ports::StorageError;

use crate::{
    rows::{MessageRow, TenantRows},
    search::Search,
};

/// The rows of one tenant at one moment.
pub(crate) struct Snapshot {
    rows: TenantRows,
}

impl Snapshot {
    pub(crate) fn new(rows: TenantRows) -> Self {
        Self { rows }
    }

    fn open_asks(&self, channel: ChannelId) -> HashMap<TopicId, u32> {
        let mut counts = HashMap::new();
        for row in self.rows.messages.open_in(channel) {
            *counts.entry(row.message.topic()).or_default() += 1;
        }
        counts
    }
}

#[async_trait]
impl AccountReads for Snapshot {
    async fn find_account(&mut self, id: AccountId) -> Result<Option<Account>, StorageError> {
        Ok(self.rows.accounts.find(id).map(|account| Account::clone(account)))
    }

    async fn find_accounts(&mut self, ids: &[AccountId]) -> Result<Vec<Account>, StorageError> {
        let found = ids.iter().filter_map(|id| self.rows.accounts.find(*id));
        Ok(found.map(|account| Account::clone(account)).collect())
    }

    async fn find_account_by_handle(&mut self, handle: &Handle) -> Result<Option<Account>, StorageError> {
        Ok(self.rows.accounts.find_by_handle(handle).map(|account| Account::clone(account)))
    }

    async fn list_accounts(&mut self, viewer: Actor) -> Result<Vec<Account>, StorageError> {
        let visible = self.rows.accounts.all().filter(|account| self.rows.sees_account(viewer, account));
        Ok(visible.map(|account| Account::clone(account)).collect())
    }

    async fn sees_account(&mut self, viewer: Actor, account: AccountId) -> Result<bool, StorageError> {
        let found = self.rows.accounts.find(account);
        Ok(found.is_some_and(|account| self.rows.sees_account(viewer, account)))
    }

    async fn list_roster(
        &mut self,
        viewer: Actor,
        vantage: AccountId,
        scope: RosterScope,
    ) -> Result<Vec<Account>, StorageError> {
        let agents = roster::agents_in(scope, vantage, self.rows.accounts.forest());
        let agents = agents.into_iter().filter_map(|agent| self.rows.accounts.find(agent));
        let visible = agents.filter(|agent| self.rows.sees_account(viewer, agent));
        Ok(visible.map(|agent| Account::clone(agent)).collect())
    }

    async fn channel_mates(&mut self, account: AccountId) -> Result<Vec<AccountId>, StorageError> {
        let channels = self.rows.channels_of(account);
        let mates = self.rows.accounts.all().map(|other| other.id);
        let shares = |other: &AccountId| channels.iter().any(|id| self.rows.participates(*other, *id));
        Ok(mates.filter(shares).collect())
    }

    async fn list_activities(
        &mut self,
        agents: &[AccountId],
    ) -> Result<Vec<(AccountId, String, UnixMillis)>, StorageError> {
        let said = agents.iter().filter_map(|&agent| {
            let (activity, at) = self.rows.accounts.activity(agent)?;
            Some((agent, activity.to_owned(), at))
        });
        Ok(said.collect())
    }
}

#[async_trait]
impl ChannelReads for Snapshot {
    async fn find_channel(&mut self, id: ChannelId) -> Result<Option<Channel>, StorageError> {
        Ok(self.rows.channel(id))
    }

    async fn list_channels(&mut self, viewer: Actor) -> Result<Vec<Channel>, StorageError> {
        let ids = self.rows.visible_channels(viewer.id);
        let mut channels: Vec<Channel> = ids.iter().filter_map(|id| self.rows.channel(*id)).collect();
        channels.sort_by(|one, other| (one.name.key(), one.id).cmp(&(other.name.key(), other.id)));
        Ok(channels)
    }

    async fn find_channels_named(
        &mut self,
        viewer: Actor,
        key: &str,
    ) -> Result<Vec<NamedChannel>, StorageError> {
        let rows = &self.rows;
        let ids = rows.channels.named(key).filter(|id| rows.participates(viewer.id, *id));
        let found = ids.filter_map(|id| rows.channels.find(id));
        let named =
            |row: &Arc<Channel>| NamedChannel { id: row.id, name: row.name.clone(), group: row.group };
        Ok(found.map(named).collect())
    }

    async fn participating(
        &mut self,
        account: AccountId,
        channels: &[ChannelId],
    ) -> Result<Vec<ChannelId>, StorageError> {
        Ok(channels.iter().copied().filter(|id| self.rows.participates(account, *id)).collect())
    }

    async fn participants(&mut self, channel: ChannelId) -> Result<Vec<AccountId>, StorageError> {
        let accounts = self.rows.accounts.all().map(|account| account.id);
        Ok(accounts.filter(|account| self.rows.participates(*account, channel)).collect())
    }

    async fn sees_channel(&mut self, viewer: Actor, channel: ChannelId) -> Result<bool, StorageError> {
        Ok(self.rows.sees_channel(viewer.id, channel))
    }
}

#[async_trait]
impl GroupReads for Snapshot {
    async fn list_groups(&mut self, viewer: Actor) -> Result<Vec<ChannelGroup>, StorageError> {
        Ok(self.rows.groups.visible(viewer))
    }

    async fn sees_group(&mut self, viewer: Actor, group: GroupId) -> Result<bool, StorageError> {
        Ok(self.rows.groups.is_visible(group, viewer))
    }
}

#[async_trait]
impl TopicReads for Snapshot {
    async fn find_topic(&mut self, id: TopicId) -> Result<Option<TopicSummary>, StorageError> {
        Ok(self.rows.topics.find(id).map(|topic| self.rows.summary(topic)))
    }

    async fn find_topic_named(
        &mut self,
        channel: ChannelId,
        key: &str,
    ) -> Result<Option<TopicSummary>, StorageError> {
        Ok(self.rows.topics.named(channel, key).map(|topic| self.rows.summary(topic)))
    }

    async fn list_topics(
        &mut self,
        channels: &[ChannelId],
        include_archived: bool,
    ) -> Result<Vec<TopicSummary>, StorageError> {
        let channels: BTreeSet<ChannelId> = channels.iter().copied().collect();
        let mut topics = Vec::new();
        for channel in channels {
            let open = self.open_asks(channel);
            let listed = self.rows.topics.of(channel).filter(|topic| include_archived || !topic.archived);
            topics.extend(listed.map(|topic| TopicSummary {
                topic: Arc::clone(topic),
                open_asks: open.get(&topic.id).copied().unwrap_or_default(),
            }));
        }
        topics.sort_by_key(|TopicSummary { topic, .. }| {
            (topic.channel, Reverse(topic.last_seq), Reverse(topic.created_at), topic.id)
        });
        Ok(topics)
    }

    async fn list_moved_topics(&mut self, channels: &[ChannelId]) -> Result<Vec<MovedTopic>, StorageError> {
        let channels: BTreeSet<ChannelId> = channels.iter().copied().collect();
        Ok(channels.into_iter().flat_map(|channel| self.rows.topics.moved_in(channel)).collect())
    }

    async fn list_read_positions(
        &mut self,
        account: AccountId,
        channels: Option<&[ChannelId]>,
    ) -> Result<Vec<ReadPosition>, StorageError> {
        let channels =
            channels.map_or_else(|| self.rows.channels_of(account), |named| named.iter().copied().collect());
        let topics = channels.into_iter().flat_map(|channel| self.rows.topics.of(channel));
        let mut positions: Vec<ReadPosition> =
            topics.map(|topic| self.rows.read_position(account, topic.id)).collect();
        positions.sort_by_key(|position| position.topic);
        Ok(positions)
    }

    async fn find_read_position(
        &mut self,
        account: AccountId,
        topic: TopicId,
    ) -> Result<Option<ReadPosition>, StorageError> {
        let found = self.rows.topics.find(topic);
        Ok(found.map(|topic| self.rows.read_position(account, topic.id)))
    }
}

#[async_trait]
impl MessageReads for Snapshot {
    async fn list_messages(&mut self, page: &MessagePage) -> Result<Vec<Arc<Message>>, StorageError> {
        let messages = &self.rows.messages;
        let before = match page.before {
            None => Seq(u64::MAX),
            Some(id) => match messages.find(id).filter(|row| row.message.channel() == page.channel) {
                Some(row) => row.message.seq(),
                None => return Ok(Vec::new()),
            },
        };
        let in_snapshot =
            |row: &&Arc<MessageRow>| page.snapshot.is_none_or(|snapshot| row.position <= snapshot);
        let in_channel = |row: &&Arc<MessageRow>| row.message.channel() == page.channel;
        Ok(match page.topic {
            None => take_page(messages.below(page.channel, before).filter(in_snapshot), page.limit),
            Some(topic) => {
                let rows = messages.below_in_topic(topic, before).filter(in_channel);
                take_page(rows.filter(in_snapshot), page.limit)
            }
        })
    }

    async fn search_messages(&mut self, page: &SearchPage) -> Result<Vec<Arc<Message>>, StorageError> {
        let search = Search::new(&page.query);
        let channels = self.rows.channels_of(page.viewer);
        let channels = channels.into_iter().filter(|id| page.channel.is_none_or(|only| only == *id));
        let mut found: Vec<(usize, &Arc<MessageRow>)> = channels
            .flat_map(|channel| self.rows.messages.below(channel, Seq(u64::MAX)))
            .filter(|row| page.snapshot.is_none_or(|snapshot| row.position <= snapshot))
            .filter_map(|row| Some((search.score(&row.message.search_text())?, row)))
            .collect();
        found.sort_by_key(|(score, row)| Reverse((*score, row.position)));
        Ok(take_page(found.into_iter().map(|(_, row)| row), page.limit))
    }

    async fn list_pinned(&mut self, channel: ChannelId) -> Result<Vec<Arc<Message>>, StorageError> {
        let board = self.rows.channels.find(channel).map(|channel| &channel.pins);
        let pinned = board.into_iter().flatten().filter_map(|pin| self.rows.messages.find(pin.message));
        Ok(pinned.map(|row| Arc::clone(&row.message)).collect())
    }

    async fn find_message(&mut self, id: MessageId) -> Result<Option<Arc<Message>>, StorageError> {
        Ok(self.rows.messages.find(id).map(|row| Arc::clone(&row.message)))
    }

    async fn last_position(&mut self) -> Result<Position, StorageError> {
        Ok(self.rows.messages.last_position())
    }
}

#[async_trait]
impl AskReads for Snapshot {
    async fn list_open_asks(&mut self, page: &OpenAsksPage) -> Result<Vec<Arc<Message>>, StorageError> {
        let messages = &self.rows.messages;
        let before = match page.before {
            None => Position(u64::MAX),
            Some(id) => match messages.find(id) {
                Some(row) => row.position,
                None => return Ok(Vec::new()),
            },
        };
        let channels = self.rows.channels_of(page.viewer);
        let channels = channels.into_iter().filter(|id| page.channel.is_none_or(|only| only == *id));
        let mut rows: Vec<&Arc<MessageRow>> = channels
            .flat_map(|channel| messages.open_in(channel))
            .filter(|row| row.position < before)
            .collect();
        rows.sort_by_key(|row| Reverse(row.position));
        rows.dedup_by_key(|row| row.position);
        Ok(take_page(rows.into_iter(), page.limit))
    }
}

#[async_trait]
impl TokenReads for Snapshot {
    async fn list_tokens(
        &mut self,
        account: AccountId,
        now: UnixMillis,
    ) -> Result<Vec<TokenRow>, StorageError> {
        Ok(self.rows.tokens.working(account, now))
    }
}

/// Takes rows up to the limit and the byte bound, but at least one.
fn take_page<'a>(rows: impl Iterator<Item = &'a Arc<MessageRow>>, limit: u32) -> Vec<Arc<Message>> {
    let mut page: Vec<Arc<Message>> = Vec::new();
    let mut bytes = 0;
    for row in rows.take(limit as usize) {
        bytes += row.bytes;
        if bytes > limits::PAGE_BYTES && !page.is_empty() {
            break;
        }
        page.push(Arc::clone(&row.message));
    }
    page
}
