//! Lists the credentials of an account that work.

use compass_domain::{AccountId, Classified, ErrorKind};
use compass_ports::StorageError;

use super::access::{Access, access};
use crate::{Caller, Comms, ports::TokenRow};

/// Why the list is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The account's tokens are not the caller's to see.
    #[error("only the account itself, an admin, or an agent's owner may list its tokens")]
    NotAllowed,
    /// The account does not exist, or the caller may not see it.
    #[error("account not found")]
    AccountNotFound,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAllowed => ErrorKind::PermissionDenied,
            Self::AccountNotFound => ErrorKind::NotFound,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Lists the tokens of an account, newest first; without an account, the caller's own.
///
/// # Errors
///
/// [`Error`] if the caller may not, or there is no such account.
pub async fn list_tokens(
    comms: &Comms,
    caller: &Caller,
    account: Option<AccountId>,
) -> Result<Vec<TokenRow>, Error> {
    if caller.actor.is_agent() {
        return Err(Error::NotAllowed);
    }
    let mut unit = comms.storage.read(&caller.tenant).await?;
    let account = account.unwrap_or(caller.actor.id);
    match access(&mut *unit, caller.actor, account).await? {
        Access::Own(_) | Access::Granted(_) => Ok(unit.list_tokens(account, comms.clock.now()).await?),
        Access::Denied => Err(Error::NotAllowed),
        Access::Unknown => Err(Error::AccountNotFound),
    }
}
