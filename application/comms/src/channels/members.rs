//! Accounts that a client names as members.

use std::collections::HashSet;

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
    let mut found = Vec::with_capacity(ids.len() + handles.len());
    for (index, id) in ids.iter().enumerate() {
        let account = unit.accounts().find(*id).await?;
        found.push(account.ok_or_else(|| unknown(format!("{list}_account_ids"), index, id.to_string()))?);
    }
    for (index, handle) in handles.iter().enumerate() {
        let account = match Handle::parse(handle) {
            Ok(handle) => unit.accounts().find_by_handle(&handle).await?,
            Err(_) => None,
        };
        found.push(account.ok_or_else(|| unknown(format!("{list}_handles"), index, handle.clone()))?);
    }
    Ok(found)
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

/// True if `account` is the agent `top` or stands below it; a cycle in the rows ends the walk.
pub(super) async fn stands_under(
    unit: &mut dyn UnitOfWork,
    account: AccountId,
    top: AccountId,
) -> Result<bool, StorageError> {
    let mut seen = HashSet::new();
    let mut at = Some(account);
    while let Some(current) = at {
        if current == top {
            return Ok(true);
        }
        if !seen.insert(current) {
            return Ok(false);
        }
        at = match unit.accounts().find(current).await?.map(|account| account.kind) {
            Some(AccountKind::Agent { parent, .. }) => parent,
            _ => None,
        };
    }
    Ok(false)
}
