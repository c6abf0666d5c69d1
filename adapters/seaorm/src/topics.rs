//! Topic rows, with the open asks that are counted when they are read.

use std::sync::Arc;

use compass_comms::ports::TopicSummary;
use compass_domain::{ChannelId, Corrupt, TenantId, Topic, TopicId, topic::TopicName};
use compass_ports::StorageError;
use sea_orm::QueryResult;

use crate::{
    ids::{id, tenant},
    rows::Columns as _,
    transaction::Tx,
};

/// A topic by id.
pub(crate) async fn find(
    tx: &mut Tx,
    of: &TenantId,
    topic: TopicId,
) -> Result<Option<TopicSummary>, StorageError> {
    let sql = select(tx, "topic.tenant = $1 AND topic.id = $2");
    tx.one(&sql, vec![tenant(of), id(topic)]).await?.map(|row| read(&row)).transpose()
}

/// A topic of a channel by the key of its name.
pub(crate) async fn find_named(
    tx: &mut Tx,
    of: &TenantId,
    channel: ChannelId,
    key: &str,
) -> Result<Option<TopicSummary>, StorageError> {
    let sql = select(tx, "topic.tenant = $1 AND topic.channel = $2 AND topic.name_key = $3");
    tx.one(&sql, vec![tenant(of), id(channel), key.into()]).await?.map(|row| read(&row)).transpose()
}

/// The topics of a channel, newest activity first.
pub(crate) async fn list(
    tx: &mut Tx,
    of: &TenantId,
    channel: ChannelId,
    include_archived: bool,
) -> Result<Vec<TopicSummary>, StorageError> {
    let condition = "topic.tenant = $1 AND topic.channel = $2 AND (topic.archived = false OR $3)
                     ORDER BY topic.last_seq DESC, topic.created_at_ms DESC, topic.id";
    let sql = select(tx, condition);
    let rows = tx.all(&sql, vec![tenant(of), id(channel), include_archived.into()]).await?;
    rows.iter().map(read).collect()
}

fn select(tx: &Tx, condition: &str) -> String {
    format!(
        "SELECT topic.id, topic.channel, topic.name, topic.created_at_ms, topic.created_by, topic.archived,
            topic.last_seq, topic.message_count, topic.last_activity_ms, {participants} AS participants,
            (SELECT count(*) FROM asks ask JOIN messages holder ON holder.id = ask.message
             WHERE ask.channel = topic.channel AND ask.closed_at_ms IS NULL AND holder.topic = topic.id) AS open_asks
        FROM topics topic WHERE {condition}",
        participants = tx.dialect().array_text("topic.participants"),
    )
}

fn read(row: &QueryResult) -> Result<TopicSummary, StorageError> {
    let topic: TopicId = row.id("id")?;
    let name: String = row.get("name")?;
    let name = TopicName::parse(&name).map_err(|error| Corrupt::new(format!("topic {topic}: {error}")))?;
    let topic = Topic {
        id: topic,
        channel: row.id("channel")?,
        name,
        created_at: row.millis("created_at_ms")?,
        created_by: row.id("created_by")?,
        archived: row.get("archived")?,
        last_seq: row.seq("last_seq")?,
        message_count: row.count("message_count")?,
        last_activity: row.millis("last_activity_ms")?,
        participants: row.ids("participants")?,
    };
    let open_asks = u32::try_from(row.count("open_asks")?).unwrap_or(u32::MAX);
    Ok(TopicSummary { topic: Arc::new(topic), open_asks })
}
