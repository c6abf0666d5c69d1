//! Who is to be delivered to, and what they are owed.

use std::sync::Arc;

use async_trait::async_trait;
use compass_domain::{AccountId, ChannelId, Message, MessageId, TenantId, delivery::AgentMember};
use compass_hub::ports::{Audience, Labelled, Labels, Pending, PendingQuery, PinQuery, Pins};
use compass_ports::StorageError;

use super::{owing, pending, pins, recipients::recipients};
use crate::{
    connection::SeaStorage,
    ids::{id, tenant as tenant_value},
    rows::Columns as _,
    transaction::Access,
};

#[async_trait]
impl Audience for SeaStorage {
    async fn members(
        &self,
        tenant: &TenantId,
        channel: ChannelId,
    ) -> Result<Arc<[AgentMember]>, StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Snapshot).await?;
        let sql = format!(
            "WITH RECURSIVE wanted(channel) AS (SELECT id FROM channels WHERE id = $1 AND tenant = $2), {terms}
             SELECT r.account, r.handle, r.in_sweep FROM recipients r ORDER BY r.account",
            terms = recipients()
        );
        let rows = tx.all(&sql, vec![id(channel), tenant_value(tenant)]).await?;
        let members = rows.iter().map(|row| {
            Ok(AgentMember {
                account: row.id("account")?,
                handle: row.get("handle")?,
                in_sweep_set: row.get("in_sweep")?,
            })
        });
        members.collect()
    }

    async fn labelled(
        &self,
        tenant: &TenantId,
        message: MessageId,
    ) -> Result<Option<Arc<Labelled>>, StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Snapshot).await?;
        let sql = format!(
            "SELECT {columns}
             FROM messages m
             JOIN topics t ON t.id = m.topic
             JOIN channels c ON c.id = m.channel
             JOIN accounts a ON a.id = m.author
             WHERE m.id = $1 AND m.tenant = $2",
            columns = pending::labelled_columns(tx.dialect())
        );
        let row = tx.one(&sql, vec![id(message), tenant_value(tenant)]).await?;
        let Some(row) = row else { return Ok(None) };
        let labelled = pending::labelled(&row)?.map_err(|(_, corrupt)| corrupt)?;
        Ok(Some(Arc::new(labelled)))
    }

    async fn labels(&self, tenant: &TenantId, message: &Message) -> Result<Labels, StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Snapshot).await?;
        // By the message's row: its topic may have been merged since it was read.
        let sql = concat!(
            "SELECT t.name AS topic_name, c.name AS channel_name, a.handle AS from_handle, ",
            pending::asker_handle!(),
            " AS asker_handle
                   FROM messages m
                   JOIN topics t ON t.id = m.topic
                   JOIN channels c ON c.id = m.channel
                   JOIN accounts a ON a.id = m.author
                   WHERE m.id = $1 AND m.tenant = $2"
        );
        let row = tx.one(sql, vec![id(message.id()), tenant_value(tenant)]).await?;
        let row =
            row.ok_or_else(|| StorageError::Internal(format!("message {} is not stored", message.id())))?;
        Ok(Labels {
            topic_name: row.get("topic_name")?,
            channel_name: row.get("channel_name")?,
            from_handle: row.get("from_handle")?,
            asker_handle: row.get("asker_handle")?,
        })
    }

    async fn pending(&self, tenant: &TenantId, query: &PendingQuery) -> Result<Pending, StorageError> {
        pending::read(&self.pools, tenant, query).await
    }

    async fn owed(&self, tenant: &TenantId, accounts: &[AccountId]) -> Result<Vec<AccountId>, StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Snapshot).await?;
        let dialect = tx.dialect();
        let sql = format!(
            "SELECT a.id FROM accounts a
             WHERE a.id {ids} AND a.tenant || '' = $2 AND a.kind = 1 AND ({owed} OR {behind})
             ORDER BY a.id",
            ids = dialect.any_id(1),
            owed = owing::has_owed_row(),
            behind = owing::is_behind(dialect, "true", "true"),
        );
        let rows =
            tx.all(&sql, vec![dialect.id_list(accounts.iter().copied()), tenant_value(tenant)]).await?;
        rows.iter().map(|row| row.id("id")).collect()
    }

    async fn pins(&self, tenant: &TenantId, query: &PinQuery) -> Result<Pins, StorageError> {
        pins::read(&self.pools, tenant, query).await
    }

    async fn with_open_asks(
        &self,
        tenant: &TenantId,
        accounts: &[AccountId],
    ) -> Result<Vec<AccountId>, StorageError> {
        let mut tx = self.pools.tenant(tenant, Access::Snapshot).await?;
        let dialect = tx.dialect();
        let sql = format!(
            "SELECT a.id FROM accounts a
             WHERE a.id {ids} AND a.tenant = $2 AND a.kind = 1
                 AND EXISTS (SELECT 1 FROM asks k WHERE k.author = a.id AND k.closed_at_ms IS NULL)
             ORDER BY a.id",
            ids = dialect.any_id(1)
        );
        let rows =
            tx.all(&sql, vec![dialect.id_list(accounts.iter().copied()), tenant_value(tenant)]).await?;
        rows.iter().map(|row| row.id("id")).collect()
    }
}
