//! Creates a channel with its first members.

use std::sync::Arc;

use compass_domain::{
    Account, AccountId, AccountKind, Channel, Classified, ErrorKind, Event,
    channel::{ChannelKind, ChannelName, ChannelNameError, Member, PostPolicy, initial_members},
};
use compass_ports::StorageError;

pub use compass_domain::channel::MembershipMode as Mode;

use super::members::{self, UnknownMember, find_all};
use crate::{
    Caller, Comms,
    family::Derived,
    groups::resolve::{self, GroupRef, enter},
    ports::UnitOfWork,
};

/// A new channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateChannel {
    /// Free to repeat outside of groups.
    pub name: String,
    /// Its group.
    pub group: Option<GroupRef>,
    /// Members besides the caller, by id.
    pub members: Vec<AccountId>,
    /// Members besides the caller, by handle; they come after those by id.
    pub member_handles: Vec<String>,
    /// How participation comes about.
    pub mode: Mode,
}

/// Why a channel is not created.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name breaks a rule.
    #[error(transparent)]
    Name(#[from] ChannelNameError),
    /// The group cannot be told from what was given, or the caller may not create in it.
    #[error(transparent)]
    Group(#[from] resolve::Error),
    /// A member is no account.
    #[error(transparent)]
    UnknownMember(UnknownMember),
    /// The caller neither is the anchor of the tree nor owns it.
    #[error("only its anchor or the anchor's owner may create a tree channel")]
    ForeignAnchor,
    /// The name is taken in its group.
    #[error("channel name {0:?} is taken in this group")]
    NameTaken(String),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Name(_) | Self::UnknownMember(_) => ErrorKind::InvalidArgument,
            Self::Group(error) => error.kind(),
            Self::ForeignAnchor => ErrorKind::PermissionDenied,
            Self::NameTaken(_) => ErrorKind::Conflict,
            Self::Storage(error) => error.kind(),
        }
    }
}

impl From<members::LookupError> for Error {
    fn from(error: members::LookupError) -> Self {
        match error {
            members::LookupError::Unknown(member) => Self::UnknownMember(member),
            members::LookupError::Storage(error) => Self::Storage(error),
        }
    }
}

/// Creates an open channel: the caller, the asked members in order, and the owners of agents among them.
///
/// Nobody is subscribed. In a tree channel agents at or below the anchor take part without a member row.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it; nothing is stored then.
pub async fn create_channel(comms: &Comms, caller: &Caller, create: CreateChannel) -> Result<Channel, Error> {
    let name = ChannelName::parse(&create.name)?;
    let group = match &create.group {
        Some(group) => Some(resolve::resolve(comms, caller, group).await?),
        None => None,
    };
    let mut unit = comms.storage.begin(&caller.tenant).await?;
    if let Some(group) = group {
        enter(&mut *unit, caller.actor, group).await?;
    }
    check_anchor(&mut *unit, caller, create.mode).await?;
    let asked = find_all(&mut *unit, "member", &create.members, &create.member_handles).await?;
    let members = first_members(&mut *unit, caller, &asked, create.mode).await?;
    let channel = Channel {
        id: comms.ids.channel(),
        name,
        group,
        kind: ChannelKind::Channel,
        mode: create.mode,
        policy: PostPolicy::Open,
        mandatory: false,
        members,
        tree_subscribers: Vec::new(),
        pins: Vec::new(),
    };
    unit.channels().insert(&channel).await.map_err(|error| match error {
        StorageError::Conflict(_) => Error::NameTaken(channel.name.as_str().to_owned()),
        other => other.into(),
    })?;
    let told = Event::ChannelChanged { channel: Arc::new(channel.clone()), removed: Vec::new() };
    comms.finish(&caller.tenant, unit, vec![told]).await?;
    Ok(channel)
}

async fn check_anchor(unit: &mut dyn UnitOfWork, caller: &Caller, mode: Mode) -> Result<(), Error> {
    let Mode::Tree { anchor } = mode else { return Ok(()) };
    match unit.accounts().find(anchor).await?.map(|account| account.kind) {
        Some(AccountKind::Agent { owner, .. }) if caller.actor.id == anchor || caller.actor.id == owner => {
            Ok(())
        }
        _ => Err(Error::ForeignAnchor),
    }
}

async fn first_members(
    unit: &mut dyn UnitOfWork,
    caller: &Caller,
    asked: &[Account],
    mode: Mode,
) -> Result<Vec<Member>, Error> {
    let asked_ids: Vec<AccountId> = asked.iter().map(|account| account.id).collect();
    let owner_of = |id| match id {
        id if id == caller.actor.id => caller.actor.is_agent().then(|| caller.actor.owner()),
        id => asked.iter().find(|account| account.id == id).and_then(members::owner),
    };
    let named = initial_members(caller.actor.id, &asked_ids, owner_of);
    let Mode::Tree { anchor } = mode else { return Ok(named) };
    // The owner of the anchor keeps a row all the same: a tree has no other members to begin with.
    let derived = Derived::of(unit, mode).await?;
    let owner = unit.accounts().find(anchor).await?.as_ref().and_then(members::owner);
    let has_row = |member: &Member| Some(member.account) == owner || !derived.holds(member.account);
    Ok(named.into_iter().filter(has_row).collect())
}
