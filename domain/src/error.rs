//! What a caller can do about a failure.

/// The kind of a failure; each becomes one status code at one door.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Absent, or not visible to the caller: the same answer for both.
    NotFound,
    /// The request itself is wrong; sending it again cannot help.
    InvalidArgument,
    /// The caller may see the thing and may not do this to it.
    PermissionDenied,
    /// The state of the thing does not allow it.
    FailedPrecondition,
    /// A duplicate, or the thing is already in its final state.
    Conflict,
    /// No credential, or one that does not work here.
    Unauthenticated,
    /// A bound was reached; later it may work.
    ResourceExhausted,
    /// Nothing was kept; trying again may help.
    Unavailable,
    /// It may or may not have been kept; try again with the same key.
    OutcomeUnknown,
    /// A fault of ours or a corrupt row.
    Internal,
}

/// A stored row that no rule of the domain can have produced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("corrupt row: {0}")]
pub struct Corrupt(pub String);

impl Corrupt {
    /// Says what is wrong with the row.
    pub fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

/// An error that says what a caller can do about it; doors turn the kind into a status, in one place.
pub trait Classified: std::error::Error {
    /// What a caller can do about it.
    fn kind(&self) -> ErrorKind;
}
