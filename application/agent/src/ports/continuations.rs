//! For what a session of a model was made to go on at its end.

use super::JournalError;

/// How a session was made to go on, since its turn began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Continued {
    /// How often in a row.
    pub count: u32,
    /// The id of the message that was announced last; none if none was.
    pub announced: Option<String>,
}

/// Records by session, kept beside the journal, on disk before a method returns.
pub trait Continuations: Send {
    /// The record of a session; the default if it is not known.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if it cannot be read.
    fn get(&mut self, session_id: &str) -> Result<Continued, JournalError>;

    /// Sets the record of a session; the default forgets it.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if it is not on disk.
    fn set(&mut self, session_id: &str, continued: &Continued) -> Result<(), JournalError>;
}
