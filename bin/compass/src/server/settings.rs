//! What `serve` is told: checked as a whole before anything is opened.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, ValueEnum};
use directories::ProjectDirs;

use super::telemetry::LogFormat;
use crate::{defaults, failure::Failure};

/// Options of `serve`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServeArgs {
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, env = "COMPASS_LISTEN", value_name = "ADDRESS", default_value = defaults::LISTEN)]
    pub(crate) listen: SocketAddr,
    /// Database to use, such as postgres://user@host/name [default: a SQLite file in the data directory]
    #[arg(long, env = "COMPASS_DATABASE", value_name = "URL", hide_env_values = true)]
    pub(crate) database: Option<String>,
    /// Where messages are kept: a database, or this process's memory, which ends with it
    #[arg(long, value_enum, default_value_t = Store::Database, conflicts_with = "database")]
    pub(crate) store: Store,
    /// Directory of the database file, the lock and the first sign-in [default: the platform's data directory]
    #[arg(long, env = "COMPASS_DATA_DIR", value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Handle of the administrator; one that does not exist yet is created, with a new sign-in, on a database in use too
    #[arg(long, value_name = "HANDLE", default_value = "admin")]
    pub(crate) admin: String,
    /// Start even if the database may lose what it acknowledged
    #[arg(long)]
    pub(crate) allow_unsafe_durability: bool,
    /// What to log: a level, or levels per module such as info,compass_hub=debug
    #[arg(long, env = "COMPASS_LOG", value_name = "FILTER", default_value = defaults::LOG)]
    pub(crate) log: String,
    /// How the log reads
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,
    /// Stop when standard input closes, for a program that starts a server of its own
    #[arg(long, hide = true)]
    pub(crate) until_input_closes: bool,
}

/// Where messages are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Store {
    /// In a database: a SQLite file, or the one named by `--database`.
    Database,
    /// In memory.
    Memory,
}

impl ServeArgs {
    /// The data directory.
    pub(crate) fn data_dir(&self) -> Result<PathBuf, Failure> {
        if let Some(dir) = &self.data_dir {
            return Ok(dir.clone());
        }
        let dirs = ProjectDirs::from("", "", defaults::PROGRAM).ok_or_else(|| {
            Failure::Usage("this user has no home directory; name a place with --data-dir".to_owned())
        })?;
        Ok(dirs.data_dir().to_owned())
    }

    /// The database's address: the named one, or the file in the data directory.
    pub(crate) fn database_url(&self) -> Result<String, Failure> {
        if let Some(url) = &self.database {
            return Ok(url.clone());
        }
        let file = self.data_dir()?.join(defaults::DATABASE_FILE);
        let path = file.to_str().ok_or_else(|| {
            Failure::Usage(format!("{}: a data directory's path must be UTF-8", file.display()))
        })?;
        Ok(format!("sqlite:{path}"))
    }
}
