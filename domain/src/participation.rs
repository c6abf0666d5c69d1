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

    /// `agent` and everyone above it, from below; a cycle in the rows ends the walk.
    pub fn above(&self, agent: AccountId) -> Vec<AccountId> {
        let mut chain = Vec::new();
        let mut at = Some(agent);
        while let Some(current) = at.filter(|current| !chain.contains(current)) {
            chain.push(current);
            at = self.parent(current);
        }
        chain
    }

    /// The direct reports of an agent, by id.
    pub fn reports(&self, manager: AccountId) -> Vec<AccountId> {
        let reports = self.nodes.iter().filter(|(_, node)| node.parent == Some(manager));
        let mut reports: Vec<AccountId> = reports.map(|(&agent, _)| agent).collect();
        reports.sort_unstable();
        reports
    }

    /// Checks that `agent` may stand directly below `parent`; below nobody it may always stand.
    ///
    /// # Errors
    ///
    /// [`MoveError`] for the first rule that refuses it.
    pub fn check_move(&self, agent: AccountId, parent: Option<AccountId>) -> Result<(), MoveError> {
        let Some(parent) = parent else { return Ok(()) };
        if self.owner(agent) != self.owner(parent) {
            return Err(MoveError::ForeignParent);
        }
        if self.stands_under(parent, agent) {
            return Err(MoveError::Cycle);
        }
        Ok(())
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

/// Why an agent may not stand below another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// They belong to different people, or one of them is no agent.
    #[error("the parent agent belongs to another owner")]
    ForeignParent,
    /// The parent is the agent itself or stands below it.
    #[error("an agent cannot stand below itself or below an agent of its own subtree")]
    Cycle,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn id(byte: u8) -> AccountId {
        AccountId::from_bytes([byte; 16])
    }

    /// 1 above 2 and 3, 2 above 4, all of 9; 5 alone of 8.
    fn forest() -> AgentTree {
        let node = |agent, owner, parent: Option<u8>| {
            (id(agent), AgentNode { owner: id(owner), parent: parent.map(id) })
        };
        AgentTree::new([
            node(1, 9, None),
            node(2, 9, Some(1)),
            node(3, 9, Some(1)),
            node(4, 9, Some(2)),
            node(5, 8, None),
        ])
    }

    #[test]
    fn an_agent_moves_below_any_agent_of_its_owner_that_is_not_in_its_subtree() {
        let forest = forest();
        for (agent, parent) in [(2, Some(3)), (4, Some(1)), (2, None), (1, None)] {
            assert_eq!(forest.check_move(id(agent), parent.map(id)), Ok(()), "{agent} below {parent:?}");
        }
        for (agent, parent) in [(1, 1), (1, 2), (1, 4), (2, 4)] {
            assert_eq!(forest.check_move(id(agent), Some(id(parent))), Err(MoveError::Cycle), "{agent}");
        }
        for (agent, parent) in [(2, 5), (5, 1), (2, 9)] {
            let refused = forest.check_move(id(agent), Some(id(parent)));
            assert_eq!(refused, Err(MoveError::ForeignParent), "{agent}");
        }
    }

    #[test]
    fn walks_end_on_a_cycle() {
        let node = |agent, parent| (id(agent), AgentNode { owner: id(9), parent: Some(id(parent)) });
        let forest = AgentTree::new([node(1, 4), node(2, 1), node(3, 1), node(4, 2)]);
        assert_eq!(forest.above(id(2)), [id(2), id(1), id(4)]);
        assert_eq!(forest.check_move(id(3), Some(id(4))), Ok(()));
    }

    #[test]
    fn reports_and_chains_follow_the_parents() {
        let forest = forest();
        assert_eq!(forest.reports(id(1)), [id(2), id(3)]);
        assert_eq!(forest.above(id(4)), [id(4), id(2), id(1)]);
    }
}
