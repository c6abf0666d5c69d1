//! Who is owed what, over the rows in force.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use async_trait::async_trait;
use compass_domain::{
    Account, AccountId, ChannelId, Corrupt, Message, MessageId, Seq, TenantId,
    delivery::{AgentMember, Lane},
    limits,
};
use compass_hub::ports::{Audience, Labelled, Labels, Pending, PendingItem, PendingQuery};
use compass_ports::StorageError;

use crate::{
    MemoryStorage,
    rows::{MessageRow, TenantRows},
};

#[async_trait]
impl Audience for MemoryStorage {
    async fn members(
        &self,
        tenant: &TenantId,
        channel: ChannelId,
    ) -> Result<Arc<[AgentMember]>, StorageError> {
        Ok(self.world().tenant(tenant).agents_of(channel).into())
    }

    async fn labelled(
        &self,
        tenant: &TenantId,
        message: MessageId,
    ) -> Result<Option<Arc<Labelled>>, StorageError> {
        let rows = self.world().tenant(tenant);
        let Some(row) = rows.messages.find(message) else { return Ok(None) };
        Ok(Some(Arc::new(label(&rows, &row.message)?)))
    }

    async fn labels(&self, tenant: &TenantId, message: &Message) -> Result<Labels, StorageError> {
        labels(&self.world().tenant(tenant), message)
    }

    async fn pending(&self, tenant: &TenantId, query: &PendingQuery) -> Result<Pending, StorageError> {
        let rows = self.world().tenant(tenant);
        let Some(agent) = rows.accounts.find(query.agent).filter(|account| account.is_agent()) else {
            return Ok(Pending::default());
        };
        let owed = owed(&rows, agent);
        let behind = behind(&rows, agent, &owed);
        let owed = owed.into_values().map(|row| (Lane::Steer, row));
        let behind = behind.into_iter().map(|row| (Lane::Deliver, row));
        let answer = query.answers_ask.map(|ask| rows.messages.answer_to(ask));
        let skip: HashSet<MessageId> = query.skip.iter().copied().collect();
        let wanted = owed.chain(behind).filter(|(_, row)| {
            (query.include_unrouted || !rows.deliveries.is_unrouted(row.position))
                && answer.is_none_or(|answer| answer == Some(row.message.id()))
                && !skip.contains(&row.message.id())
        });
        page(&rows, wanted, query.limit)
    }

    async fn with_open_asks(
        &self,
        tenant: &TenantId,
        accounts: &[AccountId],
    ) -> Result<Vec<AccountId>, StorageError> {
        let rows = self.world().tenant(tenant);
        let is_agent = |id: &AccountId| rows.accounts.find(*id).is_some_and(|account| account.is_agent());
        let asking = accounts.iter().copied().filter(is_agent).filter(|id| rows.messages.has_open_ask(*id));
        Ok(asking.collect())
    }
}

/// Owed rows of channels the agent still takes part in, by channel and seq.
fn owed<'a>(rows: &'a TenantRows, agent: &Account) -> BTreeMap<(ChannelId, Seq), &'a Arc<MessageRow>> {
    let owed = rows.deliveries.owed_to(agent.id);
    let readable = owed.filter(|(_, channel)| rows.participates(agent.id, *channel));
    let found = readable.filter_map(|(message, _)| rows.messages.find(message));
    found.map(|row| ((row.message.channel(), row.message.seq()), row)).collect()
}

/// What the agent's cursors do not cover in its sweep channels, without its own and what it is owed anyway.
fn behind<'a>(
    rows: &'a TenantRows,
    agent: &Account,
    owed: &BTreeMap<(ChannelId, Seq), &Arc<MessageRow>>,
) -> Vec<&'a Arc<MessageRow>> {
    let cursors = rows.deliveries.cursors_of(agent.id);
    let cursors = cursors.filter(|(channel, _)| rows.in_sweep_set(agent, *channel));
    cursors
        .flat_map(|(channel, cursor)| {
            let above = rows.messages.above(channel, cursor.acked());
            above.filter(|row| !cursor.covers(row.message.seq()))
        })
        .filter(|row| row.message.author() != agent.id)
        .filter(|row| !owed.contains_key(&(row.message.channel(), row.message.seq())))
        .collect()
}

fn page<'a>(
    rows: &TenantRows,
    wanted: impl Iterator<Item = (Lane, &'a Arc<MessageRow>)>,
    limit: u32,
) -> Result<Pending, StorageError> {
    let mut page = Pending::default();
    let mut bytes = 0;
    let mut is_full = false;
    for (lane, row) in wanted {
        bytes += row.bytes;
        is_full |=
            page.items.len() >= limit as usize || (bytes > limits::PAGE_BYTES && !page.items.is_empty());
        if is_full {
            page.waiting = page.waiting.saturating_add(1);
        } else {
            page.items.push(PendingItem { lane, message: Arc::new(label(rows, &row.message)?) });
        }
    }
    Ok(page)
}

fn label(rows: &TenantRows, message: &Arc<Message>) -> Result<Labelled, StorageError> {
    Ok(Labelled { message: Arc::clone(message), labels: labels(rows, message)? })
}

fn labels(rows: &TenantRows, message: &Message) -> Result<Labels, StorageError> {
    let missing = |what: &str| Corrupt::new(format!("message {} has no {what}", message.id()));
    let topic = rows.topics.find(message.topic()).ok_or_else(|| missing("topic"))?;
    let channel = rows.channels.find(message.channel()).ok_or_else(|| missing("channel"))?;
    let author = rows.accounts.find(message.author()).ok_or_else(|| missing("author"))?;
    Ok(Labels {
        topic_name: topic.name.as_str().to_owned(),
        channel_name: channel.name.as_str().to_owned(),
        from_handle: author.handle.as_str().to_owned(),
    })
}
