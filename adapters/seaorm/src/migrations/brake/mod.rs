//! How long agents have been among themselves in a topic, and whom messages mention.

use sea_orm::{ConnectionTrait, DbBackend, DbErr};
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

/// Adds the columns, and the index of messages that call someone.
pub(super) struct Brake;

impl MigrationName for Brake {
    fn name(&self) -> &'static str {
        "m0005_brake"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Brake {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let sql = match db.get_database_backend() {
            DbBackend::Postgres => include_str!("postgres.sql"),
            DbBackend::Sqlite => include_str!("sqlite.sql"),
            other => return Err(DbErr::Migration(format!("there is no schema for {other:?}"))),
        };
        db.execute_unprepared(sql).await?;
        Ok(())
    }
}
