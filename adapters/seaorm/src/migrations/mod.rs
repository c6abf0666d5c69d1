//! The schema, and how a server brings it up to date when it starts.

mod script;

use sea_orm::{DatabaseTransaction, DbErr};
use sea_orm_migration::{MigrationTrait, MigratorTrait};

use self::script::Script;

/// Every migration of this program, oldest first.
const SCRIPTS: [Script; 7] = [
    // Every table, and on Postgres what keeps tenants apart.
    Script {
        name: "m0001_initial",
        postgres: &[include_str!("initial/postgres.sql"), include_str!("initial/postgres_access.sql")],
        sqlite: &[include_str!("initial/sqlite.sql")],
    },
    // What a channel was made for, found by its key, and groups found by who created them.
    Script {
        name: "m0002_channels",
        postgres: &[include_str!("channels/postgres.sql")],
        sqlite: &[include_str!("channels/sqlite.sql")],
    },
    // A word index over the texts of messages; on Postgres with the function that may use it.
    Script {
        name: "m0003_search",
        postgres: &[include_str!("search/postgres.sql")],
        sqlite: &[include_str!("search/sqlite.sql")],
    },
    // How far people have read topics.
    Script {
        name: "m0003_read_positions",
        postgres: &[include_str!("read_positions/postgres.sql")],
        sqlite: &[include_str!("read_positions/sqlite.sql")],
    },
    // Where agents are placed and how their last starts went; no program wrote a row to the table before.
    Script {
        name: "m0004_placements",
        postgres: &[include_str!("placements/postgres.sql")],
        sqlite: &[include_str!("placements/sqlite.sql")],
    },
    // How long agents have been among themselves in a topic, and whom messages mention.
    Script {
        name: "m0005_brake",
        postgres: &[include_str!("brake/postgres.sql")],
        sqlite: &[include_str!("brake/sqlite.sql")],
    },
    // Where topics went that were joined to others; of those joined before nothing is known.
    Script {
        name: "m0006_moved_topics",
        postgres: &[include_str!("moved_topics/postgres.sql")],
        sqlite: &[include_str!("moved_topics/sqlite.sql")],
    },
];

struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        SCRIPTS.map(|script| Box::new(script) as Box<dyn MigrationTrait>).into()
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
