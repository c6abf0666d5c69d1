//! What a search needs beside the texts: word indexes that the database keeps by itself.

use sea_orm::{ConnectionTrait, DbBackend, DbErr};
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

/// Adds a word index over the texts of messages; on Postgres with the function that may use it.
pub(super) struct Search;

impl MigrationName for Search {
    fn name(&self) -> &'static str {
        "m0003_search"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Search {
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
