//! What an agent is owed, in one query: owed rows, then what its cursors do not cover.

use std::sync::Arc;

use compass_domain::{Corrupt, MessageId, TenantId, delivery::Lane, limits};
use compass_hub::ports::{Labelled, Labels, Pending, PendingItem, PendingQuery};
use compass_ports::StorageError;
use sea_orm::{QueryResult, Value};
use serde::Deserialize;

use super::{owing, recipients::taking_part};
use crate::{
    dialect::Dialect,
    ids::{id, tenant as tenant_value},
    message_json::{MessageJson, postgres_message, sqlite_message},
    rows::Columns as _,
    transaction::{Access, Pools},
};

/// Owed messages that are counted at the most, of each kind and channel; a longer backlog counts as this many.
const COUNTED: i64 = 10_000;
/// How often a page is read again without the rows that could not be read.
const REREADS: usize = 8;

/// Whose ask message `m` answers, as SQL; empty if it answers none.
macro_rules! asker_handle {
    () => {
        "COALESCE((SELECT k.handle FROM asks q JOIN accounts k ON k.id = q.author
        WHERE q.ask_id = m.answers_ask_id), '')"
    };
}
pub(super) use asker_handle;

/// A message's columns with its labels, for a `SELECT` over `m`, its topic `t`, channel `c` and author `a`.
pub(super) fn labelled_columns(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Postgres => {
            concat!(
                "json_build_object('topic_name', t.name, 'channel_name', c.name, 'from_handle', a.handle,
    'asker_handle', ",
                asker_handle!(),
                ",
    ",
                postgres_message!(),
                ")::text AS columns, m.blocks::text AS blocks"
            )
        }
        Dialect::Sqlite => {
            concat!(
                "json_object('topic_name', t.name, 'channel_name', c.name, 'from_handle', a.handle,
    'asker_handle', ",
                asker_handle!(),
                ",
    ",
                sqlite_message!(),
                ") AS columns, m.blocks AS blocks"
            )
        }
    }
}

#[derive(Deserialize)]
struct LabelledJson {
    topic_name: String,
    channel_name: String,
    from_handle: String,
    asker_handle: String,
    #[serde(flatten)]
    message: MessageJson,
}

/// Reads a row of [`labelled_columns`]; the inner error says that the message itself cannot be read.
pub(super) fn labelled(row: &QueryResult) -> Result<Result<Labelled, (MessageId, Corrupt)>, StorageError> {
    let columns: String = row.get("columns")?;
    let columns: LabelledJson = serde_json::from_str(&columns)
        .map_err(|error| StorageError::Internal(format!("a message's row: {error}")))?;
    let LabelledJson { topic_name, channel_name, from_handle, asker_handle, message } = columns;
    let labels = Labels { topic_name, channel_name, from_handle, asker_handle };
    let (message_id, blocks) = (message.id(), row.get::<String>("blocks")?);
    let restored = message.restore(&blocks).map(|message| Labelled { message, labels });
    Ok(restored.map_err(|corrupt| (message_id, corrupt)))
}

/// Reads a page of what an agent is owed. A message that cannot be read takes no place on the page.
pub(super) async fn read(
    pools: &Pools,
    tenant: &TenantId,
    query: &PendingQuery,
) -> Result<Pending, StorageError> {
    let mut skip = query.skip.clone();
    let mut corrupt = Vec::new();
    for reread in 0.. {
        let mut page = read_page(pools, tenant, query, &skip).await?;
        let is_complete = page.corrupt.is_empty() || page.waiting == 0 || reread == REREADS;
        skip.extend(&page.corrupt);
        corrupt.append(&mut page.corrupt);
        if is_complete {
            return Ok(Pending { corrupt, ..page });
        }
    }
    Ok(Pending::default())
}

async fn read_page(
    pools: &Pools,
    tenant: &TenantId,
    query: &PendingQuery,
    skip: &[MessageId],
) -> Result<Pending, StorageError> {
    let mut tx = pools.tenant(tenant, Access::Snapshot).await?;
    let dialect = tx.dialect();
    let mut values: Vec<Value> = vec![
        id(query.agent),
        tenant_value(tenant),
        dialect.id_list(skip.iter().copied()),
        i64::from(query.limit).into(),
        COUNTED.into(),
        (limits::PAGE_BYTES as i64).into(),
    ];
    values.extend(query.answers_ask.map(id));
    let rows = tx.all(&statement(dialect, query), values).await?;

    let mut page = Pending::default();
    for row in &rows {
        let lane = if row.get::<i32>("lane")? == 0 { Lane::Steer } else { Lane::Deliver };
        match labelled(row)? {
            Ok(message) => page.items.push(PendingItem { lane, message: Arc::new(message) }),
            Err((message, corrupt)) => {
                tracing::error!(%message, %corrupt, "a message that is owed cannot be read");
                page.corrupt.push(message);
            }
        }
    }
    let owed = rows.first().map_or(Ok(0), |row| row.count("owed"))?;
    page.waiting = u32::try_from(owed.saturating_sub(rows.len() as u64)).unwrap_or(u32::MAX);
    Ok(page)
}

/// The first of what is owed, with the bytes up to and with each.
const PAGE: &str = "SELECT lane, channel, seq, id, bytes,
        SUM(bytes) OVER (ORDER BY lane, channel, seq ROWS UNBOUNDED PRECEDING) AS total
    FROM (SELECT * FROM owed_to ORDER BY lane, channel, seq LIMIT $4) first";

/// Parameters: agent, tenant, ids to skip, limit, the most that is counted, bytes of a page, then the ask.
fn statement(dialect: Dialect, query: &PendingQuery) -> String {
    let wanted = wanted(dialect, query);
    let (by_row, by_cursor) = (owed_by_row(&wanted), owed_by_cursor(dialect, &wanted));
    let (taking_part, columns) = (taking_part(), labelled_columns(dialect));
    format!(
        "
WITH RECURSIVE {taking_part}, owed_to(lane, channel, seq, id, bytes) AS (
    {by_row}
    UNION ALL
    {by_cursor}
), page AS (
    {PAGE}
)
SELECT g.lane, (SELECT COUNT(*) FROM owed_to) AS owed, {columns}
FROM page g
JOIN messages m ON m.id = g.id
JOIN topics t ON t.id = m.topic
JOIN channels c ON c.id = m.channel
JOIN accounts a ON a.id = m.author
WHERE g.total <= $6 OR g.total = g.bytes
ORDER BY g.lane, g.channel, g.seq"
    )
}

/// Which messages `m` this query is for, on whichever lane.
fn wanted(dialect: Dialect, query: &PendingQuery) -> String {
    let skip = dialect.any_id(3);
    let routed = if query.include_unrouted {
        ""
    } else {
        "AND NOT EXISTS (SELECT 1 FROM unrouted u WHERE u.message = m.id)"
    };
    let released = if query.include_braked { String::new() } else { format!("AND {}", owing::released()) };
    let answer = if query.answers_ask.is_some() { "AND m.answers_ask_id = $7" } else { "" };
    // SQLite takes the index of the channel only if the tenant's is no choice.
    let tenant = if dialect == Dialect::Sqlite { "+m.tenant" } else { "m.tenant" };
    format!("{tenant} = $2 AND m.author <> $1 AND NOT (m.id {skip}) {routed} {released} {answer}")
}

/// The lane of what is owed by a row of its own.
fn owed_by_row(wanted: &str) -> String {
    format!(
        "SELECT * FROM (
        SELECT 0 AS lane, m.channel, m.seq, m.id, m.blocks_bytes
        FROM owed o
        JOIN taking_part p ON p.channel = o.channel
        JOIN messages m ON m.id = o.message
        WHERE o.agent = $1 AND {wanted}
        ORDER BY m.channel, m.seq LIMIT $5
    ) rows_owed"
    )
}

/// The lane of what the cursors of the sweep set do not cover; what a row owes is on the other lane.
fn owed_by_cursor(dialect: Dialect, wanted: &str) -> String {
    let not_owed = "NOT EXISTS (SELECT 1 FROM owed o WHERE o.agent = $1 AND o.message = m.id)";
    match dialect {
        Dialect::Postgres => format!(
            "SELECT 1 AS lane, m.channel, m.seq, m.id, m.blocks_bytes
    FROM taking_part p
    JOIN cursors k ON k.agent = $1 AND k.channel = p.channel
    CROSS JOIN LATERAL (
        SELECT m.channel, m.seq, m.id, m.blocks_bytes FROM messages m
        WHERE m.channel = p.channel AND m.seq > k.acked_seq AND NOT (m.seq = ANY(k.above))
            AND {wanted} AND {not_owed}
        ORDER BY m.seq LIMIT $5
    ) m
    WHERE p.in_sweep"
        ),
        Dialect::Sqlite => format!(
            "SELECT * FROM (
        SELECT 1 AS lane, m.channel, m.seq, m.id, m.blocks_bytes
        FROM taking_part p
        CROSS JOIN cursors k ON k.agent = $1 AND k.channel = p.channel
        CROSS JOIN messages m ON m.channel = p.channel AND m.seq > k.acked_seq
        WHERE p.in_sweep AND (k.above = '[]' OR m.seq NOT IN (SELECT value FROM json_each(k.above)))
            AND {wanted} AND {not_owed}
        ORDER BY m.channel, m.seq LIMIT $5
    )"
        ),
    }
}
