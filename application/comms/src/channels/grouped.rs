//! Channels by name, also behind the groups they stand in: `group/name`, or `outer/group/name`.

use std::{collections::HashMap, fmt};

use compass_domain::{Actor, ChannelGroup, GroupId, channel::ChannelName};
use compass_ports::StorageError;

use crate::ports::{NamedChannel, ReadUnit};

/// Channels of one name that are told apart at the most; each takes a read or more.
const TOLD_APART: usize = 16;
/// Names that an error lists at the most.
const LISTED: usize = 5;

/// Several channels have a name.
#[derive(Debug, thiserror::Error)]
pub struct Ambiguous {
    /// The name, as it was given.
    pub name: String,
    /// How many have it.
    pub count: usize,
    /// Names that each mean one of them alone.
    pub instead: Vec<String>,
    /// How many have no such name, because no group that the caller sees tells them apart.
    pub alike: usize,
}

impl fmt::Display for Ambiguous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, count, instead, alike } = self;
        write!(f, "channel {name:?} is ambiguous: {count} channels have this name")?;
        if *alike > 0 {
            write!(f, "; no group that you see tells {alike} of them apart, ask a person to rename those")?;
        }
        let listed: Vec<String> = instead.iter().take(LISTED).map(|name| format!("{name:?}")).collect();
        if listed.is_empty() {
            return Ok(());
        }
        write!(f, "; name the group as well: {}", listed.join(" or "))?;
        match count - alike - listed.len() {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

/// Finds channels in which an account takes part.
pub(super) struct Finder<'a> {
    unit: &'a mut dyn ReadUnit,
    actor: Actor,
    /// The groups the account sees, once they are needed.
    groups: Option<Groups>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(unit: &'a mut dyn ReadUnit, actor: Actor) -> Self {
        Self { unit, actor, groups: None }
    }

    /// The channels that `text` names: those of exactly that name or, if there are none, those it names behind groups.
    pub(super) async fn find(&mut self, text: &str) -> Result<Vec<NamedChannel>, StorageError> {
        if let Ok(name) = ChannelName::parse(text) {
            let found = self.unit.find_channels_named(self.actor, name.key()).await?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let mut found: Vec<NamedChannel> = Vec::new();
        for (path, name) in ChannelName::behind_groups(text) {
            if !self.groups().await?.any(&path) {
                continue;
            }
            let named = self.unit.find_channels_named(self.actor, name.key()).await?;
            let groups = self.groups().await?;
            found.extend(named.into_iter().filter(|channel| groups.holds(&path, channel)));
        }
        found.sort_unstable_by_key(|channel| channel.id);
        found.dedup();
        Ok(found)
    }

    /// How each of the channels that `text` names can be named alone.
    pub(super) async fn ambiguous(
        &mut self,
        text: &str,
        several: &[NamedChannel],
    ) -> Result<Ambiguous, StorageError> {
        let (mut instead, mut alike) = (Vec::new(), 0);
        for channel in several.iter().take(TOLD_APART) {
            match self.own_name(channel).await? {
                Some(name) => instead.push(name),
                None => alike += 1,
            }
        }
        Ok(Ambiguous { name: text.trim().to_owned(), count: several.len(), instead, alike })
    }

    /// The shortest name that means this channel alone.
    async fn own_name(&mut self, channel: &NamedChannel) -> Result<Option<String>, StorageError> {
        for path in self.groups().await?.paths(channel) {
            let name = format!("{path}/{}", channel.name.as_str());
            if self.find(&name).await? == std::slice::from_ref(channel) {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    async fn groups(&mut self) -> Result<&Groups, StorageError> {
        let groups = match self.groups.take() {
            Some(groups) => groups,
            None => Groups::new(self.unit.list_groups(self.actor).await?),
        };
        Ok(self.groups.insert(groups))
    }
}

/// The groups an account sees.
struct Groups(HashMap<GroupId, ChannelGroup>);

impl Groups {
    fn new(seen: Vec<ChannelGroup>) -> Self {
        Self(seen.into_iter().map(|group| (group.id, group)).collect())
    }

    /// True if any group goes by the path of this key.
    fn any(&self, key: &str) -> bool {
        self.0.keys().any(|group| self.goes_by(*group, key))
    }

    /// True if the channel stands in a group that goes by the path of this key.
    fn holds(&self, key: &str, channel: &NamedChannel) -> bool {
        channel.group.is_some_and(|group| self.goes_by(group, key))
    }

    fn goes_by(&self, group: GroupId, key: &str) -> bool {
        let mut path = String::new();
        self.outwards(group).any(|group| {
            path = if path.is_empty() {
                group.name.key().to_owned()
            } else {
                format!("{}/{path}", group.name.key())
            };
            path == key
        })
    }

    /// What the channel's group goes by, the shortest first.
    fn paths(&self, channel: &NamedChannel) -> Vec<String> {
        let mut paths: Vec<String> = Vec::new();
        for group in channel.group.into_iter().flat_map(|group| self.outwards(group)) {
            let path = match paths.last() {
                Some(inner) => format!("{}/{inner}", group.name.as_str()),
                None => group.name.as_str().to_owned(),
            };
            paths.push(path);
        }
        paths
    }

    /// A group and those it stands in, from the inside out, as far as they are seen.
    fn outwards(&self, group: GroupId) -> impl Iterator<Item = &ChannelGroup> {
        let outer = |group: &&ChannelGroup| group.parent.and_then(|parent| self.0.get(&parent));
        // No longer than there are groups, whatever the rows say.
        std::iter::successors(self.0.get(&group), outer).take(self.0.len())
    }
}
