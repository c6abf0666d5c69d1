//! The schema, and how a server brings it up to date when it starts.

mod brake;
mod channels;
mod initial;
mod placements;
mod read_positions;
mod search;

use sea_orm::{DatabaseTransaction, DbErr};
use sea_orm_migration::{MigrationTrait, MigratorTrait};

/// Every migration of this program, oldest first.
struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(initial::Initial),
            Box::new(channels::Channels),
            Box::new(search::Search),
            Box::new(read_positions::ReadPositions),
            Box::new(placements::Placements),
            Box::new(brake::Brake),
        ]
    }
}

/// Why the schema was not brought up to date.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MigrateError {
    /// A later program changed the schema in a way this one does not know.
    #[error("migration {0} is unknown")]
    Unknown(String),
    /// The database refused.
    #[error(transparent)]
    Refused(#[from] DbErr),
}

/// Applies what is missing, inside a transaction that keeps other servers out.
pub(crate) async fn migrate(tx: &DatabaseTransaction) -> Result<(), MigrateError> {
    Migrator::install(tx).await?;
    let known = Migrator::migrations();
    let applied = Migrator::get_migration_models(tx).await?;
    let unknown =
        applied.into_iter().find(|row| known.iter().all(|migration| migration.name() != row.version));
    if let Some(row) = unknown {
        return Err(MigrateError::Unknown(row.version));
    }
    Ok(Migrator::up(tx, None).await?)
}
