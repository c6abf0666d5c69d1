//! Loads what a job's locks name.

use std::sync::Arc;

use compass_domain::{AccountId, AskId, ChannelId, MessageId, topic::TopicSelector};
use compass_ports::{CursorState, Loaded, LoadedAsk, Locks, Posted};

use super::TenantRows;

/// The rows a job decides on.
pub(crate) fn load(rows: &TenantRows, locks: &Locks) -> Loaded {
    let mut loaded = Loaded::new();
    match locks {
        Locks::Post { channel, author, topic, key } => {
            put_channel(rows, *channel, *author, &mut loaded);
            let topic = match topic {
                TopicSelector::Id(id) => rows.topics.find(*id),
                TopicSelector::Name { name, .. } => rows.topics.named(*channel, name.key()),
            };
            if let Some(topic) = topic {
                loaded.put_topic(Arc::clone(topic));
            }
            if let Some(key) = key
                && let Some(row) = rows.messages.posted(*author, key)
                && let Some(digest) = row.digest
            {
                let posted = Posted { message: Arc::clone(&row.message), digest };
                loaded.put_posted(*author, key.clone(), posted);
            }
        }
        Locks::Answer { ask, actor } => {
            if let Some((channel, message)) = put_ask(rows, *ask, *actor, &mut loaded) {
                put_channel(rows, channel, *actor, &mut loaded);
                let topic = rows.messages.find(message).and_then(|row| rows.topics.find(row.message.topic()));
                if let Some(topic) = topic {
                    loaded.put_topic(Arc::clone(topic));
                }
            }
        }
        Locks::Cancel { ask, actor } => {
            put_ask(rows, *ask, *actor, &mut loaded);
        }
        Locks::Acknowledge { agent, messages } => {
            for message in messages {
                put_receipt(rows, *agent, *message, &mut loaded);
            }
        }
        Locks::Route { message } => put_unrouted(rows, *message, &mut loaded),
    }
    loaded
}

fn put_channel(rows: &TenantRows, channel: ChannelId, account: AccountId, loaded: &mut Loaded) {
    if let Some(head) = rows.channels.head(channel) {
        loaded.put_channel(head);
    }
    if rows.participates(account, channel) {
        loaded.put_participant(channel, account);
    }
}

fn put_ask(
    rows: &TenantRows,
    ask: AskId,
    actor: AccountId,
    loaded: &mut Loaded,
) -> Option<(ChannelId, MessageId)> {
    let entry = rows.messages.ask(ask)?;
    let row = rows.messages.find(entry.message)?;
    let found = LoadedAsk {
        channel: entry.channel,
        message: entry.message,
        author: entry.author,
        digest: entry.digest,
    };
    loaded.put_ask(ask, Ok((found, Arc::clone(&row.message))));
    if rows.participates(actor, entry.channel) {
        loaded.put_participant(entry.channel, actor);
    }
    Some((entry.channel, entry.message))
}

fn put_receipt(rows: &TenantRows, agent: AccountId, message: MessageId, loaded: &mut Loaded) {
    let Some(row) = rows.messages.find(message) else { return };
    let channel = row.message.channel();
    loaded.put_place(message, channel, row.message.seq());
    if rows.deliveries.is_owed(agent, message) {
        loaded.put_owed(agent, message);
    }
    if let Some(cursor) = rows.deliveries.cursor(agent, channel) {
        let own = rows.messages.own_above(channel, agent, cursor.acked()).collect();
        loaded.put_cursor(agent, channel, CursorState { cursor: cursor.clone(), own });
    }
}

fn put_unrouted(rows: &TenantRows, message: MessageId, loaded: &mut Loaded) {
    let Some(row) = rows.messages.find(message) else { return };
    if rows.deliveries.is_unrouted(row.position) {
        let channel = row.message.channel();
        loaded.put_unrouted(message, Ok(Arc::clone(&row.message)));
        loaded.put_audience(channel, rows.agents_of(channel).into());
    }
}
