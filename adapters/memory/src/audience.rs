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
    message::AskAnswer,
};
use compass_hub::ports::{
    Audience, Labelled, Labels, Pending, PendingItem, PendingQuery, PinPlace, PinQuery, Pins,
};
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
                && (query.include_braked || !is_braked(&rows, row))
                && answer.is_none_or(|answer| answer == Some(row.message.id()))
                && !skip.contains(&row.message.id())
        });
        page(&rows, wanted, query.limit)
    }

    async fn owed(&self, tenant: &TenantId, accounts: &[AccountId]) -> Result<Vec<AccountId>, StorageError> {
        let rows = self.world().tenant(tenant);
        let agents = accounts.iter().filter_map(|id| rows.accounts.find(*id));
        let mut found: Vec<AccountId> = agents
            .filter(|account| account.is_agent() && !owing(&rows, account).is_empty())
            .map(|account| account.id)
            .collect();
        found.sort_unstable();
        Ok(found)
    }

    async fn pins(&self, tenant: &TenantId, query: &PinQuery) -> Result<Pins, StorageError> {
        let rows = self.world().tenant(tenant);
        let Some(agent) = rows.accounts.find(query.agent).filter(|account| account.is_agent()) else {
            return Ok(Pins::default());
        };
        let channels = rows.channels_of(agent.id);
        let swept = channels.into_iter().filter(|channel| rows.in_sweep_set(agent, *channel));
        let pinned = swept.filter_map(|id| rows.channels.find(id)).flat_map(|channel| {
            channel.pins.iter().map(|pin| ((channel.id, pin.position), pin.message)).collect::<Vec<_>>()
        });
        let mut pinned: Vec<(PinPlace, MessageId)> =
            pinned.filter(|(place, _)| query.after.is_none_or(|after| *place > after)).collect();
        pinned.sort_unstable();
        let mut page = Pins::default();
        let (mut bytes, mut last) = (0, None);
        for (place, message) in pinned {
            let Some(row) = rows.messages.find(message) else { continue };
            bytes += row.bytes;
            let is_full = page.messages.len() >= query.limit as usize
                || (bytes > limits::PAGE_BYTES && !page.messages.is_empty());
            if is_full {
                page.next = last;
                break;
            }
            page.messages.push(Arc::new(label(&rows, &row.message)?));
            last = Some(place);
        }
        Ok(page)
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

/// How many messages the agent's cursors owe it that a brake holds.
pub(crate) fn braked(rows: &TenantRows, agent: &Account) -> usize {
    let owed = owed(rows, agent);
    behind(rows, agent, &owed).into_iter().filter(|row| is_braked(rows, row)).count()
}

/// What an agent is owed that is ready, steers first.
pub(crate) fn owing(rows: &TenantRows, agent: &Account) -> Vec<(Lane, Arc<MessageRow>)> {
    let owed = owed(rows, agent);
    let behind = behind(rows, agent, &owed);
    let owed = owed.into_values().map(|row| (Lane::Steer, row));
    let behind = behind.into_iter().map(|row| (Lane::Deliver, row));
    let is_ready = |row: &MessageRow| !rows.deliveries.is_unrouted(row.position) && !is_braked(rows, row);
    owed.chain(behind).filter(|(_, row)| is_ready(row)).map(|(lane, row)| (lane, Arc::clone(row))).collect()
}

/// True if the message waits for a person.
fn is_braked(rows: &TenantRows, row: &MessageRow) -> bool {
    let message = &row.message;
    let topic = rows.topics.find(message.topic());
    topic.is_some_and(|topic| topic.run.holds(message.agent_run(), message.seq()))
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
    let asker = match message.answer().map(AskAnswer::asker) {
        Some(asker) => rows.accounts.find(asker).ok_or_else(|| missing("asker"))?.handle.to_string(),
        None => String::new(),
    };
    Ok(Labels {
        topic_name: topic.name.as_str().to_owned(),
        channel_name: channel.name.as_str().to_owned(),
        from_handle: author.handle.as_str().to_owned(),
        asker_handle: asker,
    })
}
