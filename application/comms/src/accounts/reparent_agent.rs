//! Puts an agent below another agent of its owner, or below nobody.

use std::sync::Arc;

use compass_domain::{
    Account, AccountId, AccountKind, Classified, ErrorKind, Event, channel::ChannelNameError,
    participation::MoveError,
};
use compass_ports::StorageError;

use super::placement::{self, Placement};
use crate::{Caller, Comms, family::Family};

/// Where an agent is to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReparentAgent {
    /// The agent; none for a text that can be no id.
    pub agent: Option<AccountId>,
    /// The agent above it; none makes it a root.
    pub new_parent: Option<AccountId>,
}

/// Why an agent does not move.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such agent, or it belongs to somebody else.
    #[error("only the owner of an agent, or another agent of that owner, may move it")]
    Foreign,
    /// The parent is no agent.
    #[error("parent agent not found")]
    ParentNotFound,
    /// The parent belongs to somebody else, or the agent would stand below itself.
    #[error(transparent)]
    Move(#[from] MoveError),
    /// A manager's handle makes no channel name.
    #[error(transparent)]
    RoomName(#[from] ChannelNameError),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Foreign | Self::Move(MoveError::ForeignParent) => ErrorKind::PermissionDenied,
            Self::ParentNotFound => ErrorKind::NotFound,
            Self::Move(MoveError::Cycle) => ErrorKind::FailedPrecondition,
            Self::RoomName(_) => ErrorKind::InvalidArgument,
            Self::Storage(error) => error.kind(),
        }
    }
}

impl From<placement::Error> for Error {
    fn from(error: placement::Error) -> Self {
        match error {
            placement::Error::Name(error) => Self::RoomName(error),
            placement::Error::Storage(error) => Self::Storage(error),
        }
    }
}

/// Moves an agent in the tree of its owner; where it stands already nothing changes.
///
/// Its subtree moves along: who takes part in tree channels changes at once, and the agent leaves the channel of its
/// old manager and its reports for that of the new one.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it; nothing is stored then.
pub async fn reparent_agent(
    comms: &Comms,
    caller: &Caller,
    reparent: ReparentAgent,
) -> Result<Account, Error> {
    let agent = reparent.agent.ok_or(Error::Foreign)?;
    let to = reparent.new_parent;
    let mut unit = comms.storage.begin(&caller.tenant).await?;
    let found = unit.accounts().find(agent).await?.map(|account| account.kind);
    let Some(AccountKind::Agent { owner, .. }) = found else { return Err(Error::Foreign) };
    if caller.actor.owner() != owner {
        return Err(Error::Foreign);
    }
    unit.accounts().lock_tree(owner).await?;
    let family = Family::read(&mut *unit, owner).await?;
    if let Some(parent) = to
        && family.find(parent).is_none()
    {
        let other = unit.accounts().find(parent).await?;
        let is_agent = other.is_some_and(|account| account.is_agent());
        return Err(if is_agent { MoveError::ForeignParent.into() } else { Error::ParentNotFound });
    }
    family.tree.check_move(agent, to)?;
    let account = family.find(agent).cloned().ok_or(Error::Foreign)?;
    let from = family.tree.parent(agent);
    if from == to {
        return Ok(account);
    }
    let placement = Placement::begin(&mut *unit, &family, (agent, owner), (from, to)).await?;
    unit.accounts().set_parent(agent, to).await?;
    let moved = below(account, to);
    let mut events = vec![Event::AccountChanged(Arc::new(moved.clone()))];
    events.extend(placement.finish(comms, &mut *unit).await?);
    comms.finish(&caller.tenant, unit, events).await?;
    Ok(moved)
}

fn below(account: Account, manager: Option<AccountId>) -> Account {
    let kind = match account.kind {
        AccountKind::Agent { owner, home_channel, .. } => {
            AccountKind::Agent { owner, home_channel, parent: manager }
        }
        other @ (AccountKind::User { .. } | AccountKind::System) => other,
    };
    Account { kind, ..account }
}
