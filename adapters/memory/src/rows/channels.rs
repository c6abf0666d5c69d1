//! Channel rows with their members, and who takes part where.

use std::{
    collections::{BTreeSet, HashSet},
    sync::Arc,
};

use compass_domain::{
    AccountId, Channel, ChannelId, GroupId, Seq, UnixMillis,
    channel::{ChannelHead, ChannelKind, ChannelName, Member, MembershipMode, Pin, PostPolicy},
    participation::{self, AgentTree},
};
use compass_ports::StorageError;

use super::{HIGHEST, Index, LOWEST, Map, Tree, pairs};

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
    /// Who without a member row chose to be subscribed in a tree, or not to be.
    choices: Tree<(ChannelId, AccountId), bool>,
    of_purpose: Map<String, ChannelId>,
}

impl Channels {
    /// Stores a channel for a purpose; false if the purpose or the name is taken.
    pub(crate) fn claim(&mut self, channel: &Channel, purpose: String) -> bool {
        if self.of_purpose.contains_key(&purpose) || self.insert(channel).is_err() {
            return false;
        }
        self.of_purpose.insert_mut(purpose, channel.id);
        true
    }

    pub(crate) fn for_purpose(&self, purpose: &str) -> Option<ChannelId> {
        self.of_purpose.get(purpose).copied()
    }

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

    /// Gives a channel another name.
    pub(crate) fn rename(&mut self, id: ChannelId, name: &ChannelName) -> Result<(), StorageError> {
        let Some(channel) = self.by_id.get_mut(&id) else { return Ok(()) };
        let (old, new) = (channel.name.key().to_owned(), name.key().to_owned());
        if let Some(group) = channel.group {
            if self.group_names.get(&(group, new.clone())).is_some_and(|other| *other != id) {
                return Err(StorageError::Conflict(format!("channel name {:?} is taken", name.as_str())));
            }
            self.group_names.remove_mut(&(group, old.clone()));
            self.group_names.insert_mut((group, new.clone()), id);
        }
        self.names.remove_mut(&(old, id));
        self.names.insert_mut((new, id));
        Arc::make_mut(channel).name = name.clone();
        Ok(())
    }

    /// Makes an ordinary channel of a direct conversation.
    pub(crate) fn convert(&mut self, id: ChannelId) {
        if let Some(channel) = self.by_id.get_mut(&id) {
            Arc::make_mut(channel).kind = ChannelKind::Channel;
        }
        let purposes: Vec<String> =
            self.of_purpose.iter().filter(|(_, of)| **of == id).map(|(purpose, _)| purpose.clone()).collect();
        for purpose in purposes {
            self.of_purpose.remove_mut(&purpose);
        }
    }

    pub(crate) fn set_policy(&mut self, id: ChannelId, policy: PostPolicy, mandatory: bool) {
        if let Some(channel) = self.by_id.get_mut(&id) {
            let channel = Arc::make_mut(channel);
            (channel.policy, channel.mandatory) = (policy, mandatory);
        }
    }

    pub(crate) fn set_pins(&mut self, id: ChannelId, board: &[Pin]) {
        if let Some(channel) = self.by_id.get_mut(&id) {
            Arc::make_mut(channel).pins = board.to_vec();
        }
    }

    pub(crate) fn choose(&mut self, id: ChannelId, account: AccountId, subscribed: bool) {
        self.choices.insert_mut((id, account), subscribed);
    }

    /// Whether the account is subscribed: by its member row or, without one, by its choice.
    pub(crate) fn is_subscribed(&self, id: ChannelId, account: AccountId) -> bool {
        let row = self.by_id.get(&id).and_then(|row| row.members.iter().find(|row| row.account == account));
        match row {
            Some(row) => row.subscribed,
            None => self.choices.get(&(id, account)).is_some_and(|subscribed| *subscribed),
        }
    }

    /// A channel as readers see it.
    pub(crate) fn whole(&self, id: ChannelId, forest: &AgentTree) -> Option<Channel> {
        let mut channel = Channel::clone(self.by_id.get(&id)?);
        let (lowest, highest) = (AccountId::from_bytes(LOWEST), AccountId::from_bytes(HIGHEST));
        let chosen = self.choices.range(pairs(id, lowest, highest)).filter(|(_, subscribed)| **subscribed);
        let derived = chosen
            .map(|((_, account), _)| *account)
            .filter(|account| !channel.has_member(*account) && self.participates(*account, id, forest));
        channel.tree_subscribers = derived.collect();
        Some(channel)
    }

    /// The trees of anchors, by id.
    pub(crate) fn trees_of(&self, anchors: &[AccountId]) -> Vec<ChannelId> {
        let wanted: HashSet<AccountId> = anchors.iter().copied().collect();
        let is_wanted = |id: &&ChannelId| {
            self.by_id.get(*id).is_some_and(|row| match row.mode {
                MembershipMode::Tree { anchor } => wanted.contains(&anchor),
                MembershipMode::Flat => false,
            })
        };
        self.trees.iter().filter(is_wanted).copied().collect()
    }

    /// Every ordinary channel of a group.
    pub(crate) fn grouped(&self) -> impl Iterator<Item = (ChannelId, GroupId)> + '_ {
        let ordinary = self
            .group_names
            .iter()
            .filter(|(_, id)| self.by_id.get(id).is_some_and(|row| row.kind == ChannelKind::Channel));
        ordinary.map(|((group, _), id)| (*id, *group))
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
