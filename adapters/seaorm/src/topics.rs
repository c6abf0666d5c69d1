//! Topic rows, with the open asks that are counted when they are read, and the rare changes of them.

use std::sync::Arc;

use compass_comms::ports::{MovedTopic, TopicSummary};
use compass_domain::{
    AccountId, ChannelId, Corrupt, Seq, TenantId, Topic, TopicId, brake::AgentRun, topic::TopicName,
};
use compass_ports::StorageError;
use sea_orm::{QueryResult, Value};

use crate::{
    dialect::Dialect,
    error::DbError,
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

/// The topics of channels, newest activity first in each.
pub(crate) async fn list(
    tx: &mut Tx,
    of: &TenantId,
    channels: &[ChannelId],
    include_archived: bool,
) -> Result<Vec<TopicSummary>, StorageError> {
    let dialect = tx.dialect();
    let condition = format!(
        "topic.tenant = $1 AND topic.channel {} AND (topic.archived = false OR $3)
         ORDER BY topic.channel, topic.last_seq DESC, topic.created_at_ms DESC, topic.id",
        dialect.any_id(2)
    );
    let sql = select(tx, &condition);
    let channels = dialect.id_list(channels.iter().copied());
    let rows = tx.all(&sql, vec![tenant(of), channels, include_archived.into()]).await?;
    rows.iter().map(read).collect()
}

/// The topics of channels that were joined to others.
pub(crate) async fn list_moved(
    tx: &mut Tx,
    of: &TenantId,
    channels: &[ChannelId],
) -> Result<Vec<MovedTopic>, StorageError> {
    let dialect = tx.dialect();
    let sql = format!(
        "SELECT topic, into_topic FROM moved_topics WHERE tenant = $1 AND channel {} ORDER BY channel, topic",
        dialect.any_id(2)
    );
    let rows = tx.all(&sql, vec![tenant(of), dialect.id_list(channels.iter().copied())]).await?;
    rows.iter().map(|row| Ok(MovedTopic { topic: row.id("topic")?, into: row.id("into_topic")? })).collect()
}

/// A topic that stays until the transaction ends, though its counters may move.
pub(crate) async fn keep(tx: &mut Tx, of: &TenantId, topic: TopicId) -> Result<Option<Topic>, StorageError> {
    let condition = format!("topic.tenant = $1 AND topic.id = $2{}", tx.dialect().for_key_share());
    let sql = select_rows(tx.dialect(), &condition);
    tx.one(&sql, vec![tenant(of), id(topic)]).await?.map(|row| read_row(&row)).transpose()
}

/// Locks topics in the order of their ids, against those who only keep them too.
pub(crate) async fn lock(tx: &mut Tx, of: &TenantId, topics: &[TopicId]) -> Result<Vec<Topic>, StorageError> {
    let dialect = tx.dialect();
    let condition = format!(
        "topic.tenant = $1 AND topic.id {} ORDER BY topic.id{}",
        dialect.any_id(2),
        dialect.for_update()
    );
    let sql = select_rows(dialect, &condition);
    let rows = tx.all(&sql, vec![tenant(of), dialect.id_list(topics.iter().copied())]).await?;
    rows.iter().map(read_row).collect()
}

/// Locks the messages of a topic in the order of their ids.
pub(crate) async fn lock_messages(tx: &mut Tx, of: &TenantId, topic: TopicId) -> Result<(), DbError> {
    let sql = match tx.dialect() {
        Dialect::Postgres => {
            "SELECT count(*) AS locked FROM (
                SELECT m.id FROM messages m WHERE m.tenant = $1 AND m.topic = $2 ORDER BY m.id FOR NO KEY UPDATE
            ) AS locked"
        }
        // A transaction that writes is alone from its begin.
        Dialect::Sqlite => return Ok(()),
    };
    tx.all(sql, vec![tenant(of), id(topic)]).await?;
    Ok(())
}

/// The place of each author's first message in any of the topics, which are of one channel.
pub(crate) async fn first_posts(
    tx: &mut Tx,
    of: &TenantId,
    topics: &[TopicId],
    authors: &[AccountId],
) -> Result<Vec<(AccountId, Seq)>, StorageError> {
    let dialect = tx.dialect();
    // Each author's messages of the channel are walked from the first on, up to the one that is wanted.
    let sql = format!(
        "SELECT author.id, (
            SELECT m.seq FROM messages m
            WHERE m.author = author.id AND m.channel = (SELECT t.channel FROM topics t WHERE t.tenant = $1 AND t.id {topics} LIMIT 1)
                AND m.topic {topics}
            ORDER BY m.seq LIMIT 1) AS seq
        FROM accounts author WHERE author.tenant || '' = $1 AND author.id {authors} ORDER BY author.id",
        topics = dialect.any_id(2),
        authors = dialect.any_id(3),
    );
    let values =
        vec![tenant(of), dialect.id_list(topics.iter().copied()), dialect.id_list(authors.iter().copied())];
    let mut first = Vec::new();
    for row in tx.all(&sql, values).await? {
        let seq: Option<i64> = row.get("seq")?;
        if seq.is_some() {
            first.push((row.id("id")?, row.seq("seq")?));
        }
    }
    Ok(first)
}

/// Stores what may change of a topic that is there.
pub(crate) async fn put(tx: &mut Tx, of: &TenantId, topic: &Topic) -> Result<(), StorageError> {
    let participants = match tx.dialect() {
        Dialect::Postgres => {
            "ARRAY(SELECT p.value::uuid FROM json_array_elements_text($9::json) WITH ORDINALITY AS p(value, place) ORDER BY p.place)"
        }
        Dialect::Sqlite => "json($9)",
    };
    let sql = format!(
        "UPDATE topics SET name = $3, name_key = $4, archived = $5, last_seq = $6, message_count = $7,
            last_activity_ms = $8, agent_run = $10, person_seq = $11, participants = {participants}
        WHERE tenant = $1 AND id = $2"
    );
    let authors: Vec<String> = topic.participants.iter().map(ToString::to_string).collect();
    let values = vec![
        tenant(of),
        id(topic.id),
        topic.name.as_str().into(),
        topic.name.key().into(),
        topic.archived.into(),
        number(topic.last_seq.0)?,
        number(topic.message_count)?,
        topic.last_activity.0.into(),
        serde_json::json!(authors).to_string().into(),
        i64::from(topic.run.length).into(),
        number(topic.run.person.0)?,
    ];
    match tx.execute(&sql, values).await {
        Ok(0) => Err(StorageError::Conflict(format!("topic {} is gone", topic.id))),
        Ok(_) => Ok(()),
        Err(error) if error.is_unique_violation() => {
            Err(StorageError::Conflict(format!("topic name {:?} is taken", topic.name.as_str())))
        }
        Err(error) => Err(error.into()),
    }
}

/// Moves the messages of `from`, then stores the topic that has them now and deletes the row of `from`, whose way is kept.
pub(crate) async fn merge(
    tx: &mut Tx,
    of: &TenantId,
    from: TopicId,
    into: &Topic,
) -> Result<(), StorageError> {
    let sql = "UPDATE messages SET topic = $3 WHERE tenant || '' = $1 AND topic = $2";
    tx.execute(sql, vec![tenant(of), id(from), id(into.id)]).await?;
    keep_moved(tx, of, from, into).await?;
    tx.execute("DELETE FROM topics WHERE tenant = $1 AND id = $2", vec![tenant(of), id(from)]).await?;
    put(tx, of, into).await
}

/// Keeps where a topic goes; what went there before goes on with it, so that one row answers.
async fn keep_moved(tx: &mut Tx, of: &TenantId, from: TopicId, into: &Topic) -> Result<(), DbError> {
    let on = "UPDATE moved_topics SET into_topic = $3 WHERE tenant = $1 AND into_topic = $2";
    tx.execute(on, vec![tenant(of), id(from), id(into.id)]).await?;
    let row = "INSERT INTO moved_topics (channel, topic, tenant, into_topic) VALUES ($1, $2, $3, $4)";
    tx.execute(row, vec![id(into.channel), id(from), tenant(of), id(into.id)]).await?;
    Ok(())
}

fn number(value: u64) -> Result<Value, StorageError> {
    let number =
        i64::try_from(value).map_err(|_| Corrupt::new(format!("{value} is too large for a column")))?;
    Ok(number.into())
}

/// The columns of a row alone, which can be locked.
fn select_rows(dialect: Dialect, condition: &str) -> String {
    format!("SELECT {} FROM topics topic WHERE {condition}", columns(dialect))
}

fn columns(dialect: Dialect) -> String {
    format!(
        "topic.id, topic.channel, topic.name, topic.created_at_ms, topic.created_by, topic.archived,
            topic.last_seq, topic.message_count, topic.last_activity_ms, topic.agent_run, topic.person_seq, {} AS participants",
        dialect.array_text("topic.participants")
    )
}

fn select(tx: &Tx, condition: &str) -> String {
    format!(
        "SELECT {columns},
            (SELECT count(*) FROM asks ask JOIN messages holder ON holder.id = ask.message
             WHERE ask.channel = topic.channel AND ask.closed_at_ms IS NULL AND holder.topic = topic.id) AS open_asks
        FROM topics topic WHERE {condition}",
        columns = columns(tx.dialect()),
    )
}

fn read(row: &QueryResult) -> Result<TopicSummary, StorageError> {
    let open_asks = u32::try_from(row.count("open_asks")?).unwrap_or(u32::MAX);
    Ok(TopicSummary { topic: Arc::new(read_row(row)?), open_asks })
}

fn read_row(row: &QueryResult) -> Result<Topic, StorageError> {
    let topic: TopicId = row.id("id")?;
    let name: String = row.get("name")?;
    let name = TopicName::parse(&name).map_err(|error| Corrupt::new(format!("topic {topic}: {error}")))?;
    Ok(Topic {
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
        run: AgentRun {
            length: u32::try_from(row.count("agent_run")?).unwrap_or(u32::MAX),
            person: row.seq("person_seq")?,
        },
    })
}
