//! Accounts that a client names as members.

use std::collections::HashMap;

use compass_domain::{Account, AccountId, AccountKind, Handle};
use compass_ports::StorageError;

use crate::ports::UnitOfWork;

/// An entry of a list of members that names no account.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{list}[{index}]: no account {named:?}")]
pub struct UnknownMember {
    /// Which list.
    pub list: String,
    /// Which entry.
    pub index: usize,
    /// What was sent.
    pub named: String,
}

/// Why members cannot be found.
#[derive(Debug)]
pub(super) enum LookupError {
    Unknown(UnknownMember),
    Storage(StorageError),
}

impl From<StorageError> for LookupError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

/// Finds the accounts of `ids`, then those of `handles`.
pub(super) async fn find_all(
    unit: &mut dyn UnitOfWork,
    list: &str,
    ids: &[AccountId],
    handles: &[String],
) -> Result<Vec<Account>, LookupError> {
    let by_id = index(unit.accounts().find_all(ids).await?, |account| account.id);
    let parsed: Vec<Handle> = handles.iter().filter_map(|handle| Handle::parse(handle).ok()).collect();
    let by_handle = unit.accounts().find_all_by_handle(&parsed).await?;
    let by_handle = index(by_handle, |account| account.handle.as_str().to_owned());
    let mut found = Vec::with_capacity(ids.len() + handles.len());
    for (index, id) in ids.iter().enumerate() {
        let account = by_id.get(id).cloned();
        found.push(account.ok_or_else(|| unknown(format!("{list}_account_ids"), index, id.to_string()))?);
    }
    for (index, handle) in handles.iter().enumerate() {
        let account = by_handle.get(handle).cloned();
        found.push(account.ok_or_else(|| unknown(format!("{list}_handles"), index, handle.clone()))?);
    }
    Ok(found)
}

fn index<K: std::hash::Hash + Eq>(
    accounts: Vec<Account>,
    key: impl Fn(&Account) -> K,
) -> HashMap<K, Account> {
    accounts.into_iter().map(|account| (key(&account), account)).collect()
}

fn unknown(list: String, index: usize, named: String) -> LookupError {
    LookupError::Unknown(UnknownMember { list, index, named })
}

/// The owner of an agent.
pub(super) fn owner(account: &Account) -> Option<AccountId> {
    match account.kind {
        AccountKind::Agent { owner, .. } => Some(owner),
        AccountKind::User { .. } | AccountKind::System => None,
    }
}
