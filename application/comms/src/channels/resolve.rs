//! Finds the channel a client means by id, by name, or as its home.

use compass_domain::{
    AccountKind, ChannelId, Classified, Corrupt, ErrorKind,
    channel::{ChannelName, ChannelNameError},
};
use compass_ports::StorageError;

use super::grouped::{Ambiguous, Finder};
use crate::{Caller, Comms};

/// How a client names a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChannelRef {
    /// By id; whether the caller may see it is decided by what is done with it.
    Id(ChannelId),
    /// By name, among the channels the caller takes part in; where several have it, behind the names of the groups
    /// that tell them apart, with slashes between.
    Name(String),
    /// The calling agent's home channel.
    Home,
}

/// Why no channel is meant.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name breaks a rule.
    #[error(transparent)]
    Name(#[from] ChannelNameError),
    /// No channel of that name, or none the caller takes part in.
    #[error("channel not found")]
    NotFound,
    /// Several channels have the name.
    #[error(transparent)]
    Ambiguous(#[from] Ambiguous),
    /// Only agents have a home channel.
    #[error("channel is missing: only an agent has a home channel to default to")]
    NoHome,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Name(_) | Self::Ambiguous(_) => ErrorKind::InvalidArgument,
            Self::NotFound => ErrorKind::NotFound,
            Self::NoHome => ErrorKind::FailedPrecondition,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// The id of the channel that `channel` names for the caller.
///
/// # Errors
///
/// [`Error`] if it names none or several.
pub async fn resolve(comms: &Comms, caller: &Caller, channel: &ChannelRef) -> Result<ChannelId, Error> {
    match channel {
        ChannelRef::Id(id) => Ok(*id),
        ChannelRef::Name(name) => named(comms, caller, name).await,
        ChannelRef::Home => home(comms, caller).await,
    }
}

async fn named(comms: &Comms, caller: &Caller, name: &str) -> Result<ChannelId, Error> {
    let mut unit = comms.storage.read(&caller.tenant).await?;
    let mut finder = Finder::new(&mut *unit, caller.actor);
    let found = finder.find(name).await?;
    match found.as_slice() {
        // A name that no channel can have is told as such.
        [] => Err(ChannelName::parse(name).err().map_or(Error::NotFound, Error::Name)),
        [one] => Ok(one.id),
        several => Err(finder.ambiguous(name, several).await?.into()),
    }
}

async fn home(comms: &Comms, caller: &Caller) -> Result<ChannelId, Error> {
    if !caller.actor.is_agent() {
        return Err(Error::NoHome);
    }
    if let Some(home) = comms.homes.recall(caller) {
        return Ok(home);
    }
    let mut unit = comms.storage.read(&caller.tenant).await?;
    let account = unit.find_account(caller.actor.id).await?;
    let Some(AccountKind::Agent { home_channel, .. }) = account.map(|account| account.kind) else {
        let missing = Corrupt::new(format!("agent {} has no row", caller.actor.id));
        return Err(StorageError::from(missing).into());
    };
    comms.homes.remember(caller, home_channel);
    Ok(home_channel)
}
