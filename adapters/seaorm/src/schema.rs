//! Brings the schema up to date at start, one server at a time.

use compass_domain::TenantId;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, SqliteTransactionMode,
    SqlxPostgresConnector, SqlxSqliteConnector, Statement, TransactionOptions, TransactionTrait,
};
use sqlx::{PgPool, sqlite::SqlitePool};

use crate::{
    connection::OpenError,
    migrations::{self, MigrateError},
};

/// Any number that no other program of the same database takes for its own lock.
const LOCK: &str = "SELECT pg_advisory_xact_lock(4848142)";

/// Roles belong to the whole server, so another database's start may make it at the same time or have made it.
const MAKE_ROLE: &str = "
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'compass_app') THEN
        CREATE ROLE compass_app NOLOGIN NOINHERIT;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END
$$;
DO $$
BEGIN
    IF NOT pg_has_role(current_user, 'compass_app',
        CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END) THEN
        EXECUTE format('GRANT compass_app TO %I', current_user);
    END IF;
END
$$;";

/// Prepares a Postgres database over a connection of its owner.
pub(crate) async fn prepare_postgres(owner: &PgPool, tenants: &[TenantId]) -> Result<(), OpenError> {
    let db = SqlxPostgresConnector::from_sqlx_postgres_pool(owner.clone());
    let tx = db.begin().await.map_err(refused)?;
    tx.execute_unprepared(LOCK).await.map_err(refused)?;
    tx.execute_unprepared(MAKE_ROLE).await.map_err(refused)?;
    finish(tx, tenants).await
}

/// Prepares a SQLite database over the connection that writes.
pub(crate) async fn prepare_sqlite(write: &SqlitePool, tenants: &[TenantId]) -> Result<(), OpenError> {
    let db: DatabaseConnection = SqlxSqliteConnector::from_sqlx_sqlite_pool(write.clone());
    let immediate = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    let tx = db.begin_with_options(immediate).await.map_err(refused)?;
    finish(tx, tenants).await
}

async fn finish(tx: DatabaseTransaction, tenants: &[TenantId]) -> Result<(), OpenError> {
    migrations::migrate(&tx).await.map_err(OpenError::migrating)?;
    for tenant in tenants {
        add_tenant(&tx, tenant).await.map_err(refused)?;
    }
    tx.commit().await.map_err(refused)
}

async fn add_tenant(tx: &DatabaseTransaction, tenant: &TenantId) -> Result<(), DbErr> {
    let backend: DbBackend = tx.get_database_backend();
    let sql = "INSERT INTO tenants (id) VALUES ($1) ON CONFLICT (id) DO NOTHING";
    tx.execute_raw(Statement::from_sql_and_values(backend, sql, [tenant.as_str().into()])).await?;
    Ok(())
}

fn refused(error: DbErr) -> OpenError {
    OpenError::migrating(MigrateError::Refused(error))
}
