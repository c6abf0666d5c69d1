//! Who may run an agent, and who may watch it run.

use std::collections::HashMap;

use compass_domain::{Account, AccountId, AccountKind, ChannelId, Classified, ErrorKind};
use compass_ports::StorageError;

use crate::{Caller, Comms};

/// Why a caller may not run or watch an agent.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such agent, or the caller does not see it.
    #[error("agent not found")]
    NotFound,
    /// The caller sees it and may not run it.
    #[error("only the agent's owner or an administrator may do that")]
    Denied,
    /// What decides cannot be read.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotFound => ErrorKind::NotFound,
            Self::Denied => ErrorKind::PermissionDenied,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Lets an agent's owner and administrators pass.
///
/// # Errors
///
/// [`Error`] for everyone else, agents included.
pub async fn require_operator(comms: &Comms, caller: &Caller, agent: AccountId) -> Result<(), Error> {
    let mut unit = comms.storage.read(&caller.tenant).await?;
    let found = unit.find_account(agent).await?.ok_or(Error::NotFound)?;
    let AccountKind::Agent { owner, .. } = found.kind else { return Err(Error::NotFound) };
    let actor = caller.actor;
    if actor.human().is_some() && (actor.is_admin() || owner == actor.id) {
        return Ok(());
    }
    Err(if unit.sees_account(actor, agent).await? { Error::Denied } else { Error::NotFound })
}

/// Lets those pass that take part in an agent's home channel.
///
/// # Errors
///
/// [`Error::NotFound`] for everyone else; [`Error::Storage`] if that cannot be read.
pub async fn require_watcher(comms: &Comms, caller: &Caller, agent: AccountId) -> Result<(), Error> {
    let mut unit = comms.storage.read(&caller.tenant).await?;
    let found = unit.find_account(agent).await?.ok_or(Error::NotFound)?;
    let home = home(&found).ok_or(Error::NotFound)?;
    let takes_part = unit.participating(caller.actor.id, &[home]).await?;
    if takes_part.is_empty() { Err(Error::NotFound) } else { Ok(()) }
}

/// The agents whose home channels the caller takes part in.
///
/// # Errors
///
/// [`StorageError`] if they cannot be read.
pub async fn list_watched(comms: &Comms, caller: &Caller) -> Result<Vec<AccountId>, StorageError> {
    let mut unit = comms.storage.read(&caller.tenant).await?;
    let accounts = unit.list_accounts(caller.actor).await?;
    let homes: HashMap<ChannelId, AccountId> =
        accounts.iter().filter_map(|account| Some((home(account)?, account.id))).collect();
    let channels: Vec<ChannelId> = homes.keys().copied().collect();
    let takes_part = unit.participating(caller.actor.id, &channels).await?;
    let mut watched: Vec<AccountId> =
        takes_part.iter().filter_map(|channel| homes.get(channel).copied()).collect();
    watched.sort_unstable();
    Ok(watched)
}

fn home(account: &Account) -> Option<ChannelId> {
    match account.kind {
        AccountKind::Agent { home_channel, .. } => Some(home_channel),
        AccountKind::User { .. } | AccountKind::System => None,
    }
}
