//! The agents of one person, and who of them takes part in a channel by where it stands.

use compass_domain::{
    Account, AccountId, AccountKind,
    channel::MembershipMode,
    participation::{AgentNode, AgentTree, participates},
};
use compass_ports::StorageError;

use crate::ports::UnitOfWork;

/// The agents of one person.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    pub(crate) agents: Vec<Account>,
    pub(crate) tree: AgentTree,
}

impl Family {
    /// The agents of `owner`.
    pub(crate) async fn read(unit: &mut dyn UnitOfWork, owner: AccountId) -> Result<Self, StorageError> {
        let agents = unit.accounts().list_agents(owner).await?;
        let node = |account: &Account| match account.kind {
            AccountKind::Agent { owner, parent, .. } => Some((account.id, AgentNode { owner, parent })),
            AccountKind::User { .. } | AccountKind::System => None,
        };
        let tree = AgentTree::new(agents.iter().filter_map(node));
        Ok(Self { agents, tree })
    }

    /// An agent of the family.
    pub(crate) fn find(&self, agent: AccountId) -> Option<&Account> {
        self.agents.iter().find(|account| account.id == agent)
    }
}

/// Who takes part in a channel without a member row.
#[derive(Debug, Clone)]
pub(crate) struct Derived {
    mode: MembershipMode,
    tree: AgentTree,
}

impl Derived {
    /// Who takes part in a channel of this mode.
    pub(crate) async fn of(unit: &mut dyn UnitOfWork, mode: MembershipMode) -> Result<Self, StorageError> {
        let owner = match mode {
            MembershipMode::Flat => None,
            MembershipMode::Tree { anchor } => owner_of(unit.accounts().find(anchor).await?.as_ref()),
        };
        let tree = match owner {
            // Everyone below an agent has its owner.
            Some(owner) => Family::read(unit, owner).await?.tree,
            None => AgentTree::default(),
        };
        Ok(Self { mode, tree })
    }

    /// True if the account takes part without a member row.
    pub(crate) fn holds(&self, account: AccountId) -> bool {
        participates(account, self.mode, false, &self.tree)
    }
}

fn owner_of(account: Option<&Account>) -> Option<AccountId> {
    match account?.kind {
        AccountKind::Agent { owner, .. } => Some(owner),
        AccountKind::User { .. } | AccountKind::System => None,
    }
}
