//! Lists what is pinned in a channel.

use std::sync::Arc;

use compass_domain::{ChannelId, Classified, ErrorKind, Message};
use compass_ports::StorageError;

use crate::{Caller, Comms};

/// Why the list is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller is no person.
    #[error("only a person lists what is pinned; an agent is given it when it starts")]
    NotAPerson,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAPerson => ErrorKind::PermissionDenied,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Lists the messages of the channel's board in its order; none if the channel is absent or not the caller's to read.
///
/// # Errors
///
/// [`Error`] if the caller is no person, or storage fails.
pub async fn list_pinned(
    comms: &Comms,
    caller: &Caller,
    channel: ChannelId,
) -> Result<Vec<Arc<Message>>, Error> {
    let person = caller.actor.human().ok_or(Error::NotAPerson)?;
    let mut unit = comms.storage.read(&caller.tenant).await?;
    if unit.participating(person.id(), &[channel]).await?.is_empty() {
        return Ok(Vec::new());
    }
    Ok(unit.list_pinned(channel).await?)
}
