//! Why a run ended early.

use std::fmt;
use std::io;

/// Everything that makes the command fail.
#[derive(Debug)]
pub(crate) enum Error {
    /// A step's command failed.
    Step { name: String, status: String },
    /// A step left processes running; they were ended.
    LeftRunning { name: String, processes: Vec<String> },
    /// A signal asked the command to stop; holds its number.
    Interrupted(i32),
    /// A tool could not be had; holds the reason and what to install.
    Tool(String),
    /// A program could not be started or a file not be handled.
    Io { doing: String, source: io::Error },
    /// Committed files are not what they are made from.
    Old { what: String, differences: Vec<String>, refresh: &'static str },
    /// The temporary server failed.
    Postgres(compass_pgtemp::Error),
}

impl Error {
    /// Attaches the action to an I/O error.
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }

    /// The shell's convention for signals, 1 for everything else.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Interrupted(signal) => u8::try_from(128 + signal).unwrap_or(1),
            _ => 1,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step { name, status } => write!(f, "{name} failed: {status}"),
            Self::LeftRunning { name, processes } => {
                write!(f, "{name} left processes running, now ended: {}", processes.join("; "))
            }
            Self::Interrupted(signal) => write!(f, "stopped by signal {signal}"),
            Self::Tool(message) => f.write_str(message),
            Self::Io { doing, source } => write!(f, "could not {doing}: {source}"),
            Self::Old { what, differences, refresh } => {
                write!(f, "{what}: {}; {refresh}", differences.join(", "))
            }
            Self::Postgres(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<compass_pgtemp::Error> for Error {
    fn from(error: compass_pgtemp::Error) -> Self {
        Self::Postgres(error)
    }
}
