//! What can go wrong while a temporary server is found, started or stopped.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Why there is no temporary server, or why it did not end cleanly.
#[derive(Debug)]
pub enum Error {
    /// `COMPASS_PG_BIN` names a directory that lacks a server of a supported version.
    NoServerIn(PathBuf),
    /// Run as root, but `/etc/passwd` has no `nobody` to run the server as.
    NoUnprivilegedUser,
    /// No directory for temporary files is short, plain and open enough for the server's socket.
    NoDirectory(PathBuf),
    /// A file operation failed.
    Io {
        /// What was being done.
        doing: String,
        /// What the system said.
        source: io::Error,
    },
    /// `initdb` or the server gave up; holds what they printed.
    Start(String),
    /// The server's directory is still there after the stop.
    Stop(PathBuf),
}

impl Error {
    /// Attaches the action and the path to an I/O error.
    pub(crate) fn io(doing: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let doing = format!("{doing} {}", path.display());
        move |source| Self::Io { doing, source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoServerIn(dir) => write!(
                f,
                "COMPASS_PG_BIN is {}, which holds no initdb and postgres of version {} or newer",
                dir.display(),
                crate::OLDEST_MAJOR
            ),
            Self::NoUnprivilegedUser => {
                f.write_str("postgres refuses to run as root and /etc/passwd has no user nobody")
            }
            Self::NoDirectory(tried) => write!(
                f,
                "no temporary directory fits a postgres socket (tried {} and /tmp); set TMPDIR to a short, plain path",
                tried.display()
            ),
            Self::Io { doing, source } => write!(f, "could not {doing}: {source}"),
            Self::Start(log) => write!(f, "postgres did not start: {}", log.trim_end()),
            Self::Stop(dir) => write!(f, "postgres left {} behind", dir.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
