//! Rosters: which agents stand around an account, whatever its viewer may see of them.

use std::collections::BTreeSet;

use crate::{
    id::AccountId,
    participation::{AgentNode, AgentTree},
};

/// How far a roster reaches from its vantage.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum RosterScope {
    /// The agent itself, its parent, its siblings and its children.
    #[default]
    Neighborhood,
    /// The agent itself and everything below it.
    Subtree,
    /// Every agent of the vantage's owner.
    Owner,
}

/// The agents of a scope. A root's siblings are all other roots, whoever owns them.
///
/// A person may be a vantage, too: it stands above the forest, so its neighbours are the roots, it has no subtree,
/// and it is its own owner.
pub fn agents_in(scope: RosterScope, vantage: AccountId, tree: &AgentTree) -> BTreeSet<AccountId> {
    match scope {
        RosterScope::Neighborhood => neighborhood(vantage, tree),
        RosterScope::Subtree => tree.subtree(vantage).collect(),
        RosterScope::Owner => {
            let owner = tree.owner(vantage).unwrap_or(vantage);
            tree.agents().filter(|(_, node)| node.owner == owner).map(|(agent, _)| agent).collect()
        }
    }
}

fn neighborhood(vantage: AccountId, tree: &AgentTree) -> BTreeSet<AccountId> {
    let parent = tree.parent(vantage);
    let near = |(agent, node): &(AccountId, AgentNode)| {
        *agent == vantage || Some(*agent) == parent || node.parent == Some(vantage) || node.parent == parent
    };
    tree.agents().filter(near).map(|(agent, _)| agent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANA: AccountId = AccountId::from_bytes([0xa0; 16]);
    const BEN: AccountId = AccountId::from_bytes([0xb0; 16]);

    fn id(number: u8) -> AccountId {
        AccountId::from_bytes([number; 16])
    }

    /// Ana's 1 has 2 and 3, 2 has 4; Ben's 5 has 6.
    fn forest() -> AgentTree {
        let node =
            |agent: u8, owner, parent: Option<u8>| (id(agent), AgentNode { owner, parent: parent.map(id) });
        AgentTree::new([
            node(1, ANA, None),
            node(2, ANA, Some(1)),
            node(3, ANA, Some(1)),
            node(4, ANA, Some(2)),
            node(5, BEN, None),
            node(6, BEN, Some(5)),
        ])
    }

    fn found(scope: RosterScope, vantage: AccountId) -> Vec<u8> {
        agents_in(scope, vantage, &forest()).iter().map(|agent| agent.as_bytes()[0]).collect()
    }

    #[test]
    fn a_childs_neighborhood_is_itself_its_parent_its_siblings_and_its_children() {
        assert_eq!(found(RosterScope::Neighborhood, id(2)), [1, 2, 3, 4]);
        assert_eq!(found(RosterScope::Neighborhood, id(4)), [2, 4]);
    }

    #[test]
    fn a_roots_siblings_are_all_other_roots_across_owners() {
        assert_eq!(found(RosterScope::Neighborhood, id(1)), [1, 2, 3, 5]);
        assert_eq!(found(RosterScope::Neighborhood, id(5)), [1, 5, 6]);
    }

    #[test]
    fn a_subtree_is_the_agent_and_everything_below_it() {
        assert_eq!(found(RosterScope::Subtree, id(1)), [1, 2, 3, 4]);
        assert_eq!(found(RosterScope::Subtree, id(3)), [3]);
    }

    #[test]
    fn the_owner_scope_is_every_agent_of_the_vantages_owner() {
        assert_eq!(found(RosterScope::Owner, id(4)), [1, 2, 3, 4]);
        assert_eq!(found(RosterScope::Owner, BEN), [5, 6]);
    }

    #[test]
    fn a_person_stands_above_the_forest() {
        assert_eq!(found(RosterScope::Neighborhood, ANA), [1, 5]);
        assert!(found(RosterScope::Subtree, ANA).is_empty());
    }

    #[test]
    fn a_cycle_in_the_rows_ends() {
        let node = |parent: u8| AgentNode { owner: ANA, parent: Some(id(parent)) };
        let tree = AgentTree::new([(id(1), node(2)), (id(2), node(1))]);
        assert_eq!(agents_in(RosterScope::Subtree, id(1), &tree).len(), 2);
        assert_eq!(agents_in(RosterScope::Neighborhood, id(1), &tree).len(), 2);
    }
}
