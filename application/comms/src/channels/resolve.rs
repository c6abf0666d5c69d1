//! Finds the channel a client means by id, by name, or as its home.

use compass_domain::{
    AccountKind, ChannelId, Classified, Corrupt, ErrorKind,
    channel::{ChannelName, ChannelNameError},
};
use compass_ports::StorageError;

use crate::{Caller, Comms};

/// How a client names a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChannelRef {
    /// By id; whether the caller may see it is decided by what is done with it.
    Id(ChannelId),
    /// By name, among the channels the caller takes part in.
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
    #[error("channel_name {name:?} is ambiguous: {count} channels have it, give channel_id")]
    Ambiguous {
        /// The name.
        name: String,
        /// How many.
        count: usize,
    },
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
            Self::Name(_) | Self::Ambiguous { .. } => ErrorKind::InvalidArgument,
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
    let name = ChannelName::parse(name)?;
    let mut unit = comms.storage.read(&caller.tenant).await?;
    let found = unit.find_channels_named(caller.actor, name.key()).await?;
    match found.as_slice() {
        [] => Err(Error::NotFound),
        [one] => Ok(*one),
        several => Err(Error::Ambiguous { name: name.as_str().to_owned(), count: several.len() }),
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
