//! Who takes part where, and who sees whom, over the rows of one tenant.

use std::collections::BTreeSet;

use compass_domain::{
    Account, AccountId, AccountKind, Actor, Channel, ChannelId, channel::ChannelKind, delivery::AgentMember,
};

use super::TenantRows;

impl TenantRows {
    pub(crate) fn participates(&self, account: AccountId, channel: ChannelId) -> bool {
        self.channels.participates(account, channel, self.accounts.forest())
    }

    pub(crate) fn channels_of(&self, account: AccountId) -> BTreeSet<ChannelId> {
        self.channels.of(account, self.accounts.forest())
    }

    pub(crate) fn share_channel(&self, one: AccountId, other: AccountId) -> bool {
        self.channels_of(one).into_iter().any(|channel| self.participates(other, channel))
    }

    /// A channel as readers see it.
    pub(crate) fn channel(&self, id: ChannelId) -> Option<Channel> {
        self.channels.whole(id, self.accounts.forest())
    }

    /// True if the viewer takes part, or the channel is an ordinary one of a shared group.
    pub(crate) fn sees_channel(&self, viewer: AccountId, id: ChannelId) -> bool {
        let open = |row: &Channel| {
            row.kind == ChannelKind::Channel && row.group.is_some_and(|group| self.groups.is_shared(group))
        };
        self.participates(viewer, id) || self.channels.find(id).is_some_and(|row| open(row))
    }

    /// Every channel that the viewer sees.
    pub(crate) fn visible_channels(&self, viewer: AccountId) -> BTreeSet<ChannelId> {
        let mut seen = self.channels_of(viewer);
        seen.extend(self.channels.grouped().map(|(id, _)| id).filter(|id| self.sees_channel(viewer, *id)));
        seen
    }

    pub(crate) fn sees_account(&self, viewer: Actor, account: &Account) -> bool {
        account.is_visible_to(viewer.id, || self.share_channel(viewer.id, account.id))
    }

    /// The agents that take part in a channel, by id.
    pub(crate) fn agents_of(&self, channel: ChannelId) -> Vec<AgentMember> {
        let agents = self.accounts.all().filter(|account| account.is_agent());
        let mut members: Vec<AgentMember> = agents
            .filter(|account| self.participates(account.id, channel))
            .map(|account| AgentMember {
                account: account.id,
                handle: account.handle.as_str().to_owned(),
                in_sweep_set: self.in_sweep_set(account, channel),
            })
            .collect();
        members.sort_by_key(|member| member.account);
        members
    }

    /// True if the cursor of an agent that takes part owes it the channel's messages.
    pub(crate) fn in_sweep_set(&self, agent: &Account, channel: ChannelId) -> bool {
        let AccountKind::Agent { home_channel, .. } = agent.kind else { return false };
        let Some(row) = self.channels.find(channel) else { return false };
        let is_subscribed = || self.channels.is_subscribed(channel, agent.id);
        self.participates(agent.id, channel) && (home_channel == channel || row.mandatory || is_subscribed())
    }
}
