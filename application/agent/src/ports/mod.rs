//! The gateway below the core and the journal beside it.

mod gateway;
mod journal;

pub use gateway::{Call, CallError, CallResult, Channel, Gateway};
pub use journal::{Journal, JournalError, Mark};
