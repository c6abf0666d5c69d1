//! The writes of a batch as one statement per table.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use compass_domain::{AccountId, Message, MessageId, NewMessage, Topic, TopicId};
use compass_ports::{CursorWrite, OwedRow, StorageError, Writes};
use serde::Serialize;
use serde_json::{Value, json};

use super::needs::to_text;
use crate::{
    blocks::{self, hex},
    dialect::Dialect,
};

/// One statement that writes; it takes a JSON text and the tenant.
#[derive(Debug)]
pub(crate) struct Change {
    pub(super) name: &'static str,
    pub(super) sql: &'static str,
    pub(super) payload: String,
    /// Rows it must change where the statement itself cannot check it.
    pub(super) rows: Option<u64>,
}

impl Change {
    /// A statement with its parameter.
    ///
    /// # Errors
    ///
    /// [`StorageError::Internal`] if the parameter cannot be written as JSON.
    pub(crate) fn new(
        name: &'static str,
        sql: &'static str,
        payload: &impl Serialize,
        rows: Option<usize>,
    ) -> Result<Self, StorageError> {
        let rows = rows.map(|rows| rows as u64);
        Ok(Self { name, sql, payload: to_text(payload)?, rows })
    }
}

/// The changes of all writes of a batch, in the order that foreign keys need; none if nothing is stored.
///
/// # Errors
///
/// [`StorageError::Internal`] if a parameter cannot be written as JSON.
pub(super) fn of(dialect: Dialect, writes: &[Writes]) -> Result<Vec<Change>, StorageError> {
    let closed: Vec<_> = writes.iter().flat_map(Writes::closed).collect();
    let appended: Vec<_> = writes.iter().flat_map(Writes::appended).collect();
    let owed = net_owed(writes);

    let mut changes = Vec::new();
    push(&mut changes, dialect, &TOPICS, &topics(writes))?;
    if !closed.is_empty() {
        changes.extend(blocks::close(dialect, &closed)?);
    }
    if !appended.is_empty() {
        changes.push(blocks::insert(dialect, &appended)?);
    }
    push(&mut changes, dialect, &HEADS, &heads(&appended))?;
    push(&mut changes, dialect, &ASKS, &asks(&appended))?;
    push(&mut changes, dialect, &UNROUTED, &unrouted(&appended))?;
    push(&mut changes, dialect, &ROUTED, &routed(writes))?;
    push(&mut changes, dialect, &OWED, &owed_rows(&owed))?;
    push(&mut changes, dialect, &CLEARED, &cleared_rows(&owed))?;
    push(&mut changes, dialect, &CURSORS, &cursors(writes))?;
    Ok(changes)
}

fn push(
    changes: &mut Vec<Change>,
    dialect: Dialect,
    table: &Table,
    rows: &[Value],
) -> Result<(), StorageError> {
    if !rows.is_empty() {
        let sql = match dialect {
            Dialect::Postgres => table.postgres,
            Dialect::Sqlite => table.sqlite,
        };
        changes.push(Change::new(table.name, sql, &rows, None)?);
    }
    Ok(())
}

/// The last state of every topic.
fn topics(writes: &[Writes]) -> Vec<Value> {
    let last: BTreeMap<TopicId, &Arc<Topic>> =
        writes.iter().flat_map(Writes::topics).map(|write| (write.topic.id, &write.topic)).collect();
    let row = |topic: &Arc<Topic>| {
        json!({
            "id": topic.id.to_string(),
            "channel": topic.channel.to_string(),
            "name": topic.name.as_str(),
            "name_key": topic.name.key(),
            "created_at": topic.created_at.0,
            "created_by": topic.created_by.to_string(),
            "archived": topic.archived,
            "last_seq": topic.last_seq.0,
            "messages": topic.message_count,
            "activity": topic.last_activity.0,
            "participants": topic.participants.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    };
    last.into_values().map(row).collect()
}

/// The newest message of every channel that got one.
fn heads(appended: &[&NewMessage]) -> Vec<Value> {
    let last: BTreeMap<_, _> = appended.iter().map(|new| (new.message().channel(), new.message())).collect();
    let row = |message: &Arc<Message>| json!({"id": message.channel().to_string(), "seq": message.seq().0, "at": message.at().0});
    last.into_values().map(row).collect()
}

fn asks(appended: &[&NewMessage]) -> Vec<Value> {
    let rows = appended.iter().flat_map(|new| {
        let message = new.message();
        message.asks().map(|ask| {
            json!({
                "ask": ask.id().to_string(),
                "channel": message.channel().to_string(),
                "message": message.id().to_string(),
                "author": message.author().to_string(),
                "digest": hex(&ask.digest().0),
            })
        })
    });
    rows.collect()
}

fn unrouted(appended: &[&NewMessage]) -> Vec<Value> {
    let rows = appended.iter().filter(|new| new.needs_routing()).map(|new| new.message());
    rows.map(|message| json!({"message": message.id().to_string(), "author": message.author().to_string()}))
        .collect()
}

fn routed(writes: &[Writes]) -> Vec<Value> {
    let messages: BTreeSet<MessageId> = writes.iter().flat_map(Writes::routed).copied().collect();
    messages.into_iter().map(|message| message.to_string().into()).collect()
}

/// What becomes of each owed row once every job had its say; none if it goes.
fn net_owed(writes: &[Writes]) -> BTreeMap<(AccountId, MessageId), Option<OwedRow>> {
    let mut net = BTreeMap::new();
    for one in writes {
        net.extend(one.cleared_owed().iter().map(|&key| (key, None)));
        net.extend(one.owed().iter().map(|&row| ((row.agent, row.message), Some(row))));
    }
    net
}

fn owed_rows(net: &BTreeMap<(AccountId, MessageId), Option<OwedRow>>) -> Vec<Value> {
    let row = |row: &OwedRow| {
        json!({
            "agent": row.agent.to_string(),
            "message": row.message.to_string(),
            "channel": row.channel.to_string(),
        })
    };
    net.values().flatten().map(row).collect()
}

fn cleared_rows(net: &BTreeMap<(AccountId, MessageId), Option<OwedRow>>) -> Vec<Value> {
    let gone = net.iter().filter(|(_, row)| row.is_none());
    gone.map(|((agent, message), _)| json!({"agent": agent.to_string(), "message": message.to_string()}))
        .collect()
}

/// The last state of every cursor.
fn cursors(writes: &[Writes]) -> Vec<Value> {
    let last: BTreeMap<_, _> =
        writes.iter().flat_map(Writes::cursors).map(|write| ((write.agent, write.channel), write)).collect();
    let row = |write: &CursorWrite| {
        json!({
            "agent": write.agent.to_string(),
            "channel": write.channel.to_string(),
            "acked": write.cursor.acked().0,
            "above": write.cursor.above().map(|seq| seq.0).collect::<Vec<_>>(),
        })
    };
    last.into_values().map(row).collect()
}

/// Every statement of this file on Postgres, with those of the blocks.
#[cfg(test)]
pub(super) fn postgres_statements() -> Vec<(&'static str, &'static str)> {
    let mut all: Vec<_> = TABLES.iter().map(|table| (table.name, table.postgres)).collect();
    let insert = blocks::insert(Dialect::Postgres, &[]).expect("no row cannot fail");
    let close = blocks::close(Dialect::Postgres, &[]).expect("no row cannot fail");
    all.extend(close.into_iter().chain([insert]).map(|change| (change.name, change.sql)));
    all
}

/// The same on SQLite.
#[cfg(test)]
pub(super) fn sqlite_statements() -> Vec<(&'static str, &'static str)> {
    let mut all: Vec<_> = TABLES.iter().map(|table| (table.name, table.sqlite)).collect();
    let insert = blocks::insert(Dialect::Sqlite, &[]).expect("no row cannot fail");
    let close = blocks::close(Dialect::Sqlite, &[]).expect("no row cannot fail");
    all.extend(close.into_iter().chain([insert]).map(|change| (change.name, change.sql)));
    all
}

#[cfg(test)]
const TABLES: [&Table; 8] = [&TOPICS, &HEADS, &ASKS, &UNROUTED, &ROUTED, &OWED, &CLEARED, &CURSORS];

/// A table's statement in both dialects.
struct Table {
    name: &'static str,
    postgres: &'static str,
    sqlite: &'static str,
}

const TOPICS: Table = Table {
    name: "put_topics",
    postgres: "
INSERT INTO topics (id, tenant, channel, name, name_key, created_at_ms, created_by, archived, last_seq,
    message_count, last_activity_ms, participants)
SELECT i.id, $2, i.channel, i.name, i.name_key, i.created_at, i.created_by, i.archived, i.last_seq, i.messages,
    i.activity, ARRAY(
        SELECT p.value::uuid FROM jsonb_array_elements_text(i.participants) WITH ORDINALITY AS p(value, place)
        ORDER BY p.place)
FROM jsonb_to_recordset($1) AS i(id uuid, channel uuid, name text, name_key text, created_at bigint,
    created_by uuid, archived boolean, last_seq bigint, messages bigint, activity bigint, participants jsonb)
ON CONFLICT (id) DO UPDATE SET archived = excluded.archived, last_seq = excluded.last_seq,
    message_count = excluded.message_count, last_activity_ms = excluded.last_activity_ms,
    participants = excluded.participants",
    sqlite: "
INSERT INTO topics (id, tenant, channel, name, name_key, created_at_ms, created_by, archived, last_seq,
    message_count, last_activity_ms, participants)
SELECT unhex(i.value->>'id'), ?2, unhex(i.value->>'channel'), i.value->>'name', i.value->>'name_key',
    i.value->>'created_at', unhex(i.value->>'created_by'), i.value->>'archived', i.value->>'last_seq',
    i.value->>'messages', i.value->>'activity', i.value->'participants'
FROM json_each(?1) i WHERE true
ON CONFLICT (id) DO UPDATE SET archived = excluded.archived, last_seq = excluded.last_seq,
    message_count = excluded.message_count, last_activity_ms = excluded.last_activity_ms,
    participants = excluded.participants",
};

const HEADS: Table = Table {
    name: "move_heads",
    postgres: "
UPDATE channels c SET last_seq = i.seq, last_at_ms = i.at
FROM jsonb_to_recordset($1) AS i(id uuid, seq bigint, at bigint)
WHERE c.id = i.id AND c.id = ANY(ARRAY(SELECT r.id FROM jsonb_to_recordset($1) AS r(id uuid)))",
    sqlite: "
UPDATE channels SET last_seq = i.seq, last_at_ms = i.at
FROM (SELECT unhex(value->>'id') AS id, value->>'seq' AS seq, value->>'at' AS at FROM json_each(?1)) i
WHERE channels.id = i.id AND +channels.tenant = ?2",
};

const ASKS: Table = Table {
    name: "insert_asks",
    postgres: "
INSERT INTO asks (ask_id, tenant, channel, message, author, digest)
SELECT i.ask, $2, i.channel, i.message, i.author, decode(i.digest, 'hex')
FROM jsonb_to_recordset($1) AS i(ask uuid, channel uuid, message uuid, author uuid, digest text)",
    sqlite: "
INSERT INTO asks (ask_id, tenant, channel, message, author, digest)
SELECT unhex(i.value->>'ask'), ?2, unhex(i.value->>'channel'), unhex(i.value->>'message'),
    unhex(i.value->>'author'), unhex(i.value->>'digest')
FROM json_each(?1) i",
};

const UNROUTED: Table = Table {
    name: "insert_unrouted",
    postgres: "
INSERT INTO unrouted (message, tenant, author)
SELECT i.message, $2, i.author FROM jsonb_to_recordset($1) AS i(message uuid, author uuid)",
    sqlite: "
INSERT INTO unrouted (message, tenant, author)
SELECT unhex(i.value->>'message'), ?2, unhex(i.value->>'author') FROM json_each(?1) i",
};

const ROUTED: Table = Table {
    name: "delete_unrouted",
    postgres: "
DELETE FROM unrouted
WHERE message = ANY(ARRAY(SELECT value::uuid FROM jsonb_array_elements_text($1)))",
    sqlite: "
DELETE FROM unrouted WHERE +tenant = ?2 AND message IN (SELECT unhex(value) FROM json_each(?1))",
};

const OWED: Table = Table {
    name: "insert_owed",
    postgres: "
INSERT INTO owed (agent, message, tenant, channel)
SELECT i.agent, i.message, $2, i.channel
FROM jsonb_to_recordset($1) AS i(agent uuid, message uuid, channel uuid)
ON CONFLICT (agent, message) DO NOTHING",
    sqlite: "
INSERT INTO owed (agent, message, tenant, channel)
SELECT unhex(i.value->>'agent'), unhex(i.value->>'message'), ?2, unhex(i.value->>'channel')
FROM json_each(?1) i WHERE true
ON CONFLICT (agent, message) DO NOTHING",
};

const CLEARED: Table = Table {
    name: "delete_owed",
    postgres: "
DELETE FROM owed o USING jsonb_to_recordset($1) AS i(agent uuid, message uuid)
WHERE o.agent = i.agent AND o.message = i.message
    AND o.message = ANY(ARRAY(SELECT r.message FROM jsonb_to_recordset($1) AS r(message uuid)))",
    sqlite: "
DELETE FROM owed WHERE +tenant = ?2 AND (agent, message) IN (
    SELECT unhex(value->>'agent'), unhex(value->>'message') FROM json_each(?1))",
};

const CURSORS: Table = Table {
    name: "move_cursors",
    postgres: "
UPDATE cursors c SET acked_seq = i.acked, above = ARRAY(
    SELECT a.value::bigint FROM jsonb_array_elements_text(i.above) WITH ORDINALITY AS a(value, place)
    ORDER BY a.place)
FROM jsonb_to_recordset($1) AS i(agent uuid, channel uuid, acked bigint, above jsonb)
WHERE c.agent = i.agent AND c.channel = i.channel
    AND c.agent = ANY(ARRAY(SELECT r.agent FROM jsonb_to_recordset($1) AS r(agent uuid)))",
    sqlite: "
UPDATE cursors SET acked_seq = i.acked, above = i.above
FROM (
    SELECT unhex(value->>'agent') AS agent, unhex(value->>'channel') AS channel, value->>'acked' AS acked,
        value->'above' AS above
    FROM json_each(?1)
) i
WHERE cursors.agent = i.agent AND cursors.channel = i.channel AND +cursors.tenant = ?2",
};
