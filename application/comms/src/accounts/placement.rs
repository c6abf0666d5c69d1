//! What it means that an agent stands elsewhere in the tree: who takes part in channels, and the channels of managers.

use std::{collections::BTreeSet, sync::Arc};

use compass_domain::{
    Account, AccountId, Channel, ChannelGroup, ChannelId, Event,
    channel::{ChannelKind, ChannelName, ChannelNameError, Member, MembershipMode, PostPolicy, Purpose},
    group::{COORDINATION_GROUP, Visibility},
};
use compass_ports::StorageError;

use crate::{Comms, channels::Before, family::Family, ports::UnitOfWork};

/// Why the channels cannot follow.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A manager's handle makes no channel name.
    #[error(transparent)]
    Name(#[from] ChannelNameError),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// An agent that goes from below one agent to below another; the tree is locked, its rows are not changed yet.
pub(super) struct Placement {
    agent: AccountId,
    owner: AccountId,
    to: Option<AccountId>,
    trees: Vec<ChannelId>,
    /// The coordination channels of the old and the new manager, where there are such channels.
    old_room: Option<ChannelId>,
    new_room: Option<ChannelId>,
    is_in_new_room: bool,
    before: Before,
}

impl Placement {
    /// Locks every channel in which the move changes who takes part.
    pub(super) async fn begin(
        unit: &mut dyn UnitOfWork,
        family: &Family,
        (agent, owner): (AccountId, AccountId),
        (from, to): (Option<AccountId>, Option<AccountId>),
    ) -> Result<Self, StorageError> {
        let above = |manager: Option<AccountId>| -> BTreeSet<AccountId> {
            manager.map(|manager| family.tree.above(manager)).unwrap_or_default().into_iter().collect()
        };
        let anchors: Vec<AccountId> = above(from).symmetric_difference(&above(to)).copied().collect();
        let trees = unit.participants().trees_of(&anchors).await?;
        let old_room = room_of(unit, from).await?;
        let new_room = room_of(unit, to).await?;
        let mut channels: Vec<ChannelId> = trees.iter().copied().chain(old_room).chain(new_room).collect();
        channels.sort_unstable();
        let locked = unit.participants().lock_all(&channels).await?;
        let is_in =
            |room: &ChannelId| locked.iter().any(|channel| channel.id == *room && channel.has_member(agent));
        let is_in_new_room = new_room.as_ref().is_some_and(is_in);
        let before = Before::read(unit, channels).await?;
        Ok(Self { agent, owner, to, trees, old_room, new_room, is_in_new_room, before })
    }

    /// Lets channels and cursors follow after the tree's row was changed; returns what is to be told.
    pub(super) async fn finish(self, comms: &Comms, unit: &mut dyn UnitOfWork) -> Result<Vec<Event>, Error> {
        if let Some(room) = self.old_room {
            unit.channels().remove_member(room, self.agent).await?;
        }
        if let Some(room) = self.new_room.filter(|_| !self.is_in_new_room) {
            let report = Member { account: self.agent, subscribed: false };
            unit.channels().put_member(room, report).await?;
        }
        let altered = self.before.settle(unit).await?;
        unit.participants().touch(&self.trees).await?;
        let ids: Vec<ChannelId> = altered.iter().map(|altered| altered.channel).collect();
        let mut events = Vec::new();
        if !ids.is_empty() {
            let channels = unit.participants().lock_all(&ids).await?;
            for (channel, altered) in channels.into_iter().zip(altered) {
                events.push(Event::ChannelChanged { channel: Arc::new(channel), removed: altered.lost });
            }
        }
        if let (Some(manager), None) = (self.to, self.new_room) {
            events.extend(open_room(comms, unit, self.owner, manager).await?);
        }
        Ok(events)
    }
}

async fn room_of(
    unit: &mut dyn UnitOfWork,
    manager: Option<AccountId>,
) -> Result<Option<ChannelId>, StorageError> {
    match manager {
        Some(manager) => unit.purposes().find(&Purpose::Coordination { manager }).await,
        None => Ok(None),
    }
}

/// Makes the channel of a manager and its direct reports.
async fn open_room(
    comms: &Comms,
    unit: &mut dyn UnitOfWork,
    owner: AccountId,
    manager: AccountId,
) -> Result<Vec<Event>, Error> {
    let family = Family::read(unit, owner).await?;
    let Some(account) = family.find(manager) else { return Ok(Vec::new()) };
    let (group, mut events) = coordination_group(comms, unit, owner).await?;
    let members: Vec<AccountId> = std::iter::once(manager).chain(family.tree.reports(manager)).collect();
    let room = claim_room(comms, unit, account, group, &members).await?;
    let cursors: Vec<_> = members.iter().map(|member| (*member, room.id)).collect();
    unit.cursors().seed_all(&cursors).await?;
    events.push(Event::ChannelChanged { channel: Arc::new(room), removed: Vec::new() });
    Ok(events)
}

/// Tries one name after the other: others may have made channels of these names in the group.
async fn claim_room(
    comms: &Comms,
    unit: &mut dyn UnitOfWork,
    manager: &Account,
    group: ChannelGroup,
    members: &[AccountId],
) -> Result<Channel, Error> {
    let mut room = Channel {
        id: comms.ids.channel(),
        name: ChannelName::coordination(&manager.handle, 1)?,
        group: Some(group.id),
        kind: ChannelKind::Channel,
        mode: MembershipMode::Flat,
        policy: PostPolicy::OwnerOnly { owner: manager.id },
        mandatory: true,
        members: members.iter().map(|account| Member { account: *account, subscribed: false }).collect(),
        tree_subscribers: Vec::new(),
        pins: Vec::new(),
    };
    let purpose = Purpose::Coordination { manager: manager.id };
    let mut attempt = 1;
    while !unit.purposes().claim(&room, &purpose).await? {
        // The lock of the tree keeps others from making it; without it no name would ever do.
        if unit.purposes().find(&purpose).await?.is_some() {
            let taken = format!("agent {} has a channel with its reports already", manager.id);
            return Err(StorageError::Conflict(taken).into());
        }
        attempt += 1;
        room.name = ChannelName::coordination(&manager.handle, attempt)?;
    }
    Ok(room)
}

/// The group of an owner in which such channels stand; one of that name that is seen farther is the owner's own.
async fn coordination_group(
    comms: &Comms,
    unit: &mut dyn UnitOfWork,
    owner: AccountId,
) -> Result<(ChannelGroup, Vec<Event>), Error> {
    let name = ChannelName::parse_group(COORDINATION_GROUP)?;
    let owned = unit.groups().list_owned(owner, name.key()).await?;
    let is_ours = |group: &ChannelGroup| group.parent.is_none() && group.visibility == Visibility::Owner;
    if let Some(group) = owned.into_iter().find(is_ours) {
        return Ok((group, Vec::new()));
    }
    let id = comms.ids.group();
    let group = ChannelGroup { id, name, parent: None, owner, visibility: Visibility::Owner };
    unit.groups().insert(&group).await?;
    let told = Event::ChannelGroupChanged(Arc::new(group.clone()));
    Ok((group, vec![told]))
}
