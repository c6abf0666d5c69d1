//! What storage can answer instead of a result.

use compass_domain::{Classified, Corrupt, ErrorKind};

/// A failure of storage, with what is known about what was kept.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StorageError {
    /// The database cannot be reached or refused for a passing reason; nothing was kept.
    #[error("storage is unavailable: {0}")]
    Unavailable(String),
    /// A uniqueness rule or a condition on a locked row failed; nothing was kept.
    #[error("storage conflict: {0}")]
    Conflict(String),
    /// The connection broke during a commit: it may or may not have been kept.
    #[error("the outcome of a commit is unknown: {0}")]
    OutcomeUnknown(String),
    /// A row that no rule can have produced.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// A fault of ours; nothing was kept.
    #[error("storage fault: {0}")]
    Internal(String),
}

impl Classified for StorageError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unavailable(_) => ErrorKind::Unavailable,
            Self::Conflict(_) => ErrorKind::Conflict,
            Self::OutcomeUnknown(_) => ErrorKind::OutcomeUnknown,
            Self::Corrupt(_) | Self::Internal(_) => ErrorKind::Internal,
        }
    }
}
