//! Sets who may post in a channel, and whether every agent that takes part is delivered to.

use std::sync::Arc;

use compass_domain::{
    AccountId, Channel, ChannelId, Classified, ErrorKind, Event,
    channel::{PolicyError, PostPolicy},
};
use compass_ports::StorageError;

use super::Before;
use crate::{Caller, Comms};

/// A channel's policy, whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetPolicy {
    /// Which channel.
    pub channel: ChannelId,
    /// Whether only its owner posts.
    pub owner_only: bool,
    /// The owner; needed if only the owner posts, and not allowed otherwise.
    pub owner: Option<AccountId>,
    /// Whether every agent that takes part is delivered to, subscribed or not.
    pub mandatory: bool,
}

/// Why a policy is not set.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The channel does not exist, the caller does not take part in it, or it belongs to somebody else.
    #[error("channel not found")]
    ChannelNotFound,
    /// The policy does not hold together.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::ChannelNotFound => ErrorKind::NotFound,
            Self::Policy(_) => ErrorKind::InvalidArgument,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Sets the policy of a channel and returns the channel as it is afterwards; the same policy changes nothing.
///
/// Any participant may set it while nobody owns the channel, then its owner alone. In a channel that becomes
/// mandatory every agent that takes part is owed what is posted from now on.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it; nothing is stored then.
pub async fn set_policy(comms: &Comms, caller: &Caller, set: SetPolicy) -> Result<Channel, Error> {
    let mut unit = comms.storage.begin(&caller.tenant).await?;
    let before = unit.channels().lock(set.channel).await?.ok_or(Error::ChannelNotFound)?;
    let takes_part = unit.channels().participates(caller.actor.id, set.channel).await?;
    let is_others = before.policy.owner().is_some_and(|owner| owner != caller.actor.id);
    if !takes_part || is_others {
        return Err(Error::ChannelNotFound);
    }
    let policy = PostPolicy::coherent(set.owner_only, set.owner, |owner| before.has_standing(owner))?;
    if (policy, set.mandatory) == (before.policy, before.mandatory) {
        return Ok(before);
    }
    let swept = Before::read(&mut *unit, vec![set.channel]).await?;
    unit.settings().set_policy(set.channel, policy, set.mandatory).await?;
    swept.settle(&mut *unit).await?;
    let after = Channel { policy, mandatory: set.mandatory, ..before };
    let told = Event::ChannelChanged { channel: Arc::new(after.clone()), removed: Vec::new() };
    comms.finish(&caller.tenant, unit, vec![told]).await?;
    Ok(after)
}
