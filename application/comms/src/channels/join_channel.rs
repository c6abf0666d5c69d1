//! Lets a person into a channel that it sees through a shared group.

use std::sync::Arc;

use compass_domain::{Channel, ChannelId, Classified, ErrorKind, Event, channel::Member};
use compass_ports::StorageError;

use crate::{Caller, Comms};

/// Why nobody is let in.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller is no person.
    #[error("only a person may join a channel; an agent is added by one who takes part")]
    NotAPerson,
    /// The channel does not exist, or the caller does not see it.
    #[error("channel not found")]
    NotFound,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAPerson => ErrorKind::PermissionDenied,
            Self::NotFound => ErrorKind::NotFound,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Makes the calling person a subscribed member; one that takes part already changes nothing.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it; nothing is stored then.
pub async fn join_channel(comms: &Comms, caller: &Caller, id: ChannelId) -> Result<Channel, Error> {
    let person = caller.actor.human().ok_or(Error::NotAPerson)?;
    let mut unit = comms.storage.begin(&caller.tenant).await?;
    let before = unit.channels().lock(id).await?.ok_or(Error::NotFound)?;
    if unit.channels().participates(person.id(), id).await? {
        return Ok(before);
    }
    if !unit.participants().sees(caller.actor, id).await? {
        return Err(Error::NotFound);
    }
    let member = Member { account: person.id(), subscribed: true };
    unit.channels().put_member(id, member).await?;
    let mut after = before;
    after.members.push(member);
    let told = Event::ChannelChanged { channel: Arc::new(after.clone()), removed: Vec::new() };
    comms.finish(&caller.tenant, unit, vec![told]).await?;
    Ok(after)
}
