//! Lists how far a person has read.

use std::slice;

use compass_domain::{ChannelId, Classified, ErrorKind, ReadPosition};
use compass_ports::StorageError;

use crate::{Caller, Comms};

/// Where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadPositions {
    /// In one channel only, otherwise in every channel the caller takes part in.
    pub channel: Option<ChannelId>,
}

/// Why the list is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Agents have cursors instead.
    #[error("only a person has read positions")]
    NotAPerson,
    /// The channel does not exist, or the caller does not take part in it.
    #[error("channel not found")]
    ChannelNotFound,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAPerson => ErrorKind::PermissionDenied,
            Self::ChannelNotFound => ErrorKind::NotFound,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Lists the caller's place in every topic, archived ones and those it never read included.
///
/// # Errors
///
/// [`Error`] if the caller is no person, does not take part in the channel, or storage fails.
pub async fn read_positions(
    comms: &Comms,
    caller: &Caller,
    list: ReadPositions,
) -> Result<Vec<ReadPosition>, Error> {
    let person = caller.actor.human().ok_or(Error::NotAPerson)?;
    let mut unit = comms.storage.read(&caller.tenant).await?;
    if let Some(channel) = list.channel
        && unit.participating(person.id(), &[channel]).await?.is_empty()
    {
        return Err(Error::ChannelNotFound);
    }
    Ok(unit.list_read_positions(person.id(), list.channel.as_ref().map(slice::from_ref)).await?)
}
