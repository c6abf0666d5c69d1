//! Account rows: by id, by handle, what agents say they do, and the forest they stand in.

use std::sync::Arc;

use compass_domain::{
    Account, AccountId, AccountKind, Handle, UnixMillis,
    participation::{AgentNode, AgentTree},
};
use compass_ports::StorageError;

use super::{Map, Tree};

/// The accounts of a tenant.
#[derive(Clone, Default)]
pub(crate) struct Accounts {
    by_id: Map<AccountId, Arc<Account>>,
    by_handle: Tree<String, AccountId>,
    activities: Map<AccountId, (Arc<str>, UnixMillis)>,
    forest: Arc<AgentTree>,
}

impl Accounts {
    pub(crate) fn insert(&mut self, account: &Account) -> Result<(), StorageError> {
        if self.by_handle.contains_key(account.handle.as_str()) {
            return Err(StorageError::Conflict(format!("handle {} is taken", account.handle)));
        }
        if self.by_id.contains_key(&account.id) {
            return Err(StorageError::Conflict(format!("account {} exists", account.id)));
        }
        self.by_handle.insert_mut(account.handle.as_str().to_owned(), account.id);
        self.by_id.insert_mut(account.id, Arc::new(account.clone()));
        if account.is_agent() {
            self.plant();
        }
        Ok(())
    }

    /// Puts an agent below another, or below nobody.
    pub(crate) fn set_parent(&mut self, agent: AccountId, parent: Option<AccountId>) {
        if let Some(row) = self.by_id.get_mut(&agent)
            && let AccountKind::Agent { parent: above, .. } = &mut Arc::make_mut(row).kind
        {
            *above = parent;
            self.plant();
        }
    }

    /// The agents of a person, by id.
    pub(crate) fn agents_of(&self, owner: AccountId) -> Vec<Account> {
        let is_its =
            |row: &&Arc<Account>| matches!(row.kind, AccountKind::Agent { owner: its, .. } if its == owner);
        let mut agents: Vec<Account> =
            self.by_id.values().filter(is_its).map(|row| Account::clone(row)).collect();
        agents.sort_by_key(|row| row.id);
        agents
    }

    fn plant(&mut self) {
        self.forest = Arc::new(AgentTree::new(self.by_id.values().filter_map(|row| node(row))));
    }

    pub(crate) fn find(&self, id: AccountId) -> Option<&Arc<Account>> {
        self.by_id.get(&id)
    }

    pub(crate) fn find_by_handle(&self, handle: &Handle) -> Option<&Arc<Account>> {
        self.by_handle.get(handle.as_str()).and_then(|id| self.by_id.get(id))
    }

    /// Every account, by handle.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Account>> {
        self.by_handle.values().filter_map(|id| self.by_id.get(id))
    }

    pub(crate) fn forest(&self) -> &AgentTree {
        &self.forest
    }

    pub(crate) fn put_activity(&mut self, agent: AccountId, activity: &str, at: UnixMillis) {
        self.activities.insert_mut(agent, (activity.into(), at));
    }

    pub(crate) fn activity(&self, agent: AccountId) -> Option<(&str, UnixMillis)> {
        self.activities.get(&agent).map(|(activity, at)| (&**activity, *at))
    }
}

fn node(account: &Account) -> Option<(AccountId, AgentNode)> {
    match account.kind {
        AccountKind::Agent { owner, parent, .. } => Some((account.id, AgentNode { owner, parent })),
        AccountKind::User { .. } | AccountKind::System => None,
    }
}
