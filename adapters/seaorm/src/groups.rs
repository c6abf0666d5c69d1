//! Group rows: who sees which, and what stands in what.

use std::collections::HashMap;

use compass_domain::{
    AccountId, Actor, ChannelGroup, Corrupt, GroupId, TenantId, channel::ChannelName, group::Visibility,
};
use compass_ports::StorageError;
use sea_orm::QueryResult;

use crate::{
    channels::SHARED_GROUPS,
    error::DbError,
    ids::{id, optional_id, tenant},
    rows::Columns as _,
    transaction::Tx,
};

const COLUMNS: &str = "seen.id, seen.name, seen.parent, seen.owner, seen.visibility";

/// Stores a group.
pub(crate) async fn insert(tx: &mut Tx, of: &TenantId, group: &ChannelGroup) -> Result<(), DbError> {
    let visibility = match group.visibility {
        Visibility::Owner => 0i16,
        Visibility::Shared => 1,
    };
    let sql = "INSERT INTO channel_groups (id, tenant, name, name_key, parent, owner, visibility)
               VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let values = vec![
        id(group.id),
        tenant(of),
        group.name.as_str().into(),
        group.name.key().into(),
        optional_id(group.parent),
        id(group.owner),
        visibility.into(),
    ];
    tx.execute(sql, values).await?;
    Ok(())
}

/// A group and the groups it stands in, from the inside out.
pub(crate) async fn chain(
    tx: &mut Tx,
    of: &TenantId,
    group: GroupId,
) -> Result<Vec<ChannelGroup>, StorageError> {
    let sql = format!(
        "WITH RECURSIVE above (id) AS (
            SELECT inner_group.id FROM channel_groups inner_group
            WHERE inner_group.tenant = $1 AND inner_group.id = $2
            UNION
            SELECT below.parent FROM above JOIN channel_groups below ON below.id = above.id
            WHERE below.parent IS NOT NULL
        )
        SELECT {COLUMNS} FROM above CROSS JOIN channel_groups seen
        WHERE seen.id = above.id AND seen.tenant || '' = $1"
    );
    let rows = tx.all(&sql, vec![tenant(of), id(group)]).await?;
    let mut found = HashMap::new();
    for row in &rows {
        let row = read(row)?;
        found.insert(row.id, row);
    }
    let mut chain = Vec::with_capacity(found.len());
    let mut next = Some(group);
    while let Some(row) = next.and_then(|id| found.remove(&id)) {
        next = row.parent;
        chain.push(row);
    }
    Ok(chain)
}

/// The groups of an owner under the key of a name.
pub(crate) async fn owned(
    tx: &mut Tx,
    of: &TenantId,
    owner: AccountId,
    key: &str,
) -> Result<Vec<ChannelGroup>, StorageError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM channel_groups seen
        WHERE seen.tenant = $1 AND seen.owner = $2 AND seen.name_key = $3 ORDER BY seen.id"
    );
    let rows = tx.all(&sql, vec![tenant(of), id(owner), key.into()]).await?;
    rows.iter().map(read).collect()
}

/// What the viewer sees, by name.
pub(crate) async fn list(
    tx: &mut Tx,
    of: &TenantId,
    viewer: Actor,
) -> Result<Vec<ChannelGroup>, StorageError> {
    let sql = format!(
        "WITH RECURSIVE {SHARED_GROUPS},
        visible (id) AS (
            SELECT shared_group.id FROM shared_group
            UNION SELECT own.id FROM channel_groups own WHERE own.owner = $2
            UNION SELECT its_owners.id FROM channel_groups its_owners WHERE its_owners.owner = $3
        )
        SELECT {COLUMNS} FROM visible CROSS JOIN channel_groups seen
        WHERE seen.id = visible.id AND seen.tenant || '' = $1 ORDER BY seen.name_key, seen.id"
    );
    let rows = tx.all(&sql, vec![tenant(of), id(viewer.id), id(viewer.owner())]).await?;
    rows.iter().map(read).collect()
}

fn read(row: &QueryResult) -> Result<ChannelGroup, StorageError> {
    let group: GroupId = row.id("id")?;
    let corrupt = |what: String| Corrupt::new(format!("group {group}: {what}"));
    let name: String = row.get("name")?;
    let visibility = match row.get::<i16>("visibility")? {
        0 => Visibility::Owner,
        1 => Visibility::Shared,
        other => return Err(corrupt(format!("visibility {other}")).into()),
    };
    Ok(ChannelGroup {
        id: group,
        name: ChannelName::parse_group(&name).map_err(|error| corrupt(error.to_string()))?,
        parent: row.optional_id("parent")?,
        owner: row.id("owner")?,
        visibility,
    })
}
