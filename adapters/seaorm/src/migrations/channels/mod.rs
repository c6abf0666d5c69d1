//! What a channel was made for, found by its key, and groups found by who created them.

use sea_orm::{ConnectionTrait, DbBackend, DbErr};
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

/// Adds the column and the indexes.
pub(super) struct Channels;

impl MigrationName for Channels {
    fn name(&self) -> &'static str {
        "m0002_channels"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Channels {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        match db.get_database_backend() {
            DbBackend::Postgres => {
                db.execute_unprepared(include_str!("postgres.sql")).await?;
            }
            DbBackend::Sqlite => {
                db.execute_unprepared(include_str!("sqlite.sql")).await?;
            }
            other => return Err(DbErr::Migration(format!("there is no schema for {other:?}"))),
        }
        Ok(())
    }
}
