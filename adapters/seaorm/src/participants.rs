//! Who takes part in channels, member rows or not, and what delivery keeps for them.

use compass_domain::{AccountId, Channel, ChannelId, TenantId, delivery::AgentMember};
use compass_ports::StorageError;
use sea_orm::Value;

use crate::{
    channels::{COLUMNS, complete},
    dialect::Dialect,
    error::DbError,
    hub::recipients,
    ids::{id, tenant},
    rows::Columns as _,
    transaction::Tx,
};

/// Channels locked in the order of their ids until the transaction ends.
pub(crate) async fn lock_all(
    tx: &mut Tx,
    of: &TenantId,
    channels: &[ChannelId],
) -> Result<Vec<Channel>, StorageError> {
    let dialect = tx.dialect();
    let sql = format!(
        "SELECT {COLUMNS} FROM channels channel WHERE channel.tenant || '' = $1 AND channel.id {wanted}
        ORDER BY channel.id{lock}",
        wanted = dialect.any_id(2),
        lock = dialect.for_no_key_update(),
    );
    let rows = tx.all(&sql, vec![tenant(of), dialect.id_list(channels.iter().copied())]).await?;
    complete(tx, of, &rows).await
}

/// The agents that take part, by channel and account.
pub(crate) async fn agents(
    tx: &mut Tx,
    of: &TenantId,
    channels: &[ChannelId],
) -> Result<Vec<(ChannelId, AgentMember)>, StorageError> {
    let dialect = tx.dialect();
    let sql = format!(
        "WITH RECURSIVE wanted (channel) AS (
            SELECT channel.id FROM channels channel WHERE channel.tenant || '' = $1 AND channel.id {wanted}
        ), {terms}
        SELECT r.channel, r.account, r.handle, r.in_sweep FROM recipients r ORDER BY r.channel, r.account",
        wanted = dialect.any_id(2),
        terms = recipients(),
    );
    let rows = tx.all(&sql, vec![tenant(of), dialect.id_list(channels.iter().copied())]).await?;
    let agents = rows.iter().map(|row| {
        let agent = AgentMember {
            account: row.id("account")?,
            handle: row.get("handle")?,
            in_sweep_set: row.get("in_sweep")?,
        };
        Ok((row.id("channel")?, agent))
    });
    agents.collect()
}

/// The trees of anchors, by id.
pub(crate) async fn trees_of(
    tx: &mut Tx,
    of: &TenantId,
    anchors: &[AccountId],
) -> Result<Vec<ChannelId>, StorageError> {
    let dialect = tx.dialect();
    let sql = format!(
        "SELECT tree.id FROM channels tree WHERE tree.tenant || '' = $1 AND tree.anchor {} ORDER BY tree.id",
        dialect.any_id(2)
    );
    let rows = tx.all(&sql, vec![tenant(of), dialect.id_list(anchors.iter().copied())]).await?;
    rows.iter().map(|row| row.id("id")).collect()
}

/// Stores whether an account without a member row is subscribed.
pub(crate) async fn put_subscription(
    tx: &mut Tx,
    of: &TenantId,
    channel: ChannelId,
    account: AccountId,
    subscribed: bool,
) -> Result<(), DbError> {
    let sql =
        "INSERT INTO channel_subscriptions (channel, account, tenant, subscribed) VALUES ($1, $2, $3, $4)
               ON CONFLICT (channel, account) DO UPDATE SET subscribed = excluded.subscribed";
    tx.execute(sql, vec![id(channel), id(account), tenant(of), subscribed.into()]).await?;
    touch(tx, of, &[channel]).await
}

/// Changes the number by which writers know that who takes part has changed.
pub(crate) async fn touch(tx: &mut Tx, of: &TenantId, channels: &[ChannelId]) -> Result<(), DbError> {
    let dialect = tx.dialect();
    let sql =
        format!("UPDATE channels SET gate = gate + 1 WHERE tenant || '' = $1 AND id {}", dialect.any_id(2));
    tx.execute(&sql, vec![tenant(of), dialect.id_list(channels.iter().copied())]).await?;
    Ok(())
}

/// Gives each agent a cursor at its channel's newest message unless it has one.
pub(crate) async fn seed_cursors(
    tx: &mut Tx,
    of: &TenantId,
    cursors: &[(AccountId, ChannelId)],
) -> Result<(), DbError> {
    let dialect = tx.dialect();
    // The conflict clause would read as part of a join without the condition.
    let sql = format!(
        "INSERT INTO cursors (agent, channel, tenant, acked_seq)
        SELECT wanted.agent, channel.id, $1, channel.last_seq
        FROM {wanted} CROSS JOIN channels channel
        WHERE channel.id = wanted.channel AND channel.tenant || '' = $1
        ON CONFLICT (agent, channel) DO NOTHING",
        wanted = wanted(dialect),
    );
    tx.execute(&sql, vec![tenant(of), pairs(cursors)]).await?;
    Ok(())
}

/// Owes each agent the answers to its own asks that its cursor in the channel does not cover.
pub(crate) async fn owe_answers(
    tx: &mut Tx,
    of: &TenantId,
    cursors: &[(AccountId, ChannelId)],
) -> Result<(), DbError> {
    let dialect = tx.dialect();
    let is_above = match dialect {
        Dialect::Postgres => "answer.seq = ANY(reached.above)",
        Dialect::Sqlite => "answer.seq IN (SELECT value FROM json_each(reached.above))",
    };
    let sql = format!(
        "INSERT INTO owed (agent, message, tenant, channel)
        SELECT reached.agent, answer.id, $1, answer.channel
        FROM {wanted}
        JOIN cursors reached ON reached.agent = wanted.agent AND reached.channel = wanted.channel
        JOIN messages answer ON answer.channel = reached.channel AND answer.seq > reached.acked_seq
        JOIN asks ended ON ended.ask_id = answer.answers_ask_id AND ended.author = reached.agent
        WHERE reached.tenant = $1 AND NOT ({is_above})
        ON CONFLICT (agent, message) DO NOTHING",
        wanted = wanted(dialect),
    );
    tx.execute(&sql, vec![tenant(of), pairs(cursors)]).await?;
    Ok(())
}

/// The pairs of parameter 2 as `wanted (agent, channel)`.
fn wanted(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Postgres => "json_to_recordset($2::json) AS wanted (agent uuid, channel uuid)",
        Dialect::Sqlite => {
            "(SELECT unhex(value ->> 'agent') AS agent, unhex(value ->> 'channel') AS channel
              FROM json_each($2)) AS wanted"
        }
    }
}

fn pairs(cursors: &[(AccountId, ChannelId)]) -> Value {
    let rows = cursors.iter().map(
        |(agent, channel)| serde_json::json!({ "agent": agent.to_string(), "channel": channel.to_string() }),
    );
    serde_json::Value::Array(rows.collect()).to_string().into()
}

#[cfg(test)]
mod tests {
    use compass_comms::ports::{Storage as _, UnitOfWork};
    use compass_domain::{
        Account, AccountKind, Channel, Handle, UserRole,
        channel::{ChannelKind, ChannelName, Member, MembershipMode, PostPolicy},
    };

    use super::*;
    use crate::testing::Db;

    const ROOM: ChannelId = ChannelId::from_bytes([1; 16]);
    const ANA: AccountId = AccountId::from_bytes([2; 16]);

    async fn begin(db: &Db) -> Box<dyn UnitOfWork> {
        db.storage.begin(&TenantId::default_tenant()).await.expect("a unit")
    }

    async fn gate(db: &Db) -> i64 {
        db.number("SELECT gate FROM channels").await
    }

    #[tokio::test]
    async fn every_change_of_who_takes_part_or_posts_changes_the_gate() {
        for db in Db::both().await {
            let mut unit = begin(&db).await;
            let kind = AccountKind::User { role: UserRole::Member };
            let handle = Handle::parse("ana").expect("a handle");
            let ana = Account { id: ANA, handle, display_name: String::new(), kind };
            unit.accounts().insert(&ana).await.expect("an account");
            let room = Channel {
                id: ROOM,
                name: ChannelName::parse("room").expect("a name"),
                group: None,
                kind: ChannelKind::Channel,
                mode: MembershipMode::Flat,
                policy: PostPolicy::Open,
                mandatory: false,
                members: Vec::new(),
                tree_subscribers: Vec::new(),
                pins: Vec::new(),
            };
            unit.channels().insert(&room).await.expect("a channel");
            unit.commit().await.expect("kept");
            let mut last = gate(&db).await;
            for change in 0..4 {
                let mut unit = begin(&db).await;
                match change {
                    0 => {
                        let member = Member { account: ANA, subscribed: false };
                        unit.channels().put_member(ROOM, member).await.expect("a member");
                    }
                    1 => unit.participants().put_subscription(ROOM, ANA, true).await.expect("a choice"),
                    2 => unit.settings().set_policy(ROOM, PostPolicy::Open, true).await.expect("a policy"),
                    _ => unit.participants().touch(&[ROOM]).await.expect("a touch"),
                }
                unit.commit().await.expect("kept");
                let now = gate(&db).await;
                assert!(now > last, "change {change}");
                last = now;
            }
        }
    }
}
