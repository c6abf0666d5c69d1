//! Where a run keeps its rows: a database of its own, gone afterwards.

use std::path::Path;

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::BenchError;

/// The database of a run.
pub(crate) enum Database {
    /// One of its own on a Postgres server.
    Postgres { server: String, name: String },
    /// A file in the server's data directory.
    Sqlite,
}

impl Database {
    /// Makes an empty one: on the server that `url` names, where the one in `url` itself is not touched, or on SQLite.
    pub(crate) async fn create(url: Option<&str>, scratch: &Path) -> Result<Self, BenchError> {
        match url {
            Some(url) => Self::on_postgres(url, scratch).await,
            None => Ok(Self::Sqlite),
        }
    }

    async fn on_postgres(url: &str, scratch: &Path) -> Result<Self, BenchError> {
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            let scheme = url.split(':').next().unwrap_or_default();
            return Err(BenchError::Option(format!(
                "database must be a postgres:// address, not {scheme:?}; SQLite is always measured"
            )));
        }
        // The scratch directory's name is unique on this machine, and one server serves one run at a time.
        let suffix = scratch.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let suffix = suffix.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
        let name = format!("compass_bench_{}_{suffix}", std::process::id());
        execute(url, format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")).await?;
        Ok(Self::Postgres { server: url.to_owned(), name })
    }

    /// What the server is told by `--database`.
    pub(crate) fn url(&self) -> Option<String> {
        match self {
            Self::Postgres { server, name } => Some(with_database(server, name)),
            Self::Sqlite => None,
        }
    }

    /// Its kind, for people.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Postgres { .. } => "postgres",
            Self::Sqlite => "sqlite",
        }
    }

    /// Removes it.
    pub(crate) async fn drop(self) -> Result<(), BenchError> {
        match self {
            Self::Postgres { server, name } => {
                execute(&server, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await
            }
            Self::Sqlite => Ok(()),
        }
    }
}

async fn execute(url: &str, statement: String) -> Result<(), BenchError> {
    let mut connection = PgConnection::connect(url).await.map_err(BenchError::sql("be reached"))?;
    let done = sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await;
    done.map_err(BenchError::sql("create or drop a database of the run's own"))?;
    connection.close().await.map_err(BenchError::sql("end a connection"))
}

/// The same server, another database.
fn with_database(url: &str, name: &str) -> String {
    let (base, query) = url.split_once('?').map_or((url, ""), |(base, _)| (base, &url[base.len()..]));
    let (scheme, rest) = base.split_once("://").unwrap_or(("postgres", base));
    let authority = rest.split('/').next().unwrap_or_default();
    format!("{scheme}://{authority}/{name}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_database_of_an_address_changes() {
        assert_eq!(with_database("postgres://u:p@h:5/old?a=b/c", "new"), "postgres://u:p@h:5/new?a=b/c");
        assert_eq!(with_database("postgres:///old?host=/run", "new"), "postgres:///new?host=/run");
        assert_eq!(with_database("postgresql://h", "new"), "postgresql://h/new");
    }

    #[tokio::test]
    async fn a_database_that_is_no_postgres_is_refused_by_name() {
        let refused = Database::on_postgres("mysql://h/d", Path::new("x")).await.err().unwrap();
        assert!(refused.to_string().contains("\"mysql\""), "{refused}");
    }
}
