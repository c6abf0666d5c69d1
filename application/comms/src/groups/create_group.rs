//! Creates a group of channels.

use std::sync::Arc;

use compass_domain::{
    ChannelGroup, Classified, ErrorKind, Event,
    channel::{ChannelName, ChannelNameError},
    group::{TooWide, Visibility, check_width},
};
use compass_ports::StorageError;

use super::resolve::{self, GroupRef, enter, resolve};
use crate::{Caller, Comms};

/// A new group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateGroup {
    /// Free to repeat.
    pub name: String,
    /// The group it stands in; none for one at the top.
    pub parent: Option<GroupRef>,
    /// How far it is seen by itself.
    pub visibility: Visibility,
}

/// Why a group is not created.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name breaks a rule.
    #[error(transparent)]
    Name(#[from] ChannelNameError),
    /// The parent cannot be told from what was given, or the caller may not create in it.
    #[error(transparent)]
    Parent(#[from] resolve::Error),
    /// It would be seen farther than the group it stands in.
    #[error(transparent)]
    TooWide(#[from] TooWide),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Name(_) | Self::TooWide(_) => ErrorKind::InvalidArgument,
            Self::Parent(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Creates a group that the caller owns.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it; nothing is stored then.
pub async fn create_group(
    comms: &Comms,
    caller: &Caller,
    create: CreateGroup,
) -> Result<ChannelGroup, Error> {
    let name = ChannelName::parse_group(&create.name)?;
    let parent = match &create.parent {
        Some(parent) => Some(resolve(comms, caller, parent).await?),
        None => None,
    };
    let mut unit = comms.storage.begin(&caller.tenant).await?;
    if let Some(parent) = parent {
        check_width(create.visibility, enter(&mut *unit, caller.actor, parent).await?)?;
    }
    let group = ChannelGroup {
        id: comms.ids.group(),
        name,
        parent,
        owner: caller.actor.id,
        visibility: create.visibility,
    };
    unit.groups().insert(&group).await?;
    let told = Event::ChannelGroupChanged(Arc::new(group.clone()));
    comms.finish(&caller.tenant, unit, vec![told]).await?;
    Ok(group)
}
