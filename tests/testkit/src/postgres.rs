//! A database of its own for each test, on the server the test command started or on a temporary one.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::{env, fmt};

use compass_pgtemp::{Binaries, Durability};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

/// Which server a test needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cluster {
    /// Flushes nothing: for tests that do not crash or measure the server.
    Fast,
    /// Keeps what it committed: for tests that kill processes, and for measurements.
    Durable,
}

/// Why a test has no database.
#[derive(Debug)]
pub enum PostgresError {
    /// No server is named by the environment and none is installed.
    Absent,
    /// A temporary server did not start.
    Start(String),
    /// The server refused a statement or the connection.
    Sql {
        /// What was being done.
        doing: String,
        /// What the server or the connection said.
        source: sqlx::Error,
    },
}

impl fmt::Display for PostgresError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str(
                "this test needs PostgreSQL: run it through `cargo xtask unit`, which brings it, or set \
                 COMPASS_TEST_DATABASE_URL or COMPASS_PG_BIN; COMPASS_SKIP_POSTGRES=1 leaves it out",
            ),
            Self::Start(message) => f.write_str(message),
            Self::Sql { doing, source } => write!(f, "could not {doing}: {source}"),
        }
    }
}

impl std::error::Error for PostgresError {}

/// An empty database, dropped together with this value.
#[derive(Debug)]
pub struct TestDatabase {
    url: String,
    server: String,
    name: String,
    dropped: bool,
}

impl TestDatabase {
    /// An empty database. `None`, and a notice, only where no server can be found and `COMPASS_SKIP_POSTGRES=1`
    /// allows the test to pass without one; never in CI.
    ///
    /// # Panics
    /// There is no server, or it refuses: the test fails.
    pub async fn fresh(kind: Cluster) -> Option<Self> {
        match Self::try_fresh(kind).await {
            Ok(database) => Some(database),
            Err(PostgresError::Absent)
                if may_skip(env::var_os("COMPASS_SKIP_POSTGRES"), env::var_os("CI")) =>
            {
                eprintln!("SKIPPED: COMPASS_SKIP_POSTGRES=1 and no PostgreSQL: this test proved nothing");
                None
            }
            #[expect(clippy::panic, reason = "a test that lacks its database fails")]
            Err(error) => panic!("{error}"),
        }
    }

    /// An empty database on the server of that kind.
    ///
    /// # Errors
    /// There is no server, or it refuses to create a database.
    pub async fn try_fresh(kind: Cluster) -> Result<Self, PostgresError> {
        let server = server(kind).await?;
        let name = format!("compass_test_{:016x}", RandomState::new().hash_one(std::process::id()));
        execute(&server, format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")).await?;
        Ok(Self { url: with_database(&server, &name), server, name, dropped: false })
    }

    /// The URL of this database.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its name on the server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Drops the database, ending the connections to it.
    ///
    /// # Errors
    /// The server is gone or refuses.
    pub async fn close(mut self) -> Result<(), PostgresError> {
        self.dropped = true;
        execute(&self.server, drop_statement(&self.name)).await
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if self.dropped {
            return;
        }
        let (server, statement) = (self.server.clone(), drop_statement(&self.name));
        // A runtime of its own: the test's may be the current one, which cannot be blocked on.
        let worker = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            match runtime.map(|runtime| runtime.block_on(execute(&server, statement))) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => eprintln!("{error}"),
                Err(error) => eprintln!("no runtime to drop a test database with: {error}"),
            }
        });
        if worker.join().is_err() {
            eprintln!("the thread that drops database {} panicked", self.name);
        }
    }
}

fn drop_statement(name: &str) -> String {
    format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")
}

async fn execute(server: &str, statement: String) -> Result<(), PostgresError> {
    let failed = |doing: String| move |source| PostgresError::Sql { doing, source };
    let mut connection =
        PgConnection::connect(server).await.map_err(failed(format!("connect to {server}")))?;
    // The statements hold nothing but names made here.
    let result = sqlx::raw_sql(AssertSqlSafe(statement.clone())).execute(&mut connection).await;
    result.map_err(failed(statement))?;
    connection.close().await.map_err(failed(format!("disconnect from {server}")))
}

/// The URL of a server of that kind: named by the environment, else started once for this process, whose end,
/// however it comes, ends the server too.
async fn server(kind: Cluster) -> Result<String, PostgresError> {
    type Started = OnceLock<Result<compass_pgtemp::Cluster, PostgresError>>;
    static FAST: Started = OnceLock::new();
    static DURABLE: Started = OnceLock::new();
    let (variable, slot, durability) = match kind {
        Cluster::Fast => ("COMPASS_TEST_DATABASE_URL", &FAST, Durability::Fast),
        Cluster::Durable => ("COMPASS_TEST_DURABLE_DATABASE_URL", &DURABLE, Durability::Durable),
    };
    if let Some(url) = env::var(variable).ok().filter(|url| !url.is_empty()) {
        return Ok(url);
    }
    let started = tokio::task::spawn_blocking(move || slot.get_or_init(|| start(durability)).as_ref());
    match started.await {
        Ok(Ok(cluster)) => Ok(cluster.url("postgres")),
        Ok(Err(PostgresError::Absent)) => Err(PostgresError::Absent),
        Ok(Err(error)) => Err(PostgresError::Start(error.to_string())),
        Err(error) => Err(PostgresError::Start(error.to_string())),
    }
}

fn start(durability: Durability) -> Result<compass_pgtemp::Cluster, PostgresError> {
    let failed = |error: compass_pgtemp::Error| PostgresError::Start(error.to_string());
    let binaries = Binaries::locate().map_err(failed)?.ok_or(PostgresError::Absent)?;
    compass_pgtemp::Cluster::start(&binaries, durability).map_err(failed)
}

fn may_skip(skip: Option<std::ffi::OsString>, ci: Option<std::ffi::OsString>) -> bool {
    skip.is_some_and(|value| value == "1") && ci.is_none_or(|value| value.is_empty())
}

/// Replaces the path of a URL, keeping the rest.
fn with_database(url: &str, name: &str) -> String {
    let (base, query) = url.split_once('?').map_or((url, None), |(base, query)| (base, Some(query)));
    let (scheme, rest) = base.split_once("://").unwrap_or(("postgres", base));
    let authority = rest.split('/').next().unwrap_or_default();
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{scheme}://{authority}/{name}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn one_value(url: &str, sql: &str) -> String {
        let mut connection = PgConnection::connect(url).await.unwrap();
        sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(&mut connection).await.unwrap()
    }

    async fn count(url: &str, name: &str) -> String {
        one_value(url, &format!("SELECT count(*)::text FROM pg_database WHERE datname = '{name}'")).await
    }

    #[test]
    fn only_the_path_of_a_url_changes() {
        let socket = "postgres:///postgres?host=/tmp/x&port=7&user=compass";
        assert_eq!(with_database(socket, "t"), "postgres:///t?host=/tmp/x&port=7&user=compass");
        assert_eq!(with_database("postgresql://me:pw@h:1/db", "t"), "postgresql://me:pw@h:1/t");
        assert_eq!(with_database("postgres://h", "t"), "postgres://h/t");
        assert_eq!(with_database("postgres://h?sslmode=disable", "t"), "postgres://h/t?sslmode=disable");
    }

    #[test]
    fn a_test_is_left_out_only_on_request_and_never_in_ci() {
        assert!(may_skip(Some("1".into()), None));
        assert!(may_skip(Some("1".into()), Some("".into())));
        assert!(!may_skip(Some("1".into()), Some("true".into())));
        assert!(!may_skip(Some("0".into()), None));
        assert!(!may_skip(None, None));
    }

    #[tokio::test]
    async fn two_databases_are_apart_and_go_when_closed_or_dropped() {
        let Some(first) = TestDatabase::fresh(Cluster::Fast).await else { return };
        let Some(second) = TestDatabase::fresh(Cluster::Fast).await else { return };
        assert_eq!(one_value(first.url(), "SELECT current_database()::text").await, first.name());
        assert_ne!(first.name(), second.name());
        let server = first.server.clone();
        let names = [first.name().to_owned(), second.name().to_owned()];
        let mut lingering = PgConnection::connect(first.url()).await.unwrap();
        first.close().await.unwrap();
        assert!(lingering.ping().await.is_err());
        assert_eq!(count(&server, &names[0]).await, "0");
        assert_eq!(count(&server, &names[1]).await, "1");
        drop(second);
        assert_eq!(count(&server, &names[1]).await, "0");
    }

    #[tokio::test]
    async fn the_durable_server_flushes_what_it_commits() {
        let Some(database) = TestDatabase::fresh(Cluster::Durable).await else { return };
        assert_eq!(one_value(database.url(), "SHOW fsync").await, "on");
        assert_eq!(one_value(database.url(), "SHOW synchronous_commit").await, "on");
    }
}
