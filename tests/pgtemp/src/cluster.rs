//! Starting, naming and stopping one temporary server.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::account::Account;
use crate::{Binaries, Error, directory};

/// What the server risks for speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Nothing is flushed: a crash of the machine loses data, a test loses nothing.
    Fast,
    /// The server's defaults: what is committed survives.
    Durable,
}

/// A running server that listens on a socket in its own directory only; dropping it stops it and removes its files.
#[derive(Debug)]
pub struct Cluster {
    dir: PathBuf,
    port: u16,
    supervisor: Child,
}

impl Cluster {
    /// Creates a cluster, starts it and waits until it takes connections.
    ///
    /// # Errors
    /// The directory cannot be made, or `initdb` or the server fails; the error holds what they printed.
    pub fn start(binaries: &Binaries, durability: Durability) -> Result<Self, Error> {
        let (dir, account) = directory::create()?;
        // From here on a failure must not leave the directory behind; once the supervisor runs, that is its duty.
        let prepared = Self::spawn(binaries, durability, &dir, account);
        let (port, supervisor) = match prepared {
            Ok(started) => started,
            Err(error) => {
                fs::remove_dir_all(&dir).map_err(Error::io("remove", &dir))?;
                return Err(error);
            }
        };
        let mut cluster = Self { dir, port, supervisor };
        cluster.wait_until_ready()?;
        Ok(cluster)
    }

    fn spawn(
        binaries: &Binaries,
        durability: Durability,
        dir: &Path,
        account: Option<Account>,
    ) -> Result<(u16, Child), Error> {
        let bin = reachable(binaries, account, dir)?;
        let port = free_port()?;
        let mut command = Command::new("sh");
        command.args(["-c", include_str!("supervise.sh"), "sh"]).arg(bin).arg(dir);
        command.arg("-k").arg(dir).args(["-p", &port.to_string()]).args(options(durability));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).current_dir("/").process_group(0);
        // A test runner waits for whoever still holds a test's standard error.
        command.stderr(Stdio::null());
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"PG")) {
            command.env_remove(name);
        }
        command.env("LC_ALL", "C");
        if let Some(account) = account {
            command.uid(account.uid).gid(account.gid);
        }
        let supervisor = command.spawn().map_err(Error::io("run sh for", dir))?;
        Ok((port, supervisor))
    }

    fn wait_until_ready(&mut self) -> Result<(), Error> {
        let doing = |source| Error::Io { doing: "read from the postgres supervisor".to_owned(), source };
        let Some(stdout) = self.supervisor.stdout.take() else { return Ok(()) };
        let mut printed = BufReader::new(stdout);
        let mut text = String::new();
        printed.read_line(&mut text).map_err(doing)?;
        if text.trim_end() == "ready" {
            return Ok(());
        }
        printed.read_to_string(&mut text).map_err(doing)?;
        Err(Error::Start(text))
    }

    /// The URL of a database in this cluster.
    pub fn url(&self, database: &str) -> String {
        format!("postgres:///{database}?host={}&port={}&user=compass", self.dir.display(), self.port)
    }

    /// The directory that holds the cluster and its socket.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Stops the server, cutting its connections, and removes its files.
    ///
    /// # Errors
    /// The directory could not be removed.
    pub fn stop(mut self) -> Result<(), Error> {
        self.end()
    }

    fn end(&mut self) -> Result<(), Error> {
        drop(self.supervisor.stdin.take());
        self.supervisor.wait().map_err(Error::io("wait for the supervisor of", &self.dir))?;
        if self.dir.exists() { Err(Error::Stop(self.dir.clone())) } else { Ok(()) }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            eprintln!("{error}");
        }
    }
}

/// The binaries' directory, or its place in a copy that the server's user can reach.
fn reachable(binaries: &Binaries, account: Option<Account>, dir: &Path) -> Result<PathBuf, Error> {
    let found = binaries.dir();
    let Some(account) = account.filter(|account| !account.reaches(&found.join("postgres"))) else {
        return Ok(found.to_path_buf());
    };
    let (tree, copy) = (binaries.tree(), dir.join("install"));
    directory::copy_for(account, tree, &copy)?;
    Ok(copy.join(found.strip_prefix(tree).unwrap_or(found)))
}

/// The number only names the socket, but tools print it: one that no other server uses avoids confusion.
fn free_port() -> Result<u16, Error> {
    let doing = |source| Error::Io { doing: "find a free port".to_owned(), source };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(doing)?;
    Ok(listener.local_addr().map_err(doing)?.port())
}

fn options(durability: Durability) -> Vec<&'static str> {
    // Shared memory in files of the data directory goes with it, also after a crash.
    let mut settings = vec!["listen_addresses=", "max_connections=300", "dynamic_shared_memory_type=mmap"];
    if durability == Durability::Fast {
        settings.extend(["fsync=off", "synchronous_commit=off", "full_page_writes=off"]);
    }
    settings.into_iter().flat_map(|setting| ["-c", setting]).collect()
}
