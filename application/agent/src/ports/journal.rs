//! What must survive the agent's process: which messages were handed over.

/// How far a message got in any life of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Handing over was begun, and nothing says that it ended.
    Begun,
    /// It was taken; it is never handed over again.
    Taken,
}

/// The journal cannot be written or read; nothing may be acknowledged then.
#[derive(Debug, thiserror::Error)]
#[error("journal: {0}")]
pub struct JournalError(pub String);

/// Marks by message id, appended and synced before a method returns.
pub trait Journal: Send {
    /// The mark of a message, whichever process of the agent left it.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if the marks cannot be read.
    fn mark(&mut self, message_id: &str) -> Result<Option<Mark>, JournalError>;

    /// Says that handing over begins.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if the mark is not on disk.
    fn begin(&mut self, message_id: &str) -> Result<(), JournalError>;

    /// Says that the message was taken.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if the mark is not on disk.
    fn take(&mut self, message_id: &str) -> Result<(), JournalError>;
}
