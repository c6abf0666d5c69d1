//! Agents with what waits for them, and messages read to find those that cannot be.

use std::collections::BTreeMap;

use async_trait::async_trait;
use compass_domain::{AccountId, MessageId, Position, TenantId};
use compass_hub::ports::{BACKLOG_MAX, Backlog, Examined, Overview};
use compass_ports::StorageError;
use sea_orm::{QueryResult, Value};

use super::{
    owing,
    pending::{labelled, labelled_columns},
};
use crate::{
    connection::SeaStorage,
    dialect::Dialect,
    ids::{id, tenant as tenant_value},
    rows::Columns as _,
    transaction::{Access, Tx},
};

/// Messages of one statement.
const PAGE: u32 = 500;

#[async_trait]
impl Overview for SeaStorage {
    async fn backlogs(
        &self,
        tenant: &TenantId,
        owner: Option<AccountId>,
    ) -> Result<Vec<Backlog>, StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Snapshot).await?;
        let dialect = tx.dialect();
        let mut values = vec![tenant_value(tenant), i64::from(BACKLOG_MAX).into()];
        let mut of = "a.tenant = $1 AND a.kind = 1";
        if let Some(owner) = owner {
            of = "a.owner = $3 AND a.tenant || '' = $1 AND a.kind = 1";
            values.push(id(owner));
        }
        let sql = format!(
            "SELECT a.id, a.handle, a.owner, {delivers} AS delivers, {steers} AS steers, {braked} AS braked
             FROM accounts a WHERE {of} ORDER BY a.handle",
            delivers = owing::count_behind(dialect, &owing::ready(), "$2"),
            braked = owing::count_behind(dialect, &format!("NOT {}", owing::released()), "$2"),
            steers = owing::count_owed_rows("$2"),
        );
        let count =
            |row: &QueryResult, column| row.count(column).map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        let rows = tx.all(&sql, values).await?;
        let backlogs = rows.iter().map(|row| {
            Ok(Backlog {
                account: row.id("id")?,
                handle: row.get("handle")?,
                owner: row.id("owner")?,
                delivers: count(row, "delivers")?,
                steers: count(row, "steers")?,
                braked: count(row, "braked")?,
            })
        });
        backlogs.collect()
    }

    async fn examine(&self, tenant: &TenantId, limit: u32) -> Result<Examined, StorageError> {
        let mut found = Found::default();
        let mut below = Position(i64::MAX.unsigned_abs());
        while found.newest < limit {
            let mut tx = self.pools.tenant(tenant, Access::Snapshot).await?;
            let newest = "m.tenant = $1 AND m.position < $2 ORDER BY m.position DESC LIMIT $3";
            let below_value = i64::try_from(below.0).unwrap_or(i64::MAX);
            let page = PAGE.min(limit - found.newest);
            let values = vec![tenant_value(tenant), below_value.into(), i64::from(page).into()];
            let rows = read(&mut tx, "messages m", newest, values).await?;
            for row in &rows {
                below = Position(row.count("position")?);
                found.take(row)?;
            }
            found.newest += u32::try_from(rows.len()).unwrap_or(page);
            if rows.len() < page as usize {
                break;
            }
        }
        let mut tx = self.pools.tenant(tenant, Access::Snapshot).await?;
        let open = match tx.dialect() {
            Dialect::Postgres => {
                "SELECT k.message FROM channels h CROSS JOIN LATERAL (
                    SELECT o.message FROM asks o WHERE o.channel = h.id AND o.closed_at_ms IS NULL LIMIT $2) k
                 WHERE h.tenant = $1 LIMIT $2"
            }
            Dialect::Sqlite => {
                "SELECT k.message FROM channels h CROSS JOIN asks k
                 WHERE h.tenant = $1 AND k.channel = h.id AND k.closed_at_ms IS NULL LIMIT $2"
            }
        };
        let asking = &format!("m.id IN ({open})");
        let rows = read(&mut tx, "messages m", asking, vec![tenant_value(tenant), i64::from(limit).into()]);
        for row in &rows.await? {
            found.take(row)?;
        }
        let messages = u32::try_from(found.read.len()).unwrap_or(u32::MAX);
        let corrupt = found.read.into_iter().filter_map(|(message, why)| why.map(|why| (message, why)));
        Ok(Examined { messages, corrupt: corrupt.collect() })
    }
}

/// Messages that were read, with the reason where one cannot be.
#[derive(Default)]
struct Found {
    read: BTreeMap<MessageId, Option<String>>,
    newest: u32,
}

impl Found {
    fn take(&mut self, row: &QueryResult) -> Result<(), StorageError> {
        match labelled(row)? {
            Ok(message) => self.read.insert(message.message.id(), None),
            Err((message, corrupt)) => self.read.insert(message, Some(corrupt.0)),
        };
        Ok(())
    }
}

async fn read(
    tx: &mut Tx,
    from: &str,
    condition: &str,
    values: Vec<Value>,
) -> Result<Vec<QueryResult>, StorageError> {
    let sql = format!(
        "SELECT m.position, {columns}
         FROM {from}
         JOIN topics t ON t.id = m.topic
         JOIN channels c ON c.id = m.channel
         JOIN accounts a ON a.id = m.author
         WHERE {condition}",
        columns = labelled_columns(tx.dialect())
    );
    Ok(tx.all(&sql, values).await?)
}
