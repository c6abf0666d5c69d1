//! How often a session of a model was made to go on at its end, in a row.

use super::JournalError;

/// Counts by session, kept beside the journal, on disk before a method returns.
pub trait Continuations: Send {
    /// The count of a session; 0 if it is not known.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if it cannot be read.
    fn count(&mut self, session_id: &str) -> Result<u32, JournalError>;

    /// Sets the count of a session.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if it is not on disk.
    fn set(&mut self, session_id: &str, count: u32) -> Result<(), JournalError>;
}
