//! The link to the server of a process that takes deliveries.

use async_trait::async_trait;

use super::SessionEvent;
use crate::seen::Delivery;

/// What the link tells the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkEvent {
    /// A session runs; messages follow.
    Attached {
        /// The session the server minted; empty if only the runner knows it.
        session_id: String,
    },
    /// A message.
    Delivery(Box<Delivery>),
    /// A turn to run; it is taken in once the next event is waited for.
    Prompt(String),
    /// The connection is lost and is being made again.
    Detached {
        /// Why.
        reason: String,
    },
    /// The server ended the session.
    Stopped,
    /// The link is over: refused, or another process took the agent over.
    Ended {
        /// The lower-case status token.
        code: String,
        /// The server's text.
        reason: String,
    },
}

/// What an agent says about its turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnState {
    /// Between turns.
    Ready,
    /// In a turn; what it posts is held back until the turn ends.
    Working,
}

/// Receives events and sends receipts.
#[async_trait]
pub trait Link: Send {
    /// Waits for the next event; none once the link is over. Safe to drop while waiting.
    async fn next(&mut self) -> Option<LinkEvent>;

    /// Sends the receipt of a message that was taken. One that is lost is asked for again by the next delivery.
    async fn acknowledge(&mut self, message_id: String);

    /// Reports where the agent stands.
    async fn report(&mut self, state: TurnState);

    /// Shows people who watch what the model did; may be lost.
    async fn show(&mut self, event: SessionEvent);
}
