//! The one predicate behind every read and write of a channel.

use std::collections::{HashMap, HashSet};

use crate::{channel::MembershipMode, id::AccountId};

/// The forest of agents: who stands below whom, and who owns whom.
#[derive(Clone, Debug, Default)]
pub struct AgentTree {
    nodes: HashMap<AccountId, AgentNode>,
}

/// One agent of the forest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AgentNode {
    /// The person that owns it.
    pub owner: AccountId,
    /// The agent above it.
    pub parent: Option<AccountId>,
}

impl AgentTree {
    /// Collects agents into a forest.
    pub fn new(nodes: impl IntoIterator<Item = (AccountId, AgentNode)>) -> Self {
        Self { nodes: nodes.into_iter().collect() }
    }

    /// Every agent, in no order.
    pub fn agents(&self) -> impl Iterator<Item = (AccountId, AgentNode)> {
        self.nodes.iter().map(|(agent, node)| (*agent, *node))
    }

    /// The owner of an agent; `None` for anyone else.
    pub fn owner(&self, agent: AccountId) -> Option<AccountId> {
        self.nodes.get(&agent).map(|node| node.owner)
    }

    /// The agent above an agent.
    pub fn parent(&self, agent: AccountId) -> Option<AccountId> {
        self.nodes.get(&agent).and_then(|node| node.parent)
    }

    /// The agents that are `top` or stand below it.
    pub fn subtree(&self, top: AccountId) -> impl Iterator<Item = AccountId> {
        self.nodes.keys().copied().filter(move |agent| self.stands_under(*agent, top))
    }

    /// True if `agent` is `top` or stands below it; a cycle in the rows ends the walk.
    pub fn stands_under(&self, agent: AccountId, top: AccountId) -> bool {
        let mut seen = HashSet::new();
        let mut at = Some(agent);
        while let Some(current) = at {
            if current == top {
                return true;
            }
            if !seen.insert(current) {
                return false;
            }
            at = self.parent(current);
        }
        false
    }
}

/// True if `account` may read and write the channel's messages.
///
/// That is: it has a member row; or the channel is a TREE and the account is the anchor, stands below it, or
/// owns it. Subscription plays no part.
pub fn participates(
    account: AccountId,
    mode: MembershipMode,
    has_member_row: bool,
    tree: &AgentTree,
) -> bool {
    if has_member_row {
        return true;
    }
    match mode {
        MembershipMode::Flat => false,
        MembershipMode::Tree { anchor } => {
            tree.stands_under(account, anchor) || tree.owner(anchor) == Some(account)
        }
    }
}
