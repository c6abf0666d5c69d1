//! The way from the hub to a live session.

use std::sync::Arc;

use compass_domain::{SessionId, delivery::Lane};

use super::Labelled;

/// One control operation for a session.
#[derive(Debug, Clone)]
pub struct Dispatch {
    /// With the next turn, or into the current one.
    pub lane: Lane,
    /// The message and its labels, shared by all its recipients.
    pub message: Arc<Labelled>,
}

/// Why a dispatch was not put on the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LaneError {
    /// No stream leads to this session.
    #[error("no stream leads to the session")]
    Detached,
    /// The stream's queue is full; a resend or a sweep brings the message.
    #[error("the stream's queue is full")]
    Full,
}

/// Puts operations on the stream that leads to a session. Success means "on the stream", not "received".
pub trait Lanes: Send + Sync {
    /// Sends without waiting.
    ///
    /// # Errors
    ///
    /// [`LaneError`] if it was not put on a stream.
    fn dispatch(&self, session: SessionId, dispatch: Dispatch) -> Result<(), LaneError>;

    /// True while a stream leads to the session.
    fn is_attached(&self, session: SessionId) -> bool;
}
