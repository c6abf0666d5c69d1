//! Reads of messages: pages that end at a number of bytes, and single ones.

use std::sync::Arc;

use compass_comms::ports::{MessagePage, OpenAsksPage};
use compass_domain::{ChannelId, Corrupt, Message, MessageId, Position, TenantId, limits};
use compass_ports::StorageError;
use sea_orm::{QueryResult, Value};

use crate::{
    dialect::Dialect,
    ids::{id, tenant},
    message_json::{MessageJson, postgres_message, sqlite_message},
    participation,
    rows::Columns as _,
    transaction::Tx,
};

/// A page of a channel's or a topic's messages, newest first.
pub(crate) async fn list(
    tx: &mut Tx,
    of: &TenantId,
    page: &MessagePage,
) -> Result<Vec<Arc<Message>>, StorageError> {
    let mut filter = Filter::new(vec![tenant(of), id(page.channel), i64::from(page.limit).into()]);
    if let Some(topic) = page.topic {
        filter.and("found.topic = ", id(topic), "");
    }
    if let Some(before) = page.before {
        let older =
            "found.seq < (SELECT bound.seq FROM messages bound WHERE bound.channel = $2 AND bound.id = ";
        filter.and(older, id(before), ")");
    }
    if let Some(snapshot) = page.snapshot {
        filter.and("found.position <= ", position(snapshot), "");
    }
    let newest = format!(
        "SELECT found.id, found.seq AS place, found.blocks_bytes FROM messages found
        WHERE found.tenant || '' = $1 AND found.channel = $2{} ORDER BY found.seq DESC LIMIT $3",
        filter.conditions
    );
    let sql = page_of(tx.dialect(), "", &newest);
    let rows = tx.all(&sql, filter.values).await?;
    rows.iter().map(read).collect()
}

/// A page of the messages that hold an open ask where the viewer takes part, newest first.
pub(crate) async fn list_open_asks(
    tx: &mut Tx,
    of: &TenantId,
    page: &OpenAsksPage,
) -> Result<Vec<Arc<Message>>, StorageError> {
    let mut filter = Filter::new(vec![tenant(of), id(page.viewer), i64::from(page.limit).into()]);
    if let Some(channel) = page.channel {
        filter.and("ask.channel = ", id(channel), "");
    }
    if let Some(before) = page.before {
        let older = "found.position < (SELECT bound.position FROM messages bound
                     WHERE bound.tenant = $1 AND bound.id = ";
        filter.and(older, id(before), ")");
    }
    let newest = format!(
        "SELECT DISTINCT found.id, found.position AS place, found.blocks_bytes
        FROM mine CROSS JOIN asks ask CROSS JOIN messages found
        WHERE ask.channel = mine.channel AND ask.closed_at_ms IS NULL AND found.id = ask.message
            AND found.tenant || '' = $1{} ORDER BY found.position DESC LIMIT $3",
        filter.conditions
    );
    let mine = format!("{},", participation::channels_of("mine", "$2"));
    let sql = page_of(tx.dialect(), &mine, &newest);
    let rows = tx.all(&sql, filter.values).await?;
    rows.iter().map(read).collect()
}

/// What is pinned in a channel, in the order of its board.
pub(crate) async fn list_pinned(
    tx: &mut Tx,
    of: &TenantId,
    channel: ChannelId,
) -> Result<Vec<Arc<Message>>, StorageError> {
    let sql = format!(
        "SELECT {} FROM channel_pins pin CROSS JOIN messages m
        WHERE pin.tenant = $1 AND pin.channel = $2 AND m.tenant = $1 AND m.id = pin.message
        ORDER BY pin.place, pin.message",
        columns(tx.dialect())
    );
    let rows = tx.all(&sql, vec![tenant(of), id(channel)]).await?;
    rows.iter().map(read).collect()
}

/// A message by id.
pub(crate) async fn find(
    tx: &mut Tx,
    of: &TenantId,
    message: MessageId,
) -> Result<Option<Arc<Message>>, StorageError> {
    let sql = format!("SELECT {} FROM messages m WHERE m.tenant = $1 AND m.id = $2", columns(tx.dialect()));
    tx.one(&sql, vec![tenant(of), id(message)]).await?.map(|row| read(&row)).transpose()
}

/// The highest position given out.
pub(crate) async fn last_position(tx: &mut Tx, of: &TenantId) -> Result<Position, StorageError> {
    let sql = "SELECT position FROM messages WHERE tenant = $1 ORDER BY position DESC LIMIT 1";
    let row = tx.one(sql, vec![tenant(of)]).await?;
    row.map_or(Ok(Position(0)), |row| row.count("position").map(Position))
}

/// Conditions that are only there when they are asked for, with their parameters.
struct Filter {
    conditions: String,
    values: Vec<Value>,
}

impl Filter {
    fn new(values: Vec<Value>) -> Self {
        Self { conditions: String::new(), values }
    }

    fn and(&mut self, before: &str, value: Value, after: &str) {
        self.values.push(value);
        let number = self.values.len();
        for part in [" AND ", before, "$", &number.to_string(), after] {
            self.conditions.push_str(part);
        }
    }
}

/// Cuts `newest`, rows of (id, place, blocks_bytes) in descending place, where the bytes of a page are reached, and
/// only then reads the blocks. The first row is always in.
pub(crate) fn page_of(dialect: Dialect, terms: &str, newest: &str) -> String {
    format!(
        "WITH RECURSIVE {terms} newest AS ({newest}),
        running AS (
            SELECT newest.id, newest.place, newest.blocks_bytes,
                sum(newest.blocks_bytes) OVER (ORDER BY newest.place DESC) AS total
            FROM newest
        )
        SELECT {columns} FROM running JOIN messages m ON m.id = running.id
        WHERE running.total = running.blocks_bytes OR running.total <= {PAGE_BYTES}
        ORDER BY running.place DESC",
        columns = columns(dialect),
        PAGE_BYTES = limits::PAGE_BYTES,
    )
}

fn columns(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Postgres => {
            concat!("json_build_object(", postgres_message!(), ")::text AS head, m.blocks::text AS blocks")
        }
        Dialect::Sqlite => concat!("json_object(", sqlite_message!(), ") AS head, m.blocks AS blocks"),
    }
}

/// A message of a row that [`page_of`] made.
pub(crate) fn read(row: &QueryResult) -> Result<Arc<Message>, StorageError> {
    let head: String = row.get("head")?;
    let head: MessageJson =
        serde_json::from_str(&head).map_err(|error| Corrupt::new(format!("message {head}: {error}")))?;
    let blocks: String = row.get("blocks")?;
    Ok(head.restore(&blocks)?)
}

/// No row stands higher than the largest number of a column.
pub(crate) fn position(position: Position) -> Value {
    i64::try_from(position.0).unwrap_or(i64::MAX).into()
}
