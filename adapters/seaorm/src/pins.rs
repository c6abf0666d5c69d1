//! Pinned boards.

use compass_domain::{ChannelId, MessageId, TenantId, channel::Pin};
use compass_ports::StorageError;

use crate::{
    dialect::Dialect,
    error::DbError,
    ids::{id, tenant},
    transaction::Tx,
};

/// True if the message was posted in the channel.
pub(crate) async fn holds(
    tx: &mut Tx,
    of: &TenantId,
    channel: ChannelId,
    message: MessageId,
) -> Result<bool, StorageError> {
    let sql = "SELECT 1 AS found FROM messages WHERE id = $3 AND tenant = $1 AND channel = $2";
    Ok(tx.one(sql, vec![tenant(of), id(channel), id(message)]).await?.is_some())
}

/// Stores a board in place of the one before.
pub(crate) async fn replace(
    tx: &mut Tx,
    of: &TenantId,
    channel: ChannelId,
    board: &[Pin],
) -> Result<(), DbError> {
    let sql = "DELETE FROM channel_pins WHERE tenant = $1 AND channel = $2";
    tx.execute(sql, vec![tenant(of), id(channel)]).await?;
    if board.is_empty() {
        return Ok(());
    }
    let rows = match tx.dialect() {
        Dialect::Postgres => {
            "SELECT $2, pin.message, $1, pin.place, pin.pinned_at_ms, pin.pinned_by
             FROM json_to_recordset($3::json)
                 AS pin (message uuid, place integer, pinned_at_ms bigint, pinned_by uuid)"
        }
        Dialect::Sqlite => {
            "SELECT $2, unhex(value ->> 'message'), $1, value ->> 'place', value ->> 'pinned_at_ms',
                    unhex(value ->> 'pinned_by')
             FROM json_each($3)"
        }
    };
    let sql =
        format!("INSERT INTO channel_pins (channel, message, tenant, place, pinned_at_ms, pinned_by) {rows}");
    let board = board.iter().map(|pin| {
        serde_json::json!({
            "message": pin.message.to_string(),
            "place": pin.position,
            "pinned_at_ms": pin.pinned_at.0,
            "pinned_by": pin.pinned_by.to_string(),
        })
    });
    let board = serde_json::Value::Array(board.collect()).to_string();
    tx.execute(&sql, vec![tenant(of), id(channel), board.into()]).await?;
    Ok(())
}
