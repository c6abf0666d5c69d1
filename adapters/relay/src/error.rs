//! What a door refuses by itself, before any use case is asked.

use compass_domain::{Classified, ErrorKind};

/// A refusal of a door.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DoorError {
    /// No credential, or one that does not work at this door: one text for all of it.
    #[error("a valid token is needed in the authorization header")]
    Unauthenticated,
    /// The credential works and is not enough for this call.
    #[error("this call is for {0}")]
    Forbidden(&'static str),
    /// A field that must not be empty.
    #[error("{0} is empty")]
    Empty(String),
    /// Two fields that name one thing.
    #[error("{one} and {other} are both given; give one of them")]
    Both {
        /// The one.
        one: &'static str,
        /// The other.
        other: &'static str,
    },
    /// None of two fields that name one thing.
    #[error("{one} or {other} is needed")]
    Neither {
        /// The one.
        one: &'static str,
        /// The other.
        other: &'static str,
    },
    /// A number that the enum of this field does not have, or one that a client may not choose.
    #[error("{field} cannot be {value}")]
    EnumValue {
        /// Which field.
        field: &'static str,
        /// What was sent.
        value: i32,
    },
    /// A value in a field that must be empty here.
    #[error("{field} must be empty {reason}")]
    Unexpected {
        /// Which field.
        field: &'static str,
        /// Where that rule comes from.
        reason: &'static str,
    },
    /// A reference that is no id at all, in a field whose unknown values are refused.
    #[error("{field} {text:?} is unknown")]
    UnknownReference {
        /// Which field.
        field: String,
        /// What was sent.
        text: String,
    },
    /// A block of no kind, or of one this server does not know.
    #[error("blocks[{0}] has no content of a known kind: set text or ask")]
    UnsetBlock(usize),
    /// A block that only the server writes.
    #[error("ask_answer blocks are server-owned")]
    ServerOwnedBlock,
    /// A relayed call without an arm, or with one this server does not know.
    #[error("call has no known arm: set one of {0}")]
    UnsetCall(String),
    /// Absent, or not the caller's to see.
    #[error("{0} not found")]
    NotFound(&'static str),
    /// Only the node that holds a session can show it.
    #[error("the session is held by another node")]
    Elsewhere,
    /// A stream whose client does not keep up.
    #[error("the client reads too slowly and missed frames")]
    TooFarBehind,
    /// A read took longer than any read may.
    #[error("the call took longer than {0} s")]
    TooSlow(u64),
    /// A write took longer than any write may; it may still be kept.
    #[error("the call took longer than {0} s and may still succeed")]
    OutcomeUnknown(u64),
}

impl Classified for DoorError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unauthenticated => ErrorKind::Unauthenticated,
            Self::Forbidden(_) => ErrorKind::PermissionDenied,
            Self::Empty(_)
            | Self::Both { .. }
            | Self::Neither { .. }
            | Self::EnumValue { .. }
            | Self::Unexpected { .. }
            | Self::UnknownReference { .. }
            | Self::UnsetBlock(_)
            | Self::ServerOwnedBlock
            | Self::UnsetCall(_) => ErrorKind::InvalidArgument,
            Self::NotFound(_) => ErrorKind::NotFound,
            Self::TooFarBehind => ErrorKind::ResourceExhausted,
            Self::Elsewhere | Self::TooSlow(_) => ErrorKind::Unavailable,
            Self::OutcomeUnknown(_) => ErrorKind::OutcomeUnknown,
        }
    }
}
