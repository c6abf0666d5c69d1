//! Finds the group a client means, and whether the caller may create in it.

use compass_domain::{
    Actor, Classified, ErrorKind, GroupId,
    channel::{ChannelName, ChannelNameError},
    group::{self, Visibility},
};
use compass_ports::StorageError;

use crate::{Caller, Comms, ports::UnitOfWork};

/// How a client names a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupRef {
    /// By id; whether the caller may see it is decided by what is done with it.
    Id(GroupId),
    /// By name, among the groups the caller sees.
    Name(String),
}

/// Why no group is meant.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name breaks a rule.
    #[error(transparent)]
    Name(#[from] ChannelNameError),
    /// No such group, or the caller may not create in it.
    #[error("group not found")]
    NotFound,
    /// Several groups have the name.
    #[error("group name {name:?} is ambiguous: {count} groups have it, give the group's id")]
    Ambiguous {
        /// The name.
        name: String,
        /// How many.
        count: usize,
    },
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Name(_) | Self::Ambiguous { .. } => ErrorKind::InvalidArgument,
            Self::NotFound => ErrorKind::NotFound,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// The id of the group that `named` names for the caller.
///
/// # Errors
///
/// [`Error`] if it names none or several.
pub async fn resolve(comms: &Comms, caller: &Caller, named: &GroupRef) -> Result<GroupId, Error> {
    let name = match named {
        GroupRef::Id(id) => return Ok(*id),
        GroupRef::Name(name) => ChannelName::parse_group(name)?,
    };
    let seen = comms.storage.read(&caller.tenant).await?.list_groups(caller.actor).await?;
    let found: Vec<GroupId> =
        seen.iter().filter(|group| group.name.key() == name.key()).map(|group| group.id).collect();
    match found.as_slice() {
        [] => Err(Error::NotFound),
        [one] => Ok(*one),
        several => Err(Error::Ambiguous { name: name.as_str().to_owned(), count: several.len() }),
    }
}

/// How far a group is seen in which `actor` may create.
pub(crate) async fn enter(unit: &mut dyn UnitOfWork, actor: Actor, id: GroupId) -> Result<Visibility, Error> {
    let chain = unit.groups().chain(id).await?;
    if !group::is_visible(&chain, actor) {
        return Err(Error::NotFound);
    }
    Ok(group::effective(chain.iter().map(|group| group.visibility)))
}
