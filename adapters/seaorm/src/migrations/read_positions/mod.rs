//! How far people have read topics.

use sea_orm::{ConnectionTrait, DbBackend, DbErr};
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

/// Adds the table of read positions.
pub(super) struct ReadPositions;

impl MigrationName for ReadPositions {
    fn name(&self) -> &'static str {
        "m0003_read_positions"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for ReadPositions {
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
