//! What an agent without a session is owed: read as often as it likes, taken away by its receipts alone.

use async_trait::async_trait;

use super::CallError;
use crate::seen::Delivery;

/// A page of what an agent is owed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Owed {
    /// Oldest first.
    pub deliveries: Vec<Delivery>,
    /// How many more are owed.
    pub waiting: u32,
}

/// The messages that wait for one agent.
#[async_trait]
pub trait Mailbox: Send + Sync {
    /// Reads what is owed, or only the answer to one ask; takes nothing away. A limit of 0 is the server's default.
    ///
    /// # Errors
    ///
    /// [`CallError`] that tells a refusal from a broken connection.
    async fn fetch(&self, limit: u32, answers_ask_id: Option<&str>) -> Result<Owed, CallError>;

    /// Says that messages were taken; they are not delivered again.
    ///
    /// # Errors
    ///
    /// [`CallError`]; a repeat is harmless.
    async fn acknowledge(&self, message_ids: &[String]) -> Result<(), CallError>;
}
