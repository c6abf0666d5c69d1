//! A migration: the scripts of a schema change.

use sea_orm::{ConnectionTrait, DbBackend, DbErr};
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

/// A migration that runs scripts: those of its database, in order.
#[derive(Clone, Copy)]
pub(super) struct Script {
    pub(super) name: &'static str,
    pub(super) postgres: &'static [&'static str],
    pub(super) sqlite: &'static [&'static str],
}

impl MigrationName for Script {
    fn name(&self) -> &'static str {
        self.name
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Script {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let scripts = match db.get_database_backend() {
            DbBackend::Postgres => self.postgres,
            DbBackend::Sqlite => self.sqlite,
            other => return Err(DbErr::Migration(format!("there is no schema for {other:?}"))),
        };
        for script in scripts {
            db.execute_unprepared(script).await?;
        }
        Ok(())
    }
}
