//! Token rows.

use compass_comms::ports::{Subject, TokenHash, TokenRow};
use compass_domain::{AccountId, Corrupt, TenantId, TokenId, UnixMillis};
use compass_ports::StorageError;
use sea_orm::QueryResult;

use crate::{
    dialect::{Dialect, millis},
    ids::{id, optional_id, tenant},
    rows::Columns as _,
    transaction::Tx,
};

const ACCOUNT: i16 = 0;
const RUNNER: i16 = 1;
const SIGN_IN: i16 = 2;

const COLUMNS: &str = "tenant, id, hash, kind, account, runner, created_at_ms, expires_at_ms, revoked_at_ms";

/// A token and its tenant by the hash, across tenants; the transaction is one of `system`.
pub(crate) async fn find_anywhere(
    tx: &mut Tx,
    hash: &TokenHash,
) -> Result<Option<(TenantId, TokenRow)>, StorageError> {
    let sql = match tx.dialect() {
        Dialect::Postgres => format!("SELECT {COLUMNS} FROM compass_find_token($1)"),
        Dialect::Sqlite => format!("SELECT {COLUMNS} FROM tokens WHERE hash = $1"),
    };
    let row = tx.one(&sql, vec![hash.0.to_vec().into()]).await?;
    row.map(|row| read_with_tenant(&row)).transpose()
}

/// The same for many hashes, in no order.
pub(crate) async fn find_all_anywhere(
    tx: &mut Tx,
    hashes: &[TokenHash],
) -> Result<Vec<(TenantId, TokenRow)>, StorageError> {
    let dialect = tx.dialect();
    let sql = match dialect {
        Dialect::Postgres => format!(
            "SELECT {COLUMNS} FROM unnest($1) wanted CROSS JOIN LATERAL compass_find_token(decode(wanted, 'hex'))"
        ),
        Dialect::Sqlite => {
            format!("SELECT {COLUMNS} FROM tokens WHERE hash IN (SELECT unhex(value) FROM json_each($1))")
        }
    };
    let hashes: Vec<String> = hashes.iter().map(hex).collect();
    let rows = tx.all(&sql, vec![dialect.text_list(hashes.iter().map(String::as_str))]).await?;
    rows.iter().map(read_with_tenant).collect()
}

fn hex(hash: &TokenHash) -> String {
    hash.0.iter().fold(String::with_capacity(64), |text, byte| text + &format!("{byte:02x}"))
}

fn read_with_tenant(row: &QueryResult) -> Result<(TenantId, TokenRow), StorageError> {
    Ok((TenantId::new(&row.get::<String>("tenant")?), read(row)?))
}

/// The working tokens of an account, newest first.
pub(crate) async fn list(
    tx: &mut Tx,
    of: &TenantId,
    account: AccountId,
    now: UnixMillis,
) -> Result<Vec<TokenRow>, StorageError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM tokens WHERE tenant = $1 AND account = $2 AND revoked_at_ms IS NULL
        AND (expires_at_ms IS NULL OR expires_at_ms > $3) ORDER BY created_at_ms DESC, id"
    );
    let rows = tx.all(&sql, vec![tenant(of), id(account), millis(now)]).await?;
    rows.iter().map(read).collect()
}

/// Stores a token.
pub(crate) async fn insert(tx: &mut Tx, of: &TenantId, token: &TokenRow) -> Result<(), StorageError> {
    let (kind, account, runner) = match &token.subject {
        Subject::Account(account) => (ACCOUNT, Some(*account), None),
        Subject::Runner(runner) => (RUNNER, None, Some(runner.as_str())),
        Subject::SignIn(account) => (SIGN_IN, Some(*account), None),
    };
    let sql = format!("INSERT INTO tokens ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)");
    let values = vec![
        tenant(of),
        id(token.id),
        token.hash.0.to_vec().into(),
        kind.into(),
        optional_id(account),
        runner.map(str::to_owned).into(),
        millis(token.created_at),
        token.expires_at.map(|at| at.0).into(),
        token.revoked_at.map(|at| at.0).into(),
    ];
    match tx.execute(&sql, values).await {
        Ok(_) => Ok(()),
        // The driver's text would show what a hash collided with.
        Err(error) if error.is_unique_violation() => {
            Err(StorageError::Conflict(format!("token {} or its hash is taken", token.id)))
        }
        Err(error) => Err(error.into()),
    }
}

/// A token by its public id.
pub(crate) async fn find(
    tx: &mut Tx,
    of: &TenantId,
    token: TokenId,
) -> Result<Option<TokenRow>, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM tokens WHERE tenant = $1 AND id = $2");
    tx.one(&sql, vec![tenant(of), id(token)]).await?.map(|row| read(&row)).transpose()
}

/// A token of the tenant by its hash.
pub(crate) async fn find_by_hash(
    tx: &mut Tx,
    of: &TenantId,
    hash: &TokenHash,
) -> Result<Option<TokenRow>, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM tokens WHERE tenant = $1 AND hash = $2");
    tx.one(&sql, vec![tenant(of), hash.0.to_vec().into()]).await?.map(|row| read(&row)).transpose()
}

/// Revokes a token; false if it was revoked before or does not exist.
pub(crate) async fn revoke(
    tx: &mut Tx,
    of: &TenantId,
    token: TokenId,
    at: UnixMillis,
) -> Result<bool, StorageError> {
    let sql = "UPDATE tokens SET revoked_at_ms = $3 WHERE tenant = $1 AND id = $2 AND revoked_at_ms IS NULL";
    Ok(tx.execute(sql, vec![tenant(of), id(token), millis(at)]).await? > 0)
}

fn read(row: &QueryResult) -> Result<TokenRow, StorageError> {
    let token: TokenId = row.id("id")?;
    let kind: i16 = row.get("kind")?;
    let account = row.optional_id("account")?;
    let subject = match (kind, account, row.get::<Option<String>>("runner")?) {
        (ACCOUNT, Some(account), None) => Subject::Account(account),
        (RUNNER, None, Some(runner)) => Subject::Runner(runner),
        (SIGN_IN, Some(account), None) => Subject::SignIn(account),
        _ => return Err(Corrupt::new(format!("token {token}: subject of kind {kind}")).into()),
    };
    Ok(TokenRow {
        id: token,
        hash: TokenHash(row.digest("hash")?),
        subject,
        created_at: row.millis("created_at_ms")?,
        expires_at: row.optional_millis("expires_at_ms")?,
        revoked_at: row.optional_millis("revoked_at_ms")?,
    })
}
