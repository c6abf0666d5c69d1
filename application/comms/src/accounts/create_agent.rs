//! Creates an agent with its home channel and its delivery cursor there.

use std::sync::Arc;

use compass_domain::{
    Account, AccountId, AccountKind, Channel, ChannelId, Classified, ErrorKind, Event, Handle,
    account::{HandleError, check_display_name},
    channel::{ChannelKind, ChannelName, ChannelNameError, Member, MembershipMode, PostPolicy},
    limits::LimitError,
};
use compass_ports::StorageError;

use super::placement::{self, Placement};
use crate::{Caller, Comms, family::Family, ports::UnitOfWork};

/// A new agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CreateAgent {
    /// Unique over all kinds of accounts; also the name of the home channel.
    pub handle: String,
    /// May be empty.
    pub display_name: String,
    /// The agent above it, of the same owner; a root has none.
    pub parent: Option<AccountId>,
}

/// Why an agent is not created.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The handle breaks a rule.
    #[error(transparent)]
    Handle(#[from] HandleError),
    /// The display name is too long.
    #[error(transparent)]
    DisplayName(#[from] LimitError),
    /// A handle cannot name a channel.
    #[error(transparent)]
    HomeName(#[from] ChannelNameError),
    /// The caller resolves to nobody who can own an agent.
    #[error("owner {0} is not a user account")]
    UnknownOwner(AccountId),
    /// The parent is no agent.
    #[error("parent agent not found")]
    ParentNotFound,
    /// The parent belongs to somebody else.
    #[error("the parent agent belongs to another owner")]
    ForeignParent,
    /// Another account has the handle.
    #[error("handle {0:?} is taken")]
    HandleTaken(String),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Handle(_) | Self::DisplayName(_) | Self::HomeName(_) | Self::UnknownOwner(_) => {
                ErrorKind::InvalidArgument
            }
            Self::ParentNotFound => ErrorKind::NotFound,
            Self::ForeignParent => ErrorKind::PermissionDenied,
            Self::HandleTaken(_) => ErrorKind::Conflict,
            Self::Storage(error) => error.kind(),
        }
    }
}

impl From<placement::Error> for Error {
    fn from(error: placement::Error) -> Self {
        match error {
            placement::Error::Name(error) => Self::HomeName(error),
            placement::Error::Storage(error) => Self::Storage(error),
        }
    }
}

/// Creates an agent owned by the caller or, if an agent calls, by that agent's owner.
///
/// The owner and the agent are members of the home channel, the agent subscribed. Below a parent it takes part in the
/// tree channels above it, and in the channel of its parent and its parent's reports.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it; nothing is stored then.
pub async fn create_agent(comms: &Comms, caller: &Caller, create: CreateAgent) -> Result<Account, Error> {
    let handle = Handle::parse_new(&create.handle)?;
    check_display_name(&create.display_name)?;
    let owner = caller.actor.owner();
    let home = home_channel(comms.ids.channel(), ChannelName::parse(handle.as_str())?);
    let mut unit = comms.storage.begin(&caller.tenant).await?;
    check_owner(&mut *unit, owner).await?;
    let id = comms.ids.account();
    let placement = match create.parent {
        None => None,
        Some(parent) => {
            check_parent(&mut *unit, owner, parent).await?;
            unit.accounts().lock_tree(owner).await?;
            let family = Family::read(&mut *unit, owner).await?;
            Some(Placement::begin(&mut *unit, &family, (id, owner), (None, Some(parent))).await?)
        }
    };
    let account = Account {
        id,
        handle,
        display_name: create.display_name,
        kind: AccountKind::Agent { owner, home_channel: home.id, parent: create.parent },
    };
    let home = with_members(home, owner, account.id);
    store(&mut *unit, &account, &home).await?;
    let mut told = vec![
        Event::AccountChanged(Arc::new(account.clone())),
        Event::ChannelChanged { channel: Arc::new(home), removed: Vec::new() },
    ];
    if let Some(placement) = placement {
        told.extend(placement.finish(comms, &mut *unit).await?);
    }
    comms.finish(&caller.tenant, unit, told).await?;
    Ok(account)
}

async fn check_owner(unit: &mut dyn UnitOfWork, owner: AccountId) -> Result<(), Error> {
    match unit.accounts().find(owner).await?.map(|account| account.kind) {
        Some(AccountKind::User { .. }) => Ok(()),
        _ => Err(Error::UnknownOwner(owner)),
    }
}

async fn check_parent(unit: &mut dyn UnitOfWork, owner: AccountId, parent: AccountId) -> Result<(), Error> {
    match unit.accounts().find(parent).await?.map(|account| account.kind) {
        Some(AccountKind::Agent { owner: parents_owner, .. }) if parents_owner == owner => Ok(()),
        Some(AccountKind::Agent { .. }) => Err(Error::ForeignParent),
        _ => Err(Error::ParentNotFound),
    }
}

fn home_channel(id: ChannelId, name: ChannelName) -> Channel {
    Channel {
        id,
        name,
        group: None,
        kind: ChannelKind::Channel,
        mode: MembershipMode::Flat,
        policy: PostPolicy::Open,
        mandatory: false,
        members: Vec::new(),
        tree_subscribers: Vec::new(),
        pins: Vec::new(),
    }
}

fn with_members(home: Channel, owner: AccountId, agent: AccountId) -> Channel {
    let owner = Member { account: owner, subscribed: false };
    let agent = Member { account: agent, subscribed: true };
    Channel { members: vec![owner, agent], ..home }
}

async fn store(unit: &mut dyn UnitOfWork, account: &Account, home: &Channel) -> Result<(), Error> {
    unit.accounts().insert(account).await.map_err(|error| match error {
        StorageError::Conflict(_) => Error::HandleTaken(account.handle.as_str().to_owned()),
        other => other.into(),
    })?;
    unit.channels().insert(home).await?;
    unit.cursors().seed(account.id, home.id).await?;
    Ok(())
}
