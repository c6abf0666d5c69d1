//! The writes of a batch as one statement per table.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, LazyLock},
};

use compass_domain::{AccountId, ClosedAsk, Message, MessageId, NewMessage, TopicId, channel::PostPolicy};
use compass_ports::{CursorWrite, OwedRow, StorageError, TopicWrite, Writes};
use serde_json::{Value, json};

use super::{
    known::Guess,
    table::{Change, Known, Shape, Table},
};
use crate::{
    blocks::{self, hex},
    participation::takes_part,
};

/// The changes of all writes of a batch, in the order that foreign keys need; none if nothing is stored.
///
/// # Errors
///
/// [`StorageError::Internal`] if a row cannot be written as JSON.
pub(super) fn of(writes: &[Writes]) -> Result<Vec<Change>, StorageError> {
    let closed: Vec<_> = writes.iter().flat_map(Writes::closed).collect();
    let appended: Vec<_> = writes.iter().flat_map(Writes::appended).collect();
    let (created, kept) = topics(writes);
    let created: Vec<Value> = created.into_iter().map(topic_row).collect();
    let kept: Vec<Value> = kept.into_iter().map(topic_row).collect();
    let owed = net_owed(writes);

    let mut changes = Changes { shape: Shape::Many, list: Vec::new() };
    changes.counted(&NEW_TOPICS, &created)?;
    changes.counted(&TOPICS, &kept)?;
    changes.close(&closed)?;
    changes.insert(&appended)?;
    let heads: Vec<Value> = heads(&appended).map(head_row).collect();
    changes.counted(&HEADS, &heads)?;
    changes.push(&ASKS, &asks(&appended))?;
    changes.push(&UNROUTED, &unrouted(&appended))?;
    changes.push(&ROUTED, &routed(writes))?;
    changes.push(&OWED, &owed_rows(&owed))?;
    changes.push(&CLEARED, &cleared_rows(&owed))?;
    let cursors: Vec<Value> = cursors(writes).map(cursor_row).collect();
    changes.counted(&CURSORS, &cursors)?;
    Ok(changes.list)
}

/// The changes of one job that was decided from what was known, in the order of the locks; none if it does what only
/// a job under locks may do.
///
/// # Errors
///
/// [`StorageError::Internal`] if a row cannot be written as JSON.
pub(super) fn of_guess(writes: &Writes, guess: &Guess) -> Result<Vec<Change>, StorageError> {
    let one = std::slice::from_ref(writes);
    let closed: Vec<_> = writes.closed().iter().collect();
    let appended: Vec<_> = writes.appended().iter().collect();
    let (created, kept) = topics(one);
    if !created.is_empty() || !writes.routed().is_empty() || !writes.owed().is_empty() {
        return Ok(Vec::new());
    }
    let mut changes = Changes { shape: Shape::Known, list: Vec::new() };
    let heads: Option<Vec<Value>> = heads(&appended).map(|message| known_head(message, guess)).collect();
    let kept: Option<Vec<Value>> = kept.into_iter().map(|write| known_topic(write, guess)).collect();
    let cursors: Option<Vec<Value>> = cursors(one).map(|write| known_cursor(write, guess)).collect();
    let (Some(heads), Some(kept), Some(cursors)) = (heads, kept, cursors) else { return Ok(Vec::new()) };
    changes.counted(&HEADS, &heads)?;
    changes.close(&closed)?;
    changes.counted(&TOPICS, &kept)?;
    changes.insert(&appended)?;
    changes.push(&ASKS, &asks(&appended))?;
    changes.push(&UNROUTED, &unrouted(&appended))?;
    changes.push(&CLEARED, &cleared_rows(&net_owed(one)))?;
    changes.counted(&CURSORS, &cursors)?;
    Ok(changes.list)
}

struct Changes {
    shape: Shape,
    list: Vec<Change>,
}

impl Changes {
    fn push(&mut self, table: &'static Table, rows: &[Value]) -> Result<(), StorageError> {
        if !rows.is_empty() {
            self.list.push(Change::new(table, rows, None, self.shape)?);
        }
        Ok(())
    }

    /// Each of the rows must be there to be changed.
    fn counted(&mut self, table: &'static Table, rows: &[Value]) -> Result<(), StorageError> {
        if !rows.is_empty() {
            self.list.push(Change::new(table, rows, Some(rows.len()), self.shape)?);
        }
        Ok(())
    }

    fn close(&mut self, closed: &[&ClosedAsk]) -> Result<(), StorageError> {
        if !closed.is_empty() {
            self.list.extend(blocks::close(closed, self.shape)?);
        }
        Ok(())
    }

    fn insert(&mut self, appended: &[&NewMessage]) -> Result<(), StorageError> {
        if !appended.is_empty() {
            self.list.push(blocks::insert(appended, self.shape)?);
        }
        Ok(())
    }
}

/// The last state of every topic: of those that are new, and of the others.
fn topics(writes: &[Writes]) -> (Vec<&TopicWrite>, Vec<&TopicWrite>) {
    let mut created = BTreeSet::new();
    let mut last: BTreeMap<TopicId, &TopicWrite> = BTreeMap::new();
    for write in writes.iter().flat_map(Writes::topics) {
        if write.created {
            created.insert(write.topic.id);
        }
        last.insert(write.topic.id, write);
    }
    last.into_values().partition(|write| created.contains(&write.topic.id))
}

fn topic_row(write: &TopicWrite) -> Value {
    let topic = &write.topic;
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
        "run": topic.run.length,
        "person": topic.run.person.0,
    })
}

/// A topic's row with what it must still be.
fn known_topic(write: &TopicWrite, guess: &Guess) -> Option<Value> {
    let was = guess.loaded.topic(write.topic.channel, write.topic.id)?;
    let mut row = topic_row(write);
    row["was_name"] = was.name.as_str().into();
    row["was_archived"] = was.archived.into();
    row["was_last_seq"] = was.last_seq.0.into();
    row["was_messages"] = was.message_count.into();
    Some(row)
}

/// The newest message of every channel that got one.
fn heads<'a>(appended: &[&'a NewMessage]) -> impl Iterator<Item = &'a Arc<Message>> {
    let last: BTreeMap<_, _> = appended.iter().map(|new| (new.message().channel(), new.message())).collect();
    last.into_values()
}

fn head_row(message: &Arc<Message>) -> Value {
    json!({"id": message.channel().to_string(), "seq": message.seq().0, "at": message.at().0})
}

/// A channel's row with what it must still be, and who must still take part.
fn known_head(message: &Arc<Message>, guess: &Guess) -> Option<Value> {
    let was = guess.loaded.channel(message.channel())?;
    let mut row = head_row(message);
    row["was_seq"] = was.last_seq.0.into();
    row["was_at"] = was.last_at.0.into();
    row["was_owner"] = match was.policy {
        PostPolicy::Open => Value::Null,
        PostPolicy::OwnerOnly { owner } => owner.to_string().into(),
    };
    row["actor"] = guess.actor.to_string().into();
    Some(row)
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
    messages.into_iter().map(|message| json!({"message": message.to_string()})).collect()
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
fn cursors(writes: &[Writes]) -> impl Iterator<Item = &CursorWrite> {
    let last: BTreeMap<_, _> =
        writes.iter().flat_map(Writes::cursors).map(|write| ((write.agent, write.channel), write)).collect();
    last.into_values()
}

fn cursor_row(write: &CursorWrite) -> Value {
    json!({
        "agent": write.agent.to_string(),
        "channel": write.channel.to_string(),
        "acked": write.cursor.acked().0,
        "above": write.cursor.above().map(|seq| seq.0).collect::<Vec<_>>(),
    })
}

/// A cursor's row with what it must still be.
fn known_cursor(write: &CursorWrite, guess: &Guess) -> Option<Value> {
    let was = &guess.loaded.cursor(write.agent, write.channel)?.cursor;
    let above: Vec<String> = was.above().map(|seq| seq.0.to_string()).collect();
    let mut row = cursor_row(write);
    row["was_acked"] = was.acked().0.into();
    row["was_above"] = format!("{{{}}}", above.join(",")).into();
    Some(row)
}

/// Every statement on Postgres, those of the blocks too: as it is for many rows, and as it is for one known row.
#[cfg(test)]
pub(super) fn samples() -> Vec<Change> {
    let tables = [&NEW_TOPICS, &TOPICS, &*HEADS, &ASKS, &UNROUTED, &ROUTED, &OWED, &CLEARED, &CURSORS];
    let mut all = Vec::new();
    for table in tables {
        let columns = table.columns.iter().chain(table.known.iter().flat_map(|known| known.columns));
        let row: Value = columns
            .map(|(name, _)| ((*name).to_owned(), Value::Null))
            .collect::<serde_json::Map<_, _>>()
            .into();
        all.push(Change::new::<Value>(table, &[], Some(0), Shape::Many).expect("no row cannot fail"));
        all.push(Change::new(table, &[row], Some(0), Shape::Known).expect("every column is there"));
    }
    all.push(blocks::insert(&[], Shape::Many).expect("no row cannot fail"));
    all.extend(blocks::close(&[], Shape::Many).expect("no row cannot fail"));
    all
}

const TOPIC_COLUMNS: super::table::Columns = &[
    ("id", "uuid"),
    ("channel", "uuid"),
    ("name", "text"),
    ("name_key", "text"),
    ("created_at", "bigint"),
    ("created_by", "uuid"),
    ("archived", "boolean"),
    ("last_seq", "bigint"),
    ("messages", "bigint"),
    ("activity", "bigint"),
    ("participants", "jsonb"),
    ("run", "bigint"),
    ("person", "bigint"),
];

static NEW_TOPICS: Table = Table {
    name: "insert_topics",
    columns: TOPIC_COLUMNS,
    postgres: Cow::Borrowed(
        "
INSERT INTO topics (id, tenant, channel, name, name_key, created_at_ms, created_by, archived, last_seq,
    message_count, last_activity_ms, agent_run, person_seq, participants)
SELECT i.id, $2, i.channel, i.name, i.name_key, i.created_at, i.created_by, i.archived, i.last_seq, i.messages,
    i.activity, i.run, i.person, ARRAY(
        SELECT p.value::uuid FROM jsonb_array_elements_text(i.participants) WITH ORDINALITY AS p(value, place)
        ORDER BY p.place)
FROM {rows}",
    ),
    many: "",
    known: None,
    sqlite: "
INSERT INTO topics (id, tenant, channel, name, name_key, created_at_ms, created_by, archived, last_seq,
    message_count, last_activity_ms, agent_run, person_seq, participants)
SELECT unhex(i.value->>'id'), ?2, unhex(i.value->>'channel'), i.value->>'name', i.value->>'name_key',
    i.value->>'created_at', unhex(i.value->>'created_by'), i.value->>'archived', i.value->>'last_seq',
    i.value->>'messages', i.value->>'activity', i.value->>'run', i.value->>'person', i.value->'participants'
FROM json_each(?1) i",
};

static TOPICS: Table = Table {
    name: "update_topics",
    columns: TOPIC_COLUMNS,
    postgres: Cow::Borrowed(
        "
UPDATE topics t SET archived = i.archived, last_seq = i.last_seq, message_count = i.messages,
    last_activity_ms = i.activity, agent_run = i.run, person_seq = i.person, participants = ARRAY(
        SELECT p.value::uuid FROM jsonb_array_elements_text(i.participants) WITH ORDINALITY AS p(value, place)
        ORDER BY p.place)
FROM {rows}
WHERE t.id = i.id",
    ),
    many: " AND t.id = ANY(ARRAY(SELECT r.id FROM jsonb_to_recordset($1) AS r(id uuid)))",
    known: Some(Known {
        columns: &[
            ("was_name", "text"),
            ("was_archived", "boolean"),
            ("was_last_seq", "bigint"),
            ("was_messages", "bigint"),
        ],
        condition: Cow::Borrowed(
            " AND t.channel = i.channel AND t.name = i.was_name AND t.archived = i.was_archived
    AND t.last_seq = i.was_last_seq AND t.message_count = i.was_messages",
        ),
    }),
    sqlite: "
UPDATE topics SET archived = i.archived, last_seq = i.last_seq, message_count = i.messages,
    last_activity_ms = i.activity, agent_run = i.run, person_seq = i.person, participants = i.participants
FROM (
    SELECT unhex(value->>'id') AS id, value->>'archived' AS archived, value->>'last_seq' AS last_seq,
        value->>'messages' AS messages, value->>'activity' AS activity,
        value->>'run' AS run, value->>'person' AS person, value->'participants' AS participants
    FROM json_each(?1)
) i
WHERE topics.id = i.id AND +topics.tenant = ?2",
};

static HEADS: LazyLock<Table> = LazyLock::new(|| {
    Table {
    name: "move_heads",
    columns: &[("id", "uuid"), ("seq", "bigint"), ("at", "bigint")],
    postgres: Cow::Borrowed(
        "
UPDATE channels c SET last_seq = i.seq, last_at_ms = i.at FROM {rows}
WHERE c.id = i.id",
    ),
    many: " AND c.id = ANY(ARRAY(SELECT r.id FROM jsonb_to_recordset($1) AS r(id uuid)))",
    known: Some(Known {
        columns: &[("was_seq", "bigint"), ("was_at", "bigint"), ("was_owner", "uuid"), ("actor", "uuid")],
        condition: format!(
            " AND c.last_seq = i.was_seq AND c.last_at_ms = i.was_at AND c.owner IS NOT DISTINCT FROM i.was_owner
    AND {}",
            takes_part("i.actor", "c")
        )
        .into(),
    }),
    sqlite: "
UPDATE channels SET last_seq = i.seq, last_at_ms = i.at
FROM (SELECT unhex(value->>'id') AS id, value->>'seq' AS seq, value->>'at' AS at FROM json_each(?1)) i
WHERE channels.id = i.id AND +channels.tenant = ?2",
}
});

static ASKS: Table = Table {
    name: "insert_asks",
    columns: &[
        ("ask", "uuid"),
        ("channel", "uuid"),
        ("message", "uuid"),
        ("author", "uuid"),
        ("digest", "text"),
    ],
    postgres: Cow::Borrowed(
        "
INSERT INTO asks (ask_id, tenant, channel, message, author, digest)
SELECT i.ask, $2, i.channel, i.message, i.author, decode(i.digest, 'hex')
FROM {rows}",
    ),
    many: "",
    known: None,
    sqlite: "
INSERT INTO asks (ask_id, tenant, channel, message, author, digest)
SELECT unhex(i.value->>'ask'), ?2, unhex(i.value->>'channel'), unhex(i.value->>'message'),
    unhex(i.value->>'author'), unhex(i.value->>'digest')
FROM json_each(?1) i",
};

static UNROUTED: Table = Table {
    name: "insert_unrouted",
    columns: &[("message", "uuid"), ("author", "uuid")],
    postgres: Cow::Borrowed(
        "
INSERT INTO unrouted (message, tenant, author)
SELECT i.message, $2, i.author FROM {rows}",
    ),
    many: "",
    known: None,
    sqlite: "
INSERT INTO unrouted (message, tenant, author)
SELECT unhex(i.value->>'message'), ?2, unhex(i.value->>'author') FROM json_each(?1) i",
};

static ROUTED: Table = Table {
    name: "delete_unrouted",
    columns: &[("message", "uuid")],
    postgres: Cow::Borrowed(
        "
DELETE FROM unrouted u USING {rows}
WHERE u.message = i.message",
    ),
    many: " AND u.message = ANY(ARRAY(SELECT r.message FROM jsonb_to_recordset($1) AS r(message uuid)))",
    known: None,
    sqlite: "
DELETE FROM unrouted
WHERE +tenant = ?2 AND message IN (SELECT unhex(value->>'message') FROM json_each(?1))",
};

static OWED: Table = Table {
    name: "insert_owed",
    columns: &[("agent", "uuid"), ("message", "uuid"), ("channel", "uuid")],
    postgres: Cow::Borrowed(
        "
INSERT INTO owed (agent, message, tenant, channel)
SELECT i.agent, i.message, $2, i.channel FROM {rows}
ON CONFLICT (agent, message) DO NOTHING",
    ),
    many: "",
    known: None,
    sqlite: "
INSERT INTO owed (agent, message, tenant, channel)
SELECT unhex(i.value->>'agent'), unhex(i.value->>'message'), ?2, unhex(i.value->>'channel')
FROM json_each(?1) i WHERE true
ON CONFLICT (agent, message) DO NOTHING",
};

static CLEARED: Table = Table {
    name: "delete_owed",
    columns: &[("agent", "uuid"), ("message", "uuid")],
    postgres: Cow::Borrowed(
        "
DELETE FROM owed o USING {rows}
WHERE o.agent = i.agent AND o.message = i.message",
    ),
    many: " AND o.message = ANY(ARRAY(SELECT r.message FROM jsonb_to_recordset($1) AS r(message uuid)))",
    known: None,
    sqlite: "
DELETE FROM owed WHERE +tenant = ?2 AND (agent, message) IN (
    SELECT unhex(value->>'agent'), unhex(value->>'message') FROM json_each(?1))",
};

static CURSORS: Table = Table {
    name: "move_cursors",
    columns: &[("agent", "uuid"), ("channel", "uuid"), ("acked", "bigint"), ("above", "jsonb")],
    postgres: Cow::Borrowed(
        "
UPDATE cursors c SET acked_seq = i.acked, above = ARRAY(
    SELECT a.value::bigint FROM jsonb_array_elements_text(i.above) WITH ORDINALITY AS a(value, place)
    ORDER BY a.place)
FROM {rows}
WHERE c.agent = i.agent AND c.channel = i.channel",
    ),
    many: " AND c.agent = ANY(ARRAY(SELECT r.agent FROM jsonb_to_recordset($1) AS r(agent uuid)))",
    known: Some(Known {
        columns: &[("was_acked", "bigint"), ("was_above", "bigint[]")],
        condition: Cow::Borrowed(" AND c.acked_seq = i.was_acked AND c.above = i.was_above"),
    }),
    sqlite: "
UPDATE cursors SET acked_seq = i.acked, above = i.above
FROM (
    SELECT unhex(value->>'agent') AS agent, unhex(value->>'channel') AS channel, value->>'acked' AS acked,
        value->'above' AS above
    FROM json_each(?1)
) i
WHERE cursors.agent = i.agent AND cursors.channel = i.channel AND +cursors.tenant = ?2",
};
