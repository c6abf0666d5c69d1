//! Channel rows with their members, and who takes part where.

use std::{collections::BTreeSet, sync::Arc};

use compass_domain::{
    AccountId, Channel, ChannelId, GroupId, Seq, UnixMillis,
    channel::{ChannelHead, Member, MembershipMode},
    participation::{self, AgentTree},
};
use compass_ports::StorageError;

use super::{HIGHEST, Index, LOWEST, Map, pairs};

/// The channels of a tenant.
#[derive(Clone, Default)]
pub(crate) struct Channels {
    by_id: Map<ChannelId, Arc<Channel>>,
    /// The newest message's seq and time, apart from the channel so that a post does not copy its members.
    heads: Map<ChannelId, (Seq, UnixMillis)>,
    group_names: Map<(GroupId, String), ChannelId>,
    names: Index<(String, ChannelId)>,
    memberships: Index<(AccountId, ChannelId)>,
    trees: Index<ChannelId>,
}

impl Channels {
    pub(crate) fn insert(&mut self, channel: &Channel) -> Result<(), StorageError> {
        let (id, key) = (channel.id, channel.name.key().to_owned());
        if self.by_id.contains_key(&id) {
            return Err(StorageError::Conflict(format!("channel {id} exists")));
        }
        if let Some(group) = channel.group {
            if self.group_names.contains_key(&(group, key.clone())) {
                let name = channel.name.as_str();
                return Err(StorageError::Conflict(format!("channel name {name:?} is taken in its group")));
            }
            self.group_names.insert_mut((group, key.clone()), id);
        }
        for member in &channel.members {
            self.memberships.insert_mut((member.account, id));
        }
        if matches!(channel.mode, MembershipMode::Tree { .. }) {
            self.trees.insert_mut(id);
        }
        self.names.insert_mut((key, id));
        self.heads.insert_mut(id, (Seq(0), UnixMillis(0)));
        self.by_id.insert_mut(id, Arc::new(channel.clone()));
        Ok(())
    }

    pub(crate) fn find(&self, id: ChannelId) -> Option<&Arc<Channel>> {
        self.by_id.get(&id)
    }

    pub(crate) fn named(&self, key: &str) -> impl Iterator<Item = ChannelId> + '_ {
        let name = |edge| (key.to_owned(), ChannelId::from_bytes(edge));
        self.names.range(name(LOWEST)..=name(HIGHEST)).map(|(_, id)| *id)
    }

    pub(crate) fn head(&self, id: ChannelId) -> Option<ChannelHead> {
        let channel = self.by_id.get(&id)?;
        let &(last_seq, last_at) = self.heads.get(&id)?;
        Some(ChannelHead { id, last_seq, last_at, policy: channel.policy })
    }

    pub(crate) fn set_head(&mut self, id: ChannelId, seq: Seq, at: UnixMillis) {
        self.heads.insert_mut(id, (seq, at));
    }

    pub(crate) fn put_member(&mut self, id: ChannelId, member: Member) -> Result<(), StorageError> {
        let channel = self.by_id.get_mut(&id);
        let channel = channel.ok_or_else(|| StorageError::Internal(format!("no channel {id}")))?;
        let members = &mut Arc::make_mut(channel).members;
        match members.iter_mut().find(|row| row.account == member.account) {
            Some(row) => row.subscribed = member.subscribed,
            None => members.push(member),
        }
        self.memberships.insert_mut((member.account, id));
        Ok(())
    }

    pub(crate) fn remove_member(&mut self, id: ChannelId, account: AccountId) -> bool {
        if !self.memberships.remove_mut(&(account, id)) {
            return false;
        }
        if let Some(channel) = self.by_id.get_mut(&id) {
            Arc::make_mut(channel).members.retain(|row| row.account != account);
        }
        true
    }

    pub(crate) fn participates(&self, account: AccountId, id: ChannelId, forest: &AgentTree) -> bool {
        let has_row = self.memberships.contains(&(account, id));
        self.by_id
            .get(&id)
            .is_some_and(|channel| participation::participates(account, channel.mode, has_row, forest))
    }

    /// Every channel in which the account takes part.
    pub(crate) fn of(&self, account: AccountId, forest: &AgentTree) -> BTreeSet<ChannelId> {
        let (lowest, highest) = (ChannelId::from_bytes(LOWEST), ChannelId::from_bytes(HIGHEST));
        let rows = self.memberships.range(pairs(account, lowest, highest)).map(|(_, id)| *id);
        let trees = self.trees.iter().copied().filter(|id| self.participates(account, *id, forest));
        rows.chain(trees).collect()
    }
}
