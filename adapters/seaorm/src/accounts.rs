//! Account rows: the directory, who sees whom, and what agents say they do.

use compass_domain::{
    Account, AccountId, Actor, Corrupt, Handle, TenantId, UnixMillis,
    account::{AccountKind, UserRole},
    roster::RosterScope,
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

/// Accounts by id.
pub(crate) async fn find_all(
    tx: &mut Tx,
    of: &TenantId,
    ids: &[AccountId],
) -> Result<Vec<Account>, StorageError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let dialect = tx.dialect();
    let sql = format!(
        "SELECT {COLUMNS} FROM accounts account
        WHERE account.tenant || '' = $1 AND account.id {} ORDER BY account.id",
        dialect.any_id(2)
    );
    let rows = tx.all(&sql, vec![tenant(of), dialect.id_list(ids.iter().copied())]).await?;
    rows.iter().map(read).collect()
}

/// Accounts by handle.
pub(crate) async fn find_all_by_handle(
    tx: &mut Tx,
    of: &TenantId,
    handles: &[Handle],
) -> Result<Vec<Account>, StorageError> {
    if handles.is_empty() {
        return Ok(Vec::new());
    }
    let dialect = tx.dialect();
    let sql = format!(
        "SELECT {COLUMNS} FROM accounts account
        WHERE account.tenant = $1 AND account.handle {} ORDER BY account.handle",
        dialect.any_text(2)
    );
    let handles = dialect.text_list(handles.iter().map(Handle::as_str));
    let rows = tx.all(&sql, vec![tenant(of), handles]).await?;
    rows.iter().map(read).collect()
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

/// Terms of a `WITH RECURSIVE` that end in `visible (id)`: whom the account bound as `$2` sees. `$1` is the tenant.
fn visible() -> String {
    format!(
        "{mine}, {shared},
        visible (id) AS (
            SELECT self.id FROM accounts self WHERE self.id = $2
            UNION SELECT person.id FROM accounts person WHERE person.tenant = $1 AND person.kind = {USER}
            UNION SELECT agent.id FROM accounts agent WHERE agent.owner = $2
            UNION SELECT shared.account FROM shared
        )",
        mine = participation::channels_of("mine", "$2"),
        shared = participation::participants_of("shared", "mine"),
    )
}

/// Whom the viewer sees, by handle.
pub(crate) async fn list(tx: &mut Tx, of: &TenantId, viewer: Actor) -> Result<Vec<Account>, StorageError> {
    let sql = format!(
        "WITH RECURSIVE {visible}
        SELECT {COLUMNS} FROM visible CROSS JOIN accounts account
        WHERE account.id = visible.id AND account.tenant || '' = $1 ORDER BY account.handle",
        visible = visible(),
    );
    let rows = tx.all(&sql, vec![tenant(of), id(viewer.id)]).await?;
    rows.iter().map(read).collect()
}

/// The agents around the vantage that the viewer sees, by id.
pub(crate) async fn roster(
    tx: &mut Tx,
    of: &TenantId,
    viewer: Actor,
    vantage: AccountId,
    scope: RosterScope,
) -> Result<Vec<Account>, StorageError> {
    let sql = format!(
        "WITH RECURSIVE {visible}, {around}
        SELECT {COLUMNS} FROM around JOIN visible ON visible.id = around.id CROSS JOIN accounts account
        WHERE account.id = around.id AND account.tenant || '' = $1 AND account.kind = {AGENT}
        ORDER BY account.id",
        visible = visible(),
        around = around(scope),
    );
    let rows = tx.all(&sql, vec![tenant(of), id(viewer.id), id(vantage)]).await?;
    rows.iter().map(read).collect()
}

/// The term `around (id)`: the twin of [`compass_domain::roster::agents_in`] for the account bound as `$3`.
fn around(scope: RosterScope) -> String {
    match scope {
        RosterScope::Neighborhood => format!(
            "around (id) AS (
                SELECT self.id FROM accounts self WHERE self.id = $3
                UNION SELECT self.parent FROM accounts self WHERE self.id = $3 AND self.parent IS NOT NULL
                UNION SELECT child.id FROM accounts child WHERE child.parent = $3
                UNION SELECT sibling.id FROM accounts self JOIN accounts sibling ON sibling.parent = self.parent
                    WHERE self.id = $3
                UNION SELECT root.id FROM accounts self
                    JOIN accounts root ON root.tenant = $1 AND root.kind = {AGENT} AND root.parent IS NULL
                    WHERE self.id = $3 AND self.parent IS NULL
            )"
        ),
        RosterScope::Subtree => "around (id) AS (
                SELECT self.id FROM accounts self WHERE self.id = $3
                UNION SELECT agent.id FROM around JOIN accounts agent ON agent.parent = around.id
            )"
        .to_owned(),
        RosterScope::Owner => "around (id) AS (
                SELECT agent.id FROM accounts agent WHERE agent.owner = $3
                UNION SELECT agent.id FROM accounts self JOIN accounts agent ON agent.owner = self.owner
                    WHERE self.id = $3
            )"
        .to_owned(),
    }
}

/// Everyone who shares a channel with the account.
pub(crate) async fn channel_mates(
    tx: &mut Tx,
    of: &TenantId,
    account: AccountId,
) -> Result<Vec<AccountId>, StorageError> {
    let sql = format!(
        "WITH RECURSIVE {mine}, {shared}
        SELECT DISTINCT account.id FROM shared CROSS JOIN accounts account
        WHERE account.id = shared.account AND account.tenant || '' = $1",
        mine = participation::channels_of("mine", "$2"),
        shared = participation::participants_of("shared", "mine"),
    );
    let rows = tx.all(&sql, vec![tenant(of), id(account)]).await?;
    rows.iter().map(|row| row.id("id")).collect()
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

/// Locks an account's row until the transaction ends.
pub(crate) async fn lock(tx: &mut Tx, of: &TenantId, account: AccountId) -> Result<(), DbError> {
    let sql =
        format!("SELECT id FROM accounts WHERE tenant = $1 AND id = $2{}", tx.dialect().for_no_key_update());
    tx.one(&sql, vec![tenant(of), id(account)]).await?;
    Ok(())
}

/// The agents of a person, by id.
pub(crate) async fn agents_of(
    tx: &mut Tx,
    of: &TenantId,
    owner: AccountId,
) -> Result<Vec<Account>, StorageError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM accounts account
        WHERE account.tenant = $1 AND account.owner = $2 ORDER BY account.id"
    );
    let rows = tx.all(&sql, vec![tenant(of), id(owner)]).await?;
    rows.iter().map(read).collect()
}

/// Puts an agent below another, or below nobody.
pub(crate) async fn set_parent(
    tx: &mut Tx,
    of: &TenantId,
    agent: AccountId,
    parent: Option<AccountId>,
) -> Result<(), DbError> {
    let sql = "UPDATE accounts SET parent = $3 WHERE tenant = $1 AND id = $2";
    tx.execute(sql, vec![tenant(of), id(agent), optional_id(parent)]).await?;
    Ok(())
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
