//! Group rows, and what stands in what.

use std::sync::Arc;

use compass_domain::{AccountId, Actor, ChannelGroup, GroupId, group};

use super::Map;

/// The groups of a tenant.
#[derive(Clone, Default)]
pub(crate) struct Groups {
    by_id: Map<GroupId, Arc<ChannelGroup>>,
}

impl Groups {
    pub(crate) fn insert(&mut self, group: &ChannelGroup) {
        self.by_id.insert_mut(group.id, Arc::new(group.clone()));
    }

    /// A group and those it stands in, from the inside out.
    pub(crate) fn chain(&self, id: GroupId) -> Vec<ChannelGroup> {
        let mut chain: Vec<ChannelGroup> = Vec::new();
        let mut next = Some(id);
        while let Some(row) = next.and_then(|id| self.by_id.get(&id)) {
            if chain.iter().any(|known| known.id == row.id) {
                break;
            }
            next = row.parent;
            chain.push(ChannelGroup::clone(row));
        }
        chain
    }

    pub(crate) fn is_visible(&self, id: GroupId, viewer: Actor) -> bool {
        group::is_visible(&self.chain(id), viewer)
    }

    pub(crate) fn is_shared(&self, id: GroupId) -> bool {
        let chain = self.chain(id);
        group::effective(chain.iter().map(|row| row.visibility)) == group::Visibility::Shared
    }

    /// The groups of an owner under the key of a name, by id.
    pub(crate) fn owned(&self, owner: AccountId, key: &str) -> Vec<ChannelGroup> {
        let owned = self.by_id.values().filter(|row| row.owner == owner && row.name.key() == key);
        let mut groups: Vec<ChannelGroup> = owned.map(|row| ChannelGroup::clone(row)).collect();
        groups.sort_by_key(|row| row.id);
        groups
    }

    /// What the viewer sees, by name.
    pub(crate) fn visible(&self, viewer: Actor) -> Vec<ChannelGroup> {
        let seen = self.by_id.values().filter(|row| self.is_visible(row.id, viewer));
        let mut groups: Vec<ChannelGroup> = seen.map(|row| ChannelGroup::clone(row)).collect();
        groups.sort_by(|one, other| (one.name.key(), one.id).cmp(&(other.name.key(), other.id)));
        groups
    }
}
