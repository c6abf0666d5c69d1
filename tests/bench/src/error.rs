//! Why a run gave no figures.

use compass_client::ClientError;

/// Why a run gave no figures.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// An option cannot be used.
    #[error("{0}")]
    Option(String),
    /// A file or a process failed.
    #[error("could not {doing}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// A floor's database refused.
    #[error("the database could not {doing}: {source}")]
    Sql {
        /// What was being done.
        doing: &'static str,
        /// What it said.
        source: sqlx::Error,
    },
    /// The server did not come up.
    #[error("the server did not start: {0}")]
    Server(String),
    /// A call of the set-up failed.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A measured call failed.
    #[error("a call failed: {0}")]
    Call(#[from] tonic::Status),
    /// The transport of a measured call failed.
    #[error("a connection failed: {0}")]
    Transport(#[from] tonic::transport::Error),
    /// The server did something that the contract does not allow.
    #[error("unexpected: {0}")]
    Broken(&'static str),
    /// Something did not end in bounded time.
    #[error("{0} did not end in time")]
    Stuck(String),
}

impl BenchError {
    pub(crate) fn io(doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }

    pub(crate) fn sql(doing: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |source| Self::Sql { doing, source }
    }
}
