//! The gateway and the link below the core, and the journal beside it.

mod gateway;
mod journal;
mod link;

pub use gateway::{Call, CallError, CallResult, Channel, Gateway};
pub use journal::{Journal, JournalError, Mark};
pub use link::{Link, LinkEvent, TurnState};
