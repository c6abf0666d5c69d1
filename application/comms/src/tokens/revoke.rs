//! Revokes a credential, by its public id or by its value.

use compass_domain::{Classified, ErrorKind, TokenId};
use compass_ports::StorageError;

use super::{access::is_owned_by, value};
use crate::{
    Caller, Comms,
    ports::{Subject, TokenRow, UnitOfWork},
};

/// Why a token is not revoked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Agents handle no tokens.
    #[error("an agent may not revoke a token")]
    NotAllowed,
    /// There is no such token, or it is not the caller's to revoke.
    #[error("token not found")]
    NotFound,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAllowed => ErrorKind::PermissionDenied,
            Self::NotFound => ErrorKind::NotFound,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Revokes a token by its public id; one that was revoked before stays so.
///
/// # Errors
///
/// [`Error`] if there is no such token that the caller may revoke.
pub async fn revoke_by_id(comms: &Comms, caller: &Caller, id: TokenId) -> Result<(), Error> {
    let mut unit = begin(comms, caller).await?;
    let found = unit.tokens().find(id).await?;
    revoke(comms, caller, unit, found).await
}

/// Revokes a token by its value; one that was revoked before stays so.
///
/// # Errors
///
/// [`Error`] if there is no such token that the caller may revoke.
pub async fn revoke_value(comms: &Comms, caller: &Caller, token: &str) -> Result<(), Error> {
    let mut unit = begin(comms, caller).await?;
    let hash = value::parse(token).ok_or(Error::NotFound)?;
    let found = unit.tokens().find_by_hash(&hash).await?;
    revoke(comms, caller, unit, found.filter(|row| value::is_kept_by(&hash, row))).await
}

async fn begin(comms: &Comms, caller: &Caller) -> Result<Box<dyn UnitOfWork>, Error> {
    if caller.actor.is_agent() {
        return Err(Error::NotAllowed);
    }
    Ok(comms.storage.begin(&caller.tenant).await?)
}

async fn revoke(
    comms: &Comms,
    caller: &Caller,
    mut unit: Box<dyn UnitOfWork>,
    found: Option<TokenRow>,
) -> Result<(), Error> {
    let found = found.ok_or(Error::NotFound)?;
    if !may_revoke(&mut *unit, caller, &found.subject).await? {
        return Err(Error::NotFound);
    }
    if unit.tokens().revoke(found.id, comms.clock.now()).await? {
        comms.finish(&caller.tenant, unit, Vec::new()).await?;
    }
    Ok(())
}

async fn may_revoke(
    unit: &mut dyn UnitOfWork,
    caller: &Caller,
    subject: &Subject,
) -> Result<bool, StorageError> {
    if caller.actor.is_admin() {
        return Ok(true);
    }
    match subject {
        Subject::Runner(_) => Ok(false),
        Subject::Account(account) | Subject::SignIn(account) if *account == caller.actor.id => Ok(true),
        Subject::Account(account) | Subject::SignIn(account) => {
            let found = unit.accounts().find(*account).await?;
            Ok(found.is_some_and(|account| is_owned_by(&account, caller.actor)))
        }
    }
}
