//! The stream of control from the runner.

use async_trait::async_trait;

use crate::seen::Delivery;

/// One operation of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlOp {
    /// Ascending from 1 for each life of a session; repeated until acknowledged.
    pub seq: u64,
    /// What to do.
    pub control: Control,
}

/// What an operation wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Control {
    /// Run a turn with this input.
    Prompt(String),
    /// Take a message in, on the lane it says.
    Message(Box<Delivery>),
    /// A message operation that carries none.
    Empty,
    /// Everything from before is sent; live control may follow.
    ReplayComplete,
    /// An operation this version does not know.
    Unknown,
}

/// A stream that broke, or could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StreamBroken(pub String);

/// One open stream.
#[async_trait]
pub trait ControlStream: Send {
    /// The next operation; none if the runner closed the stream on purpose. Safe to drop while waiting.
    ///
    /// # Errors
    ///
    /// [`StreamBroken`] if it ended in any other way.
    async fn next(&mut self) -> Result<Option<ControlOp>, StreamBroken>;
}

/// Opens streams. Each starts with everything that was not acknowledged, and displaces the one before.
#[async_trait]
pub trait ControlSource: Send + Sync {
    /// Opens a stream; returns once the runner answered.
    ///
    /// # Errors
    ///
    /// [`StreamBroken`] if the runner cannot be reached or has no session for us.
    async fn open(&self) -> Result<Box<dyn ControlStream>, StreamBroken>;
}
