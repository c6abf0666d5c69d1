//! What a database must prove before a server starts on it: tenants are kept apart, commits survive a power cut.

use sqlx::{PgPool, Row as _, sqlite::SqlitePool};

use crate::{
    connection::{OpenError, ROLE},
    error::DbError,
};

/// Every table that holds rows of tenants.
pub(crate) const TENANT_TABLES: [&str; 19] = [
    "tenants",
    "accounts",
    "channel_groups",
    "channels",
    "channel_members",
    "channel_subscriptions",
    "channel_pins",
    "topics",
    "moved_topics",
    "read_positions",
    "messages",
    "asks",
    "unrouted",
    "owed",
    "cursors",
    "sessions",
    "placements",
    "agent_activity",
    "tokens",
];

/// Refuses unless row security binds this pool's role on every table of tenants.
pub(crate) async fn verify_row_security(pool: &PgPool) -> Result<(), OpenError> {
    let failed = OpenError::refused("check row security");
    let bound = "SELECT current_user::text AS role, NOT (rolsuper OR rolbypassrls) AS bound
                 FROM pg_roles WHERE rolname = current_user";
    let row = match sqlx::query(bound).fetch_one(pool).await {
        Ok(row) => row,
        Err(error) => return Err(failed(error.into())),
    };
    let (role, bound) = match (row.try_get::<String, _>("role"), row.try_get::<bool, _>("bound")) {
        (Ok(role), Ok(bound)) => (role, bound),
        (Err(error), _) | (_, Err(error)) => return Err(failed(error.into())),
    };
    if role != ROLE || !bound {
        return Err(OpenError::RowSecurity(format!("connections act as {role:?}, which it does not bind")));
    }
    let open = match unprotected(pool).await {
        Ok(open) => open,
        Err(error) => return Err(failed(error)),
    };
    if open.is_empty() { Ok(()) } else { Err(OpenError::RowSecurity(format!("on {}", open.join(", ")))) }
}

/// Tables of tenants that row security does not protect from the current role.
async fn unprotected(pool: &PgPool) -> Result<Vec<String>, DbError> {
    let names: Vec<String> = TENANT_TABLES.iter().map(ToString::to_string).collect();
    // A column "tenant" makes a table one of tenants even if the list above does not know it.
    let sql = "
        SELECT wanted.name FROM (
            SELECT unnest($1::text[]) AS name
            UNION
            SELECT c.relname::text FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
            WHERE a.attname = 'tenant' AND c.relkind IN ('r', 'p')
              AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
        ) AS wanted
        WHERE NOT EXISTS (
            SELECT 1 FROM pg_class c
            WHERE c.oid = to_regclass(quote_ident(wanted.name)) AND row_security_active(c.oid)
              AND EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid)
        )
        ORDER BY wanted.name";
    let rows = sqlx::query(sql).bind(names).fetch_all(pool).await?;
    Ok(rows.iter().map(|row| row.try_get("name")).collect::<Result<_, _>>()?)
}

/// Refuses unless a commit is on disk when it is acknowledged.
pub(crate) async fn postgres_durability(pool: &PgPool) -> Result<(), OpenError> {
    let sql = "SELECT current_setting('synchronous_commit') AS commits, current_setting('fsync') AS fsync";
    let read = async {
        let row = sqlx::query(sql).fetch_one(pool).await?;
        Ok::<(String, String), sqlx::Error>((row.try_get("commits")?, row.try_get("fsync")?))
    };
    let (commits, fsync) = read.await.map_err(|error| durability_unknown(error.into()))?;
    require("fsync", fsync, "on", |value| value == "on")?;
    require("synchronous_commit", commits, "on", |value| matches!(value, "on" | "remote_apply"))
}

/// Refuses unless a commit is on disk when it is acknowledged.
pub(crate) async fn sqlite_durability(write: &SqlitePool) -> Result<(), OpenError> {
    let read = async {
        let journal: String = sqlx::query("PRAGMA journal_mode").fetch_one(write).await?.try_get(0)?;
        let synchronous: i64 = sqlx::query("PRAGMA synchronous").fetch_one(write).await?.try_get(0)?;
        Ok::<(String, i64), sqlx::Error>((journal, synchronous))
    };
    let (journal, synchronous) = read.await.map_err(|error| durability_unknown(error.into()))?;
    require("journal_mode", journal, "wal", |value| value == "wal")?;
    require("synchronous", synchronous.to_string(), "2 (FULL)", |value| matches!(value, "2" | "3"))
}

fn require(
    setting: &'static str,
    value: String,
    wanted: &'static str,
    is_safe: impl FnOnce(&str) -> bool,
) -> Result<(), OpenError> {
    if is_safe(&value) { Ok(()) } else { Err(OpenError::UnsafeDurability { setting, value, wanted }) }
}

fn durability_unknown(error: DbError) -> OpenError {
    OpenError::refused("check durability")(error)
}
