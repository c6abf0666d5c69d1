//! What a channel is called, who may post, and what it was made for.

use compass_domain::{
    ChannelId, TenantId,
    channel::{ChannelName, PostPolicy, Purpose},
};
use compass_ports::StorageError;

use crate::{
    channels::policy_columns,
    error::DbError,
    ids::{id, optional_id, tenant},
    rows::Columns as _,
    transaction::Tx,
};

/// The channel of a purpose.
pub(crate) async fn find(
    tx: &mut Tx,
    of: &TenantId,
    purpose: &Purpose,
) -> Result<Option<ChannelId>, StorageError> {
    let sql = "SELECT id FROM channels WHERE tenant = $1 AND purpose = $2";
    tx.one(sql, vec![tenant(of), purpose.key().into()]).await?.map(|row| row.id("id")).transpose()
}

/// Gives a channel another name.
pub(crate) async fn rename(
    tx: &mut Tx,
    of: &TenantId,
    channel: ChannelId,
    name: &ChannelName,
) -> Result<(), StorageError> {
    let sql = "UPDATE channels SET name = $3, name_key = $4 WHERE tenant = $1 AND id = $2";
    let values = vec![tenant(of), id(channel), name.as_str().into(), name.key().into()];
    match tx.execute(sql, values).await {
        Ok(_) => Ok(()),
        Err(error) if error.is_unique_violation() => {
            Err(StorageError::Conflict(format!("channel name {:?} is taken", name.as_str())))
        }
        Err(error) => Err(error.into()),
    }
}

/// Makes an ordinary channel of a direct conversation.
pub(crate) async fn convert(tx: &mut Tx, of: &TenantId, channel: ChannelId) -> Result<(), DbError> {
    let sql = "UPDATE channels SET kind = 0, purpose = NULL WHERE tenant = $1 AND id = $2";
    tx.execute(sql, vec![tenant(of), id(channel)]).await?;
    Ok(())
}

/// Stores who may post, and whether every agent that takes part is delivered to.
pub(crate) async fn set_policy(
    tx: &mut Tx,
    of: &TenantId,
    channel: ChannelId,
    policy: PostPolicy,
    mandatory: bool,
) -> Result<(), DbError> {
    let (policy, owner) = policy_columns(policy);
    let sql = "UPDATE channels SET post_policy = $3, owner = $4, mandatory = $5, gate = gate + 1
               WHERE tenant = $1 AND id = $2";
    let values = vec![tenant(of), id(channel), policy.into(), optional_id(owner), mandatory.into()];
    tx.execute(sql, values).await?;
    Ok(())
}
