//! Channel rows with members and pins: who sees which, and the rare writes.

use std::collections::HashMap;

use compass_comms::ports::NamedChannel;
use compass_domain::{
    AccountId, Actor, Channel, ChannelId, Corrupt, TenantId,
    channel::{ChannelKind, ChannelName, Member, MembershipMode, Pin, PostPolicy, Purpose},
};
use compass_ports::StorageError;
use sea_orm::QueryResult;

use crate::{
    error::DbError,
    ids::{id, optional_id, tenant},
    participation,
    rows::Columns as _,
    transaction::Tx,
};

pub(crate) const COLUMNS: &str = "channel.id, channel.name, channel.channel_group, channel.kind, channel.membership_mode, \
                       channel.anchor, channel.post_policy, channel.owner, channel.mandatory";

/// Groups that are shared together with all their ancestors.
pub(crate) const SHARED_GROUPS: &str = "
    shared_group (id) AS (
        SELECT top.id FROM channel_groups top
        WHERE top.tenant = $1 AND top.parent IS NULL AND top.visibility = 1
        UNION
        SELECT child.id FROM shared_group JOIN channel_groups child ON child.parent = shared_group.id
        WHERE child.visibility = 1
    )";

/// A channel by id.
pub(crate) async fn find(
    tx: &mut Tx,
    of: &TenantId,
    channel: ChannelId,
) -> Result<Option<Channel>, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM channels channel WHERE channel.tenant = $1 AND channel.id = $2");
    let rows = tx.all(&sql, vec![tenant(of), id(channel)]).await?;
    Ok(complete(tx, of, &rows).await?.pop())
}

/// A channel by id, locked until the transaction ends.
pub(crate) async fn lock(
    tx: &mut Tx,
    of: &TenantId,
    channel: ChannelId,
) -> Result<Option<Channel>, StorageError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM channels channel WHERE channel.tenant = $1 AND channel.id = $2{}",
        tx.dialect().for_no_key_update()
    );
    let rows = tx.all(&sql, vec![tenant(of), id(channel)]).await?;
    Ok(complete(tx, of, &rows).await?.pop())
}

/// What the viewer sees, by name.
pub(crate) async fn list(tx: &mut Tx, of: &TenantId, viewer: Actor) -> Result<Vec<Channel>, StorageError> {
    let sql = format!(
        "WITH RECURSIVE {mine}, {SHARED_GROUPS},
        visible (id) AS (
            SELECT mine.channel FROM mine
            UNION
            SELECT open.id FROM shared_group CROSS JOIN channels open
            WHERE open.channel_group = shared_group.id AND open.kind = 0
        )
        SELECT {COLUMNS} FROM visible CROSS JOIN channels channel
        WHERE channel.id = visible.id AND channel.tenant || '' = $1 ORDER BY channel.name_key, channel.id",
        mine = participation::channels_of("mine", "$2"),
    );
    let rows = tx.all(&sql, vec![tenant(of), id(viewer.id)]).await?;
    complete(tx, of, &rows).await
}

/// True if the viewer sees the channel.
pub(crate) async fn sees(
    tx: &mut Tx,
    of: &TenantId,
    viewer: Actor,
    channel: ChannelId,
) -> Result<bool, StorageError> {
    let sql = format!(
        "WITH RECURSIVE {SHARED_GROUPS}
        SELECT 1 AS seen FROM channels channel
        WHERE channel.tenant = $1 AND channel.id = $3 AND (
            {takes_part}
            OR (channel.kind = 0 AND channel.channel_group IN (SELECT shared_group.id FROM shared_group))
        )",
        takes_part = participation::takes_part("$2", "channel"),
    );
    Ok(tx.one(&sql, vec![tenant(of), id(viewer.id), id(channel)]).await?.is_some())
}

/// Channels of a name in which the viewer takes part.
pub(crate) async fn named(
    tx: &mut Tx,
    of: &TenantId,
    viewer: Actor,
    key: &str,
) -> Result<Vec<NamedChannel>, StorageError> {
    let sql = format!(
        "SELECT channel.id, channel.name, channel.channel_group FROM channels channel
        WHERE channel.tenant = $1 AND channel.name_key = $3 AND {takes_part} ORDER BY channel.id",
        takes_part = participation::takes_part("$2", "channel"),
    );
    let rows = tx.all(&sql, vec![tenant(of), id(viewer.id), key.into()]).await?;
    rows.iter().map(named_from).collect()
}

fn named_from(row: &QueryResult) -> Result<NamedChannel, StorageError> {
    let (id, name): (ChannelId, String) = (row.id("id")?, row.get("name")?);
    let corrupt = |error| Corrupt::new(format!("channel {id}: {error}"));
    let name = ChannelName::parse(&name).map_err(corrupt)?;
    Ok(NamedChannel { id, name, group: row.optional_id("channel_group")? })
}

/// The channels among `channels` in which the account takes part.
pub(crate) async fn participating(
    tx: &mut Tx,
    of: &TenantId,
    account: AccountId,
    channels: &[ChannelId],
) -> Result<Vec<ChannelId>, StorageError> {
    let dialect = tx.dialect();
    let sql = format!(
        "SELECT channel.id FROM channels channel
        WHERE channel.tenant || '' = $1 AND channel.id {wanted} AND {takes_part} ORDER BY channel.id",
        wanted = dialect.any_id(3),
        takes_part = participation::takes_part("$2", "channel"),
    );
    let values = vec![tenant(of), id(account), dialect.id_list(channels.iter().copied())];
    let rows = tx.all(&sql, values).await?;
    rows.iter().map(|row| row.id("id")).collect()
}

/// Everyone who takes part in the channel.
pub(crate) async fn participants(
    tx: &mut Tx,
    of: &TenantId,
    channel: ChannelId,
) -> Result<Vec<AccountId>, StorageError> {
    let sql = format!(
        "WITH RECURSIVE wanted (channel) AS (
            SELECT channel.id FROM channels channel WHERE channel.tenant = $1 AND channel.id = $2
        ), {part}
        SELECT part.account FROM part",
        part = participation::participants_of("part", "wanted"),
    );
    let rows = tx.all(&sql, vec![tenant(of), id(channel)]).await?;
    rows.iter().map(|row| row.id("account")).collect()
}

/// Stores a channel with its members.
pub(crate) async fn insert(tx: &mut Tx, of: &TenantId, channel: &Channel) -> Result<(), StorageError> {
    match insert_row(tx, of, channel, None, "").await {
        Ok(_) => {}
        Err(error) if error.is_unique_violation() => {
            return Err(StorageError::Conflict(format!("channel name {:?} is taken", channel.name.as_str())));
        }
        Err(error) => return Err(error.into()),
    }
    insert_members(tx, of, channel.id, &channel.members).await?;
    Ok(())
}

/// Stores a channel with its members for a purpose; false if the purpose or the name is taken.
pub(crate) async fn claim(
    tx: &mut Tx,
    of: &TenantId,
    channel: &Channel,
    purpose: &Purpose,
) -> Result<bool, DbError> {
    // A refused row would end the transaction on Postgres.
    if insert_row(tx, of, channel, Some(purpose.key()), "ON CONFLICT DO NOTHING").await? == 0 {
        return Ok(false);
    }
    insert_members(tx, of, channel.id, &channel.members).await?;
    Ok(true)
}

async fn insert_row(
    tx: &mut Tx,
    of: &TenantId,
    channel: &Channel,
    purpose: Option<String>,
    on_conflict: &str,
) -> Result<u64, DbError> {
    let (mode, anchor) = match channel.mode {
        MembershipMode::Flat => (0i16, None),
        MembershipMode::Tree { anchor } => (1, Some(anchor)),
    };
    let (policy, owner) = policy_columns(channel.policy);
    let kind = match channel.kind {
        ChannelKind::Channel => 0i16,
        ChannelKind::Dm => 1,
        ChannelKind::GroupDm => 2,
    };
    let sql = format!(
        "INSERT INTO channels
         (id, tenant, name, name_key, channel_group, kind, membership_mode, anchor, post_policy, owner, mandatory, purpose)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) {on_conflict}"
    );
    let values = vec![
        id(channel.id),
        tenant(of),
        channel.name.as_str().into(),
        channel.name.key().into(),
        optional_id(channel.group),
        kind.into(),
        mode.into(),
        optional_id(anchor),
        policy.into(),
        optional_id(owner),
        channel.mandatory.into(),
        purpose.into(),
    ];
    tx.execute(&sql, values).await
}

/// The two columns of a post policy.
pub(crate) fn policy_columns(policy: PostPolicy) -> (i16, Option<AccountId>) {
    match policy {
        PostPolicy::Open => (0, None),
        PostPolicy::OwnerOnly { owner } => (1, Some(owner)),
    }
}

/// True if the account takes part in the channel.
pub(crate) async fn participates(
    tx: &mut Tx,
    of: &TenantId,
    account: AccountId,
    channel: ChannelId,
) -> Result<bool, StorageError> {
    let sql = format!(
        "SELECT 1 AS found FROM channels channel
        WHERE channel.tenant = $1 AND channel.id = $3 AND {takes_part}",
        takes_part = participation::takes_part("$2", "channel"),
    );
    Ok(tx.one(&sql, vec![tenant(of), id(account), id(channel)]).await?.is_some())
}

/// Stores a member row last in order, or changes the subscription of the one that is there.
pub(crate) async fn put_member(
    tx: &mut Tx,
    of: &TenantId,
    channel: ChannelId,
    member: Member,
) -> Result<(), StorageError> {
    let sql = "INSERT INTO channel_members (channel, account, tenant, subscribed, joined_no)
               SELECT channel.id, $2, $3, $4,
                      (SELECT coalesce(max(other.joined_no), 0) + 1 FROM channel_members other WHERE other.channel = $1)
               FROM channels channel WHERE channel.id = $1 AND channel.tenant = $3
               ON CONFLICT (channel, account) DO UPDATE SET subscribed = excluded.subscribed";
    let values = vec![id(channel), id(member.account), tenant(of), member.subscribed.into()];
    if tx.execute(sql, values).await? == 0 {
        return Err(StorageError::Internal(format!("channel {channel} does not exist")));
    }
    Ok(bump_gate(tx, of, channel).await?)
}

/// Deletes a member row.
pub(crate) async fn remove_member(
    tx: &mut Tx,
    of: &TenantId,
    channel: ChannelId,
    account: AccountId,
) -> Result<bool, StorageError> {
    let sql = "DELETE FROM channel_members WHERE channel = $1 AND account = $2 AND tenant = $3";
    let removed = tx.execute(sql, vec![id(channel), id(account), tenant(of)]).await? > 0;
    if removed {
        bump_gate(tx, of, channel).await?;
    }
    Ok(removed)
}

/// Writers that remember who takes part compare this number on the row they lock.
async fn bump_gate(tx: &mut Tx, of: &TenantId, channel: ChannelId) -> Result<(), DbError> {
    let sql = "UPDATE channels SET gate = gate + 1 WHERE id = $1 AND tenant = $2";
    tx.execute(sql, vec![id(channel), tenant(of)]).await?;
    Ok(())
}

/// Stores the member rows of a new channel with one statement.
async fn insert_members(
    tx: &mut Tx,
    of: &TenantId,
    channel: ChannelId,
    members: &[Member],
) -> Result<(), DbError> {
    if members.is_empty() {
        return Ok(());
    }
    let sql = match tx.dialect() {
        crate::dialect::Dialect::Postgres => {
            "INSERT INTO channel_members (channel, account, tenant, subscribed, joined_no)
             SELECT $1, row.account, $2, row.subscribed, row.joined_no
             FROM json_to_recordset($3::json) AS row (account uuid, subscribed boolean, joined_no bigint)"
        }
        crate::dialect::Dialect::Sqlite => {
            "INSERT INTO channel_members (channel, account, tenant, subscribed, joined_no)
             SELECT $1, unhex(value ->> 'account'), $2, value ->> 'subscribed', value ->> 'joined_no'
             FROM json_each($3)"
        }
    };
    let rows: Vec<serde_json::Value> = members
        .iter()
        .zip(1i64..)
        .map(|(member, joined_no)| {
            let account = member.account.to_string();
            serde_json::json!({ "account": account, "subscribed": member.subscribed, "joined_no": joined_no })
        })
        .collect();
    let rows = serde_json::Value::Array(rows).to_string();
    tx.execute(sql, vec![id(channel), tenant(of), rows.into()]).await?;
    Ok(())
}

/// Adds members, subscribers and pins to the rows of channels, at most three statements for all of them.
pub(crate) async fn complete(
    tx: &mut Tx,
    of: &TenantId,
    rows: &[QueryResult],
) -> Result<Vec<Channel>, StorageError> {
    let ids = rows.iter().map(|row| row.id("id")).collect::<Result<Vec<ChannelId>, _>>()?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut members = members_of(tx, of, &ids).await?;
    let mut pins = pins_of(tx, of, &ids).await?;
    let mut trees = Vec::new();
    for (row, id) in rows.iter().zip(&ids) {
        if row.optional_id::<AccountId>("anchor")?.is_some() {
            trees.push(*id);
        }
    }
    let mut subscribers = tree_subscribers_of(tx, of, &trees).await?;
    let channels = rows.iter().zip(ids).map(|(row, channel)| {
        let members = members.remove(&channel).unwrap_or_default();
        let pins = pins.remove(&channel).unwrap_or_default();
        let mut found = Channel { members, pins, ..read(row, channel)? };
        let chosen = subscribers.remove(&channel).unwrap_or_default();
        found.tree_subscribers = chosen.into_iter().filter(|account| !found.has_member(*account)).collect();
        Ok(found)
    });
    channels.collect()
}

/// Who takes part in a tree and chose to be subscribed; a member row, where there is one, decides instead.
async fn tree_subscribers_of(
    tx: &mut Tx,
    of: &TenantId,
    trees: &[ChannelId],
) -> Result<HashMap<ChannelId, Vec<AccountId>>, StorageError> {
    let mut subscribers: HashMap<ChannelId, Vec<AccountId>> = HashMap::new();
    if trees.is_empty() {
        return Ok(subscribers);
    }
    let dialect = tx.dialect();
    let sql = format!(
        "SELECT choice.channel, choice.account
        FROM channel_subscriptions choice JOIN channels channel ON channel.id = choice.channel
        WHERE choice.tenant = $1 AND choice.channel {wanted} AND choice.subscribed AND {takes_part}
        ORDER BY choice.channel, choice.account",
        wanted = dialect.any_id(2),
        takes_part = participation::takes_part("choice.account", "channel"),
    );
    for row in tx.all(&sql, vec![tenant(of), dialect.id_list(trees.iter().copied())]).await? {
        subscribers.entry(row.id("channel")?).or_default().push(row.id("account")?);
    }
    Ok(subscribers)
}

async fn members_of(
    tx: &mut Tx,
    of: &TenantId,
    channels: &[ChannelId],
) -> Result<HashMap<ChannelId, Vec<Member>>, StorageError> {
    let dialect = tx.dialect();
    let sql = format!(
        "SELECT channel, account, subscribed FROM channel_members
        WHERE tenant = $1 AND channel {} ORDER BY channel, joined_no, account",
        dialect.any_id(2)
    );
    let mut members: HashMap<ChannelId, Vec<Member>> = HashMap::new();
    for row in tx.all(&sql, vec![tenant(of), dialect.id_list(channels.iter().copied())]).await? {
        let member = Member { account: row.id("account")?, subscribed: row.get("subscribed")? };
        members.entry(row.id("channel")?).or_default().push(member);
    }
    Ok(members)
}

async fn pins_of(
    tx: &mut Tx,
    of: &TenantId,
    channels: &[ChannelId],
) -> Result<HashMap<ChannelId, Vec<Pin>>, StorageError> {
    let dialect = tx.dialect();
    let sql = format!(
        "SELECT channel, message, place, pinned_at_ms, pinned_by FROM channel_pins
        WHERE tenant = $1 AND channel {} ORDER BY channel, place, message",
        dialect.any_id(2)
    );
    let mut pins: HashMap<ChannelId, Vec<Pin>> = HashMap::new();
    for row in tx.all(&sql, vec![tenant(of), dialect.id_list(channels.iter().copied())]).await? {
        let place: i32 = row.get("place")?;
        let pin = Pin {
            message: row.id("message")?,
            position: u32::try_from(place).map_err(|_| Corrupt::new(format!("place of a pin is {place}")))?,
            pinned_at: row.millis("pinned_at_ms")?,
            pinned_by: row.id("pinned_by")?,
        };
        pins.entry(row.id("channel")?).or_default().push(pin);
    }
    Ok(pins)
}

/// Reads a channel's own row.
fn read(row: &QueryResult, channel: ChannelId) -> Result<Channel, StorageError> {
    let corrupt = |what: String| Corrupt::new(format!("channel {channel}: {what}"));
    let name: String = row.get("name")?;
    let kind = match row.get::<i16>("kind")? {
        0 => ChannelKind::Channel,
        1 => ChannelKind::Dm,
        2 => ChannelKind::GroupDm,
        other => return Err(corrupt(format!("kind {other}")).into()),
    };
    let mode = match (row.get::<i16>("membership_mode")?, row.optional_id("anchor")?) {
        (0, None) => MembershipMode::Flat,
        (1, Some(anchor)) => MembershipMode::Tree { anchor },
        (mode, anchor) => {
            return Err(corrupt(format!("membership mode {mode} with anchor {anchor:?}")).into());
        }
    };
    let policy = match (row.get::<i16>("post_policy")?, row.optional_id("owner")?) {
        (0, None) => PostPolicy::Open,
        (1, Some(owner)) => PostPolicy::OwnerOnly { owner },
        (policy, owner) => return Err(corrupt(format!("post policy {policy} with owner {owner:?}")).into()),
    };
    Ok(Channel {
        id: channel,
        name: ChannelName::parse(&name).map_err(|error| corrupt(error.to_string()))?,
        group: row.optional_id("channel_group")?,
        kind,
        mode,
        policy,
        mandatory: row.get("mandatory")?,
        members: Vec::new(),
        tree_subscribers: Vec::new(),
        pins: Vec::new(),
    })
}
