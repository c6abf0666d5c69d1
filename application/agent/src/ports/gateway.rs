//! What an agent may ask of the server; who it is, the connection knows.

use async_trait::async_trait;
use compass_domain::message::DraftBlock;

use crate::seen::SeenMessage;

/// How a call names its channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Channel {
    /// The agent's home channel.
    Home,
    /// By name.
    Name(String),
    /// By id.
    Id(String),
}

/// One call of the relay's union. No call answers an ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// Posts a message.
    Post {
        /// Where.
        channel: Channel,
        /// The topic's name.
        topic: String,
        /// An unknown topic is refused instead of created.
        existing_topic_only: bool,
        /// What it says.
        blocks: Vec<DraftBlock>,
        /// A repeat under the same key returns the first message.
        key: String,
    },
    /// Reads a page, newest first.
    List {
        /// Where.
        channel: Channel,
        /// Of one topic only, by name.
        topic: Option<String>,
        /// 0 is the server's default.
        limit: u32,
        /// Strictly older than this message.
        before_message_id: String,
    },
    /// Says what the agent is doing.
    SetStatus {
        /// Cut by the server.
        activity: String,
    },
    /// Withdraws the agent's own open ask.
    CancelAsk {
        /// Which.
        ask_id: String,
    },
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallResult {
    /// The stored message; none if the server sent none.
    Post(Option<SeenMessage>),
    /// A page, newest first.
    List(Vec<SeenMessage>),
    /// Recorded.
    SetStatus,
    /// Withdrawn, now or before.
    CancelAsk,
    /// Another arm, or none: its name for the error text.
    Unexpected(String),
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The server refused it.
    #[error("{code}: {message}")]
    Refused {
        /// The lower-case status token.
        code: String,
        /// The server's text.
        message: String,
    },
    /// The server could not be reached; nothing was done.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// The connection broke or time ran out: it may or may not have been done.
    #[error("the outcome is unknown: {0}")]
    OutcomeUnknown(String),
}

/// Runs one call as the agent this connection belongs to.
#[async_trait]
pub trait Gateway: Send + Sync {
    /// Runs a call; `call_id` only correlates.
    ///
    /// # Errors
    ///
    /// [`CallError`] that tells a refusal from a broken connection.
    async fn call(&self, call_id: &str, call: Call) -> Result<CallResult, CallError>;
}
