//! The first schema: accounts, channels, conversation, delivery, sessions and tokens.

use sea_orm::{ConnectionTrait, DbBackend, DbErr};
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

/// Creates every table, and on Postgres what keeps tenants apart.
pub(super) struct Initial;

impl MigrationName for Initial {
    fn name(&self) -> &'static str {
        "m0001_initial"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Initial {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        match db.get_database_backend() {
            DbBackend::Postgres => {
                db.execute_unprepared(include_str!("postgres.sql")).await?;
                db.execute_unprepared(include_str!("postgres_access.sql")).await?;
            }
            DbBackend::Sqlite => {
                db.execute_unprepared(include_str!("sqlite.sql")).await?;
            }
            other => return Err(DbErr::Migration(format!("there is no schema for {other:?}"))),
        }
        Ok(())
    }
}
