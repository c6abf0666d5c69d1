//! How far people have read topics, with the messages of others that came after.

use compass_domain::{AccountId, ChannelId, ReadPosition, Seq, TenantId, TopicId};
use compass_ports::StorageError;
use sea_orm::{QueryResult, Value};

use crate::{
    dialect::Dialect,
    error::DbError,
    ids::{id, tenant},
    participation,
    rows::Columns as _,
    transaction::Tx,
};

/// The place of the account `$2` in each topic of `topic`, read or not.
const PLACES: &str = "
    SELECT topic.id, topic.last_seq AS newest, coalesce(place.seq, 0) AS seq, (
        SELECT count(*) FROM messages m
        WHERE m.topic = topic.id AND m.seq > coalesce(place.seq, 0) AND m.author <> $2
    ) AS unread
    FROM topics topic LEFT JOIN read_positions place ON place.topic = topic.id AND place.account = $2";

/// An account's place in every topic of these channels, or of every channel where it takes part.
pub(crate) async fn list(
    tx: &mut Tx,
    of: &TenantId,
    account: AccountId,
    channels: Option<&[ChannelId]>,
) -> Result<Vec<ReadPosition>, StorageError> {
    let dialect = tx.dialect();
    let mut values = vec![tenant(of), id(account)];
    let sql = if let Some(channels) = channels {
        values.push(dialect.id_list(channels.iter().copied()));
        let any_channel = dialect.any_id(3);
        format!("{PLACES} WHERE topic.tenant = $1 AND topic.channel {any_channel} ORDER BY topic.id")
    } else {
        format!(
            "WITH RECURSIVE {} {PLACES}
            WHERE topic.tenant = $1 AND topic.channel IN (SELECT mine.channel FROM mine) ORDER BY topic.id",
            participation::channels_of("mine", "$2")
        )
    };
    let rows = tx.all(&sql, values).await?;
    rows.iter().map(read).collect()
}

/// An account's place in a topic.
pub(crate) async fn find(
    tx: &mut Tx,
    of: &TenantId,
    account: AccountId,
    topic: TopicId,
) -> Result<Option<ReadPosition>, StorageError> {
    let sql = format!("{PLACES} WHERE topic.tenant = $1 AND topic.id = $3");
    tx.one(&sql, vec![tenant(of), id(account), id(topic)]).await?.map(|row| read(&row)).transpose()
}

/// Moves an account's place forward; false if it is that far already.
pub(crate) async fn advance(
    tx: &mut Tx,
    of: &TenantId,
    account: AccountId,
    topic: TopicId,
    seq: Seq,
) -> Result<bool, DbError> {
    let sql = "INSERT INTO read_positions (topic, account, tenant, seq) VALUES ($1, $2, $3, $4)
               ON CONFLICT (topic, account) DO UPDATE SET seq = excluded.seq
               WHERE excluded.seq > read_positions.seq";
    Ok(tx.execute(sql, vec![id(topic), id(account), tenant(of), place(seq)]).await? > 0)
}

/// Every stored place in the topics.
pub(crate) async fn of_topics(
    tx: &mut Tx,
    of: &TenantId,
    topics: &[TopicId],
) -> Result<Vec<(TopicId, AccountId, Seq)>, StorageError> {
    let dialect = tx.dialect();
    let sql = format!(
        "SELECT topic, account, seq FROM read_positions WHERE tenant = $1 AND topic {} ORDER BY topic, account",
        dialect.any_id(2)
    );
    let rows = tx.all(&sql, vec![tenant(of), dialect.id_list(topics.iter().copied())]).await?;
    rows.iter().map(|row| Ok((row.id("topic")?, row.id("account")?, row.seq("seq")?))).collect()
}

/// Stores places in `topic`, whatever they were, and deletes those in `gone`.
pub(crate) async fn replace(
    tx: &mut Tx,
    of: &TenantId,
    topic: TopicId,
    places: &[(AccountId, Seq)],
    gone: TopicId,
) -> Result<(), DbError> {
    let delete = "DELETE FROM read_positions WHERE tenant = $1 AND topic = $2";
    tx.execute(delete, vec![tenant(of), id(gone)]).await?;
    if places.is_empty() {
        return Ok(());
    }
    let sql = match tx.dialect() {
        Dialect::Postgres => {
            "INSERT INTO read_positions (topic, account, tenant, seq)
             SELECT $1, row.account, $2, row.seq
             FROM json_to_recordset($3::json) AS row (account uuid, seq bigint)
             ON CONFLICT (topic, account) DO UPDATE SET seq = excluded.seq"
        }
        Dialect::Sqlite => {
            "INSERT INTO read_positions (topic, account, tenant, seq)
             SELECT $1, unhex(value ->> 'account'), $2, value ->> 'seq' FROM json_each($3) WHERE true
             ON CONFLICT (topic, account) DO UPDATE SET seq = excluded.seq"
        }
    };
    let rows: Vec<serde_json::Value> = places
        .iter()
        .map(|(account, seq)| serde_json::json!({ "account": account.to_string(), "seq": seq.0 }))
        .collect();
    let rows = serde_json::Value::Array(rows).to_string();
    tx.execute(sql, vec![id(topic), tenant(of), rows.into()]).await?;
    Ok(())
}

fn read(row: &QueryResult) -> Result<ReadPosition, StorageError> {
    let unread = u32::try_from(row.count("unread")?).unwrap_or(u32::MAX);
    Ok(ReadPosition { topic: row.id("id")?, seq: row.seq("seq")?, unread, newest: row.seq("newest")? })
}

/// No message stands higher than the largest number of a column.
fn place(seq: Seq) -> Value {
    i64::try_from(seq.0).unwrap_or(i64::MAX).into()
}
