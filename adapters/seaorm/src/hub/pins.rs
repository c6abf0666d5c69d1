//! The boards of an agent's sweep channels, page by page.

use std::sync::Arc;

use compass_domain::{ChannelId, TenantId, limits};
use compass_hub::ports::{PinQuery, Pins};
use compass_ports::StorageError;
use sea_orm::Value;

use super::{
    pending::{labelled, labelled_columns},
    recipients::taking_part,
};
use crate::{
    dialect::Dialect,
    ids::{id, tenant as tenant_value},
    rows::Columns as _,
    transaction::{Access, Pools},
};

/// Reads a page of pins. A message that cannot be read is left out and named.
pub(super) async fn read(pools: &Pools, tenant: &TenantId, query: &PinQuery) -> Result<Pins, StorageError> {
    let mut tx = pools.tenant(tenant, Access::Snapshot).await?;
    let (channel, place) = query.after.unwrap_or((ChannelId::from_bytes([0; 16]), 0));
    let values: Vec<Value> = vec![
        id(query.agent),
        tenant_value(tenant),
        i64::from(query.limit).into(),
        (limits::PAGE_BYTES as i64).into(),
        id(channel),
        if query.after.is_some() { i64::from(place) } else { -1 }.into(),
    ];
    let rows = tx.all(&statement(tx.dialect()), values).await?;
    let mut page = Pins::default();
    let total = rows.first().map_or(Ok(0), |row| row.count("total"))?;
    if total > rows.len() as u64
        && let Some(last) = rows.last()
    {
        page.next = Some((last.id("channel")?, u32::try_from(last.count("place")?).unwrap_or(u32::MAX)));
    }
    for row in &rows {
        match labelled(row)? {
            Ok(message) => page.messages.push(Arc::new(message)),
            Err((message, corrupt)) => {
                tracing::error!(%message, %corrupt, "a pinned message cannot be read");
                page.corrupt.push(message);
            }
        }
    }
    Ok(page)
}

/// Parameters: agent, tenant, limit, bytes of a page, then the place after which it begins.
fn statement(dialect: Dialect) -> String {
    let number = match dialect {
        Dialect::Postgres => "::bigint",
        Dialect::Sqlite => "",
    };
    format!(
        "
WITH RECURSIVE {taking_part}, pinned(channel, place, message, bytes) AS (
    SELECT b.channel, b.place, b.message, m.blocks_bytes
    FROM taking_part p CROSS JOIN channel_pins b CROSS JOIN messages m
    WHERE p.in_sweep AND b.channel = p.channel AND m.id = b.message AND m.tenant || '' = $2
        AND (b.channel > $5 OR (b.channel = $5 AND b.place > $6))
), page AS (
    SELECT channel, place, message, bytes,
        SUM(bytes) OVER (ORDER BY channel, place ROWS UNBOUNDED PRECEDING) AS sum
    FROM (SELECT * FROM pinned ORDER BY channel, place LIMIT $3) first
)
SELECT g.channel, g.place{number} AS place, (SELECT COUNT(*) FROM pinned) AS total, {columns}
FROM page g
JOIN messages m ON m.id = g.message
JOIN topics t ON t.id = m.topic
JOIN channels c ON c.id = m.channel
JOIN accounts a ON a.id = m.author
WHERE g.sum <= $4 OR g.sum = g.bytes
ORDER BY g.channel, g.place",
        taking_part = taking_part(),
        columns = labelled_columns(dialect),
    )
}
