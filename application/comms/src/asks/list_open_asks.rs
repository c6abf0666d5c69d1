//! Lists messages that hold an open ask, over every channel the caller takes part in.

use std::sync::Arc;

use compass_domain::{ChannelId, Classified, ErrorKind, Message, MessageId, limits::page_limit};
use compass_ports::StorageError;

use crate::{
    Caller, Comms,
    ports::{OpenAsksPage, ReadUnit},
};

/// Which open asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ListOpenAsks {
    /// Of one channel only.
    pub channel: Option<ChannelId>,
    /// At the most; 0 is the default.
    pub limit: u32,
    /// Strictly older than this message.
    pub before: Option<MessageId>,
}

/// Why the list is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The cursor message does not exist, or the caller may not see it.
    #[error("before_message_id {0} is not a message you can see")]
    UnknownCursor(MessageId),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::UnknownCursor(_) => ErrorKind::InvalidArgument,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Lists messages with an open ask, each once, newest first.
///
/// A channel that the caller does not take part in has none. The cursor message need not hold an open ask.
///
/// # Errors
///
/// [`Error`] if the cursor is not a message the caller can see, or storage fails.
pub async fn list_open_asks(
    comms: &Comms,
    caller: &Caller,
    list: ListOpenAsks,
) -> Result<Vec<Arc<Message>>, Error> {
    let mut unit = comms.storage.read(&caller.tenant).await?;
    if let Some(before) = list.before {
        check_cursor(&mut *unit, caller, before).await?;
    }
    let page = OpenAsksPage {
        viewer: caller.actor.id,
        channel: list.channel,
        before: list.before,
        limit: page_limit(list.limit),
    };
    Ok(unit.list_open_asks(&page).await?)
}

async fn check_cursor(unit: &mut dyn ReadUnit, caller: &Caller, before: MessageId) -> Result<(), Error> {
    let unknown = || Error::UnknownCursor(before);
    let channel = unit.find_message(before).await?.ok_or_else(unknown)?.channel();
    let seen = unit.participating(caller.actor.id, &[channel]).await?;
    if seen.is_empty() { Err(unknown()) } else { Ok(()) }
}
