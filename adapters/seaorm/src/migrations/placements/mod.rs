//! Where agents are placed, and how their last starts went.

use sea_orm::{ConnectionTrait, DbBackend, DbErr};
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

/// Makes the table of placements anew; no program wrote a row to the one before.
pub(super) struct Placements;

impl MigrationName for Placements {
    fn name(&self) -> &'static str {
        "m0004_placements"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Placements {
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
