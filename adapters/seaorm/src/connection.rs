//! Opens a database: schema first, then the checks without which a server must not start, then the pools.

use std::time::Duration;

use compass_domain::TenantId;
use sqlx::{
    ConnectOptions as _, Connection as _, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous},
};
use tokio_util::task::TaskTracker;

use crate::{checks, error::DbError, migrations::MigrateError, schema, transaction::Pools};

/// The role every pooled connection acts as; it owns nothing, so row security binds it.
pub(crate) const ROLE: &str = "compass_app";
/// Settings of every pooled connection. A statement is planned once and not for each call: planning one that walks
/// the agent tree takes ten times as long as running it. Plans made on small tables must still use the indexes, and in
/// their order: a bitmap reads all rows of a channel or a tenant to sort them for one page.
const POOL_SETTINGS: [(&str, &str); 5] = [
    ("role", ROLE),
    ("plan_cache_mode", "force_generic_plan"),
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("jit", "off"),
];
/// How long a transaction waits for a connection, or on SQLite for the write lock.
const WAIT: Duration = Duration::from_secs(5);
/// How long a server waits before it tries again to open a file that another one is opening.
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// Which database, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// `postgres://…`, `postgresql://…`, or `sqlite:` with a file's path.
    pub url: String,
    /// Starts even if the database may lose what it acknowledged.
    pub allow_unsafe_durability: bool,
    /// Connections of the pool at the most; on SQLite, of those that read.
    pub max_connections: u32,
    /// Tenants that must exist, besides the default one.
    pub tenants: Vec<TenantId>,
}

impl Options {
    /// A database with the usual settings.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), allow_unsafe_durability: false, max_connections: 16, tenants: Vec::new() }
    }
}

/// Why a database was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Not an address of a database we know.
    #[error("database url is not usable: {0}")]
    Url(String),
    /// The database cannot be reached or refused.
    #[error("could not {doing}: {source}")]
    Refused {
        /// What was being done.
        doing: &'static str,
        /// What the database said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No database answers there.
    #[error("could not connect to the database at {host}: {source}")]
    Unreachable {
        /// Host and port, without who connects.
        host: String,
        /// What the last try came to.
        source: sqlx::Error,
    },
    /// The schema belongs to a later version of this program.
    #[error(
        "the database was changed by a newer version of this program (migration {0}): update the program"
    )]
    SchemaNewer(String),
    /// Tenants are not kept apart.
    #[error("row security is not active: {0}")]
    RowSecurity(String),
    /// The database may lose what it acknowledged.
    #[error(
        "{setting} is {value}, so the database may lose what it acknowledged: set it to {wanted}, or allow unsafe durability"
    )]
    UnsafeDurability {
        /// Which setting.
        setting: &'static str,
        /// What it is.
        value: String,
        /// What it should be.
        wanted: &'static str,
    },
}

impl OpenError {
    /// The failure of a step.
    pub(crate) fn refused(doing: &'static str) -> impl FnOnce(DbError) -> Self {
        move |source| Self::Refused { doing, source: Box::new(source) }
    }

    /// The failure of the schema's update.
    pub(crate) fn migrating(error: MigrateError) -> Self {
        match error {
            MigrateError::Unknown(version) => Self::SchemaNewer(version),
            MigrateError::Refused(source) => {
                Self::Refused { doing: "update the schema", source: Box::new(source) }
            }
        }
    }
}

/// Storage on Postgres or SQLite; clones share its connections.
#[derive(Debug, Clone)]
pub struct SeaStorage {
    pub(crate) pools: Pools,
}

impl SeaStorage {
    /// Opens a database and brings its schema up to date.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if it cannot be reached, was changed by a newer program, does not keep tenants apart or may
    /// lose what it acknowledged.
    pub async fn connect(options: Options) -> Result<Self, OpenError> {
        let scheme = options.url.split(':').next().unwrap_or_default();
        match scheme {
            "postgres" | "postgresql" => connect_postgres(&options).await,
            "sqlite" => connect_sqlite(&options).await,
            other => Err(OpenError::Url(format!("unknown scheme {other:?}"))),
        }
    }

    /// Closes every connection; what runs is finished first.
    pub async fn close(&self) {
        match &self.pools {
            Pools::Postgres { pool, begins } => {
                begins.close();
                begins.wait().await;
                pool.close().await;
            }
            Pools::Sqlite { write, read } => {
                read.close().await;
                write.close().await;
            }
        }
    }
}

/// A pool that ran out of time does not say why; one more try does.
async fn unreachable(at: &PgConnectOptions, error: sqlx::Error) -> OpenError {
    let source = match error {
        sqlx::Error::PoolTimedOut => match tokio::time::timeout(WAIT, at.connect()).await {
            Ok(Err(reason)) => reason,
            Ok(Ok(_)) | Err(_) => sqlx::Error::PoolTimedOut,
        },
        error => error,
    };
    let host = match at.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => format!("{}:{}", at.get_host(), at.get_port()),
    };
    OpenError::Unreachable { host, source }
}

async fn connect_postgres(options: &Options) -> Result<SeaStorage, OpenError> {
    let owner: PgConnectOptions = options.url.parse().map_err(url_error)?;
    let owner = owner.application_name("compass").disable_statement_logging();
    let connecting =
        PgPoolOptions::new().max_connections(1).acquire_timeout(WAIT).connect_with(owner.clone());
    let owner_pool = match connecting.await {
        Ok(pool) => pool,
        Err(error) => return Err(unreachable(&owner, error).await),
    };
    let prepared = schema::prepare_postgres(&owner_pool, &options.tenants).await;
    owner_pool.close().await;
    prepared?;

    let pool = PgPoolOptions::new()
        .max_connections(options.max_connections.max(1))
        .acquire_timeout(WAIT)
        .test_before_acquire(false)
        .connect_with(owner.options(POOL_SETTINGS))
        .await
        .map_err(|error| OpenError::refused("connect to the database as compass_app")(error.into()))?;
    check_postgres(&pool, options.allow_unsafe_durability).await?;
    Ok(SeaStorage { pools: Pools::Postgres { pool, begins: TaskTracker::new() } })
}

async fn check_postgres(pool: &PgPool, allow_unsafe_durability: bool) -> Result<(), OpenError> {
    checks::verify_row_security(pool).await?;
    match checks::postgres_durability(pool).await {
        Err(OpenError::UnsafeDurability { setting, value, .. }) if allow_unsafe_durability => {
            tracing::warn!(setting, value, "the database may lose what it acknowledged");
            Ok(())
        }
        checked => checked,
    }
}

async fn connect_sqlite(options: &Options) -> Result<SeaStorage, OpenError> {
    let file: SqliteConnectOptions = options.url.parse().map_err(url_error)?;
    if options.url.contains(":memory:") || options.url.contains("mode=memory") {
        return Err(OpenError::Url("a database in memory has no second connection: name a file".into()));
    }
    let file = file
        .create_if_missing(true)
        .busy_timeout(WAIT)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .pragma("cache_size", "-20000")
        .disable_statement_logging();
    let open = OpenError::refused("open the database file");
    let write = open_for_writing(&file).await.map_err(|error| open(error.into()))?;
    schema::prepare_sqlite(&write, &options.tenants).await?;
    match checks::sqlite_durability(&write).await {
        Err(OpenError::UnsafeDurability { setting, value, .. }) if options.allow_unsafe_durability => {
            tracing::warn!(setting, value, "the database may lose what it acknowledged");
        }
        checked => checked?,
    }
    let read = sqlite_pool()
        .max_connections(options.max_connections.max(1))
        .acquire_timeout(WAIT)
        .test_before_acquire(false)
        .connect_with(file.create_if_missing(false).pragma("query_only", "ON"))
        .await
        .map_err(|error| OpenError::refused("open the database file for reading")(error.into()))?;
    Ok(SeaStorage { pools: Pools::Sqlite { write, read } })
}

/// A new file is given its log by one server alone, and SQLite makes no other one wait for that: it is busy at once.
async fn open_for_writing(file: &SqliteConnectOptions) -> Result<SqlitePool, sqlx::Error> {
    let open = || {
        let pool = sqlite_pool().max_connections(1).acquire_timeout(WAIT).test_before_acquire(false);
        pool.connect_with(file.clone())
    };
    let is_busy = |error: &sqlx::Error| {
        error.as_database_error().and_then(sqlx::error::DatabaseError::code).is_some_and(|code| code == "5")
    };
    let patient = async {
        loop {
            match open().await {
                Err(error) if is_busy(&error) => tokio::time::sleep(BUSY_PAUSE).await,
                opened => return opened,
            }
        }
    };
    match tokio::time::timeout(WAIT, patient).await {
        Ok(opened) => opened,
        Err(_) => open().await,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function of map_err")]
fn url_error(error: sqlx::Error) -> OpenError {
    OpenError::Url(error.to_string())
}

/// A pool that parts with a connection whose transaction could not be ended: a full disk makes SQLite end it by
/// itself, and the driver would refuse every later one.
fn sqlite_pool() -> SqlitePoolOptions {
    SqlitePoolOptions::new().after_release(|connection, _| {
        Box::pin(async move {
            connection.ping().await?;
            Ok(!connection.is_in_transaction())
        })
    })
}
