//! What must survive the agent's process: which messages were handed over, and who waits for an answer.

use std::fmt;

use crate::tools::PostAskParams;

/// How far a message got in any life of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Handing over was begun, and nothing says that it ended.
    Begun,
    /// It was taken; it is never handed over again.
    Taken,
}

/// An ask of the harness's own, whose answer somebody waits for.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Wait {
    /// The key it is posted under.
    pub key: String,
    /// The process that waits.
    pub owner: String,
    /// What is posted; the same under the same key finds the ask again.
    pub ask: PostAskParams,
    /// The ask's id once it is known.
    pub ask_id: Option<String>,
    /// True if the ask stays open when whoever waited is gone: its answer then comes as any message does.
    pub keep: bool,
}

/// The journal cannot be written or read; nothing may be acknowledged then.
#[derive(Debug, thiserror::Error)]
#[error("journal: {0}")]
pub struct JournalError(pub String);

/// Held by whoever hands messages over without a session; dropping it lets the next one.
pub struct HandOver(#[expect(dead_code, reason = "it is held, not read")] Option<Box<dyn Send>>);

impl HandOver {
    /// Held for as long as `hold` is kept.
    pub fn holding(hold: impl Send + 'static) -> Self {
        Self(Some(Box::new(hold)))
    }

    /// For a journal that only one call uses at a time.
    pub const fn free() -> Self {
        Self(None)
    }
}

impl fmt::Debug for HandOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HandOver")
    }
}

/// Marks by message id and waits by post key, on disk and synced before a method returns.
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
    /// [`JournalError`] if the marks are not on disk.
    fn begin(&mut self, message_ids: &[String]) -> Result<(), JournalError>;

    /// Says that the messages were taken.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if the marks are not on disk.
    fn take(&mut self, message_ids: &[String]) -> Result<(), JournalError>;

    /// Says that the messages, whose handing over was begun, did not get anywhere; a taken one stays taken.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if the marks are not on disk.
    fn refuse(&mut self, message_ids: &[String]) -> Result<(), JournalError>;

    /// Says that somebody waits, in place of what was said under this key before.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if the wait is not on disk.
    fn wait(&mut self, wait: &Wait) -> Result<(), JournalError>;

    /// Says that nobody waits under this key any more; a repeat changes nothing.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if that is not on disk.
    fn end_wait(&mut self, key: &str) -> Result<(), JournalError>;

    /// Everybody who waits, whichever process of the agent said so.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if the waits cannot be read.
    fn waits(&mut self) -> Result<Vec<Wait>, JournalError>;

    /// Those of the waits whose process lives. A wait that keeps its ask and whose process is gone is ended by this:
    /// nobody is left to end it, and its answer is to come as any message does.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if the waits cannot be read.
    fn live_waits(&mut self) -> Result<Vec<Wait>, JournalError> {
        self.waits()
    }

    /// Lets this caller alone hand over what is owed, among all processes of the agent; none while another one does.
    /// It is free again once the value is dropped or its process is gone.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if it cannot be told.
    fn hand_over(&mut self) -> Result<Option<HandOver>, JournalError> {
        Ok(Some(HandOver::free()))
    }
}
