//! Account rows: the directory, who sees whom, and what agents say they do.

use compass_domain::{
    Account, AccountId, Actor, Corrupt, Handle, TenantId, UnixMillis,
    account::{AccountKind, UserRole},
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

const USER: i16 = 0;
const AGENT: i16 = 1;
const SYSTEM: i16 = 2;

const COLUMNS: &str = "account.id, account.handle, account.display_name, account.kind, account.admin, \
                       account.owner, account.home_channel, account.parent";

/// An account by id.
pub(crate) async fn find(
    tx: &mut Tx,
    of: &TenantId,
    account: AccountId,
) -> Result<Option<Account>, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM accounts account WHERE account.tenant = $1 AND account.id = $2");
    tx.one(&sql, vec![tenant(of), id(account)]).await?.map(|row| read(&row)).transpose()
}

/// An account by handle.
pub(crate) async fn find_by_handle(
    tx: &mut Tx,
    of: &TenantId,
    handle: &Handle,
) -> Result<Option<Account>, StorageError> {
    let sql =
        format!("SELECT {COLUMNS} FROM accounts account WHERE account.tenant = $1 AND account.handle = $2");
    tx.one(&sql, vec![tenant(of), handle.as_str().into()]).await?.map(|row| read(&row)).transpose()
}

/// Whom the viewer sees, by handle.
pub(crate) async fn list(tx: &mut Tx, of: &TenantId, viewer: Actor) -> Result<Vec<Account>, StorageError> {
    let sql = format!(
        "WITH RECURSIVE {mine}, {shared},
        visible (id) AS (
            SELECT self.id FROM accounts self WHERE self.id = $2
            UNION SELECT person.id FROM accounts person WHERE person.tenant = $1 AND person.kind = {USER}
            UNION SELECT agent.id FROM accounts agent WHERE agent.owner = $2
            UNION SELECT shared.account FROM shared
        )
        SELECT {COLUMNS} FROM visible CROSS JOIN accounts account
        WHERE account.id = visible.id AND account.tenant || '' = $1 ORDER BY account.handle",
        mine = participation::channels_of("mine", "$2"),
        shared = participation::participants_of("shared", "mine"),
    );
    let rows = tx.all(&sql, vec![tenant(of), id(viewer.id)]).await?;
    rows.iter().map(read).collect()
}

/// True if the viewer sees the account.
pub(crate) async fn sees(
    tx: &mut Tx,
    of: &TenantId,
    viewer: Actor,
    account: AccountId,
) -> Result<bool, StorageError> {
    let sql = format!(
        "WITH RECURSIVE {mine}, {theirs}
        SELECT 1 AS seen FROM accounts account
        WHERE account.tenant = $1 AND account.id = $3 AND (
            account.id = $2 OR account.kind = {USER} OR account.owner = $2
            OR EXISTS (SELECT 1 FROM mine JOIN theirs ON theirs.channel = mine.channel)
        )",
        mine = participation::channels_of("mine", "$2"),
        theirs = participation::channels_of("theirs", "$3"),
    );
    Ok(tx.one(&sql, vec![tenant(of), id(viewer.id), id(account)]).await?.is_some())
}

/// What agents last said they do.
pub(crate) async fn activities(
    tx: &mut Tx,
    of: &TenantId,
    agents: &[AccountId],
) -> Result<Vec<(AccountId, String, UnixMillis)>, StorageError> {
    let dialect = tx.dialect();
    let sql = format!(
        "SELECT agent, activity, at_ms FROM agent_activity WHERE tenant = $1 AND agent {}",
        dialect.any_id(2)
    );
    let rows = tx.all(&sql, vec![tenant(of), dialect.id_list(agents.iter().copied())]).await?;
    rows.iter().map(|row| Ok((row.id("agent")?, row.get("activity")?, row.millis("at_ms")?))).collect()
}

/// Stores an account.
pub(crate) async fn insert(tx: &mut Tx, of: &TenantId, account: &Account) -> Result<(), StorageError> {
    let (kind, admin, owner, home, parent) = match account.kind {
        AccountKind::User { role } => (USER, role == UserRole::Admin, None, None, None),
        AccountKind::Agent { owner, home_channel, parent } => {
            (AGENT, false, Some(owner), Some(home_channel), parent)
        }
        AccountKind::System => (SYSTEM, false, None, None, None),
    };
    let sql =
        "INSERT INTO accounts (id, tenant, handle, display_name, kind, admin, owner, home_channel, parent)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let values = vec![
        id(account.id),
        tenant(of),
        account.handle.as_str().into(),
        account.display_name.as_str().into(),
        kind.into(),
        admin.into(),
        optional_id(owner),
        optional_id(home),
        optional_id(parent),
    ];
    match tx.execute(sql, values).await {
        Ok(_) => Ok(()),
        Err(error) if error.is_unique_violation() => {
            Err(StorageError::Conflict(format!("handle {:?} is taken", account.handle.as_str())))
        }
        Err(error) => Err(error.into()),
    }
}

/// Stores what an agent says it is doing.
pub(crate) async fn put_activity(
    tx: &mut Tx,
    of: &TenantId,
    agent: AccountId,
    activity: &str,
    at: UnixMillis,
) -> Result<(), DbError> {
    let sql = "INSERT INTO agent_activity (agent, tenant, activity, at_ms) VALUES ($1, $2, $3, $4)
               ON CONFLICT (agent) DO UPDATE SET activity = excluded.activity, at_ms = excluded.at_ms";
    tx.execute(sql, vec![id(agent), tenant(of), activity.into(), at.0.into()]).await?;
    Ok(())
}

fn read(row: &QueryResult) -> Result<Account, StorageError> {
    let account: AccountId = row.id("id")?;
    let corrupt = |what: String| Corrupt::new(format!("account {account}: {what}"));
    let handle: String = row.get("handle")?;
    let handle = Handle::parse(&handle).map_err(|error| corrupt(error.to_string()))?;
    let kind = match row.get::<i16>("kind")? {
        USER => {
            let role = if row.get("admin")? { UserRole::Admin } else { UserRole::Member };
            AccountKind::User { role }
        }
        AGENT => AccountKind::Agent {
            owner: row.id("owner")?,
            home_channel: row.id("home_channel")?,
            parent: row.optional_id("parent")?,
        },
        SYSTEM => AccountKind::System,
        other => return Err(corrupt(format!("kind {other}")).into()),
    };
    Ok(Account { id: account, handle, display_name: row.get("display_name")?, kind })
}
