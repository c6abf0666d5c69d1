//! A person's session in a browser: a token of its own, with an end, that goes without any other credential.

use std::fmt;

use compass_domain::{AccountId, Classified, ErrorKind, TenantId, UnixMillis};
use compass_ports::StorageError;

use super::{
    authenticate::{self, Principal, authenticate},
    issue::store,
    revoke::{self, revoke_value},
    sign_in::{self, Spent, spend},
    value,
};
use crate::{
    Caller, Comms,
    ports::{Subject, UnitOfWork},
};

/// Milliseconds for which a session lasts: ninety days.
pub const SESSION_LIFETIME_MS: i64 = 90 * 24 * 60 * 60 * 1000;

/// A session that was just opened.
#[derive(Clone, PartialEq, Eq)]
pub struct Session {
    /// The value of its token.
    pub token: String,
    /// Whose.
    pub account: AccountId,
    /// When it ends by itself.
    pub expires_at: UnixMillis,
}

// The value stays out of logs.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Session");
        shown.field("account", &self.account).field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// Why a token opens no session.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Unknown, revoked, expired or malformed: one answer for all.
    #[error("this token does not work; `compass token create` makes a new one")]
    Refused,
    /// An agent's token, or a runner's.
    #[error("this page is for people, and this token is not a person's; sign in with one of your own")]
    NotAPerson,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Refused => ErrorKind::Unauthenticated,
            Self::NotAPerson => ErrorKind::PermissionDenied,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Trades a one-time sign-in secret for a session; of two that try at the same time one gets it.
///
/// # Errors
///
/// [`sign_in::Error`] if the secret does not work, or storage fails.
pub async fn open_with_sign_in(comms: &Comms, secret: &str) -> Result<Session, sign_in::Error> {
    let Spent { tenant, unit, account } = spend(comms, secret).await?;
    Ok(open(comms, &tenant, unit, account, None).await?)
}

/// Opens a session for the person a token stands for. The token stays as it is: neither ends the other, but a
/// session ends no later than the token it was opened with would have.
///
/// # Errors
///
/// [`Error`] if the token does not work or is no person's, or storage fails.
pub async fn open_with_token(comms: &Comms, token: &str) -> Result<Session, Error> {
    let caller = person(comms, token).await?;
    let hash = value::parse(token).ok_or(Error::Refused)?;
    let mut unit = comms.storage.begin(&caller.tenant).await?;
    let row = unit.tokens().find_by_hash(&hash).await?.ok_or(Error::Refused)?;
    Ok(open(comms, &caller.tenant, unit, caller.actor.id, row.expires_at).await?)
}

/// Ends a session; one that has ended, or never was one, stays as it is.
///
/// # Errors
///
/// [`StorageError`] if storage fails; the session may go on then.
pub async fn close(comms: &Comms, token: &str) -> Result<(), StorageError> {
    let caller = match person(comms, token).await {
        Ok(caller) => caller,
        Err(Error::Refused | Error::NotAPerson) => return Ok(()),
        Err(Error::Storage(error)) => return Err(error),
    };
    match revoke_value(comms, &caller, token).await {
        Ok(()) | Err(revoke::Error::NotFound | revoke::Error::NotAllowed) => Ok(()),
        Err(revoke::Error::Storage(error)) => Err(error),
    }
}

async fn person(comms: &Comms, token: &str) -> Result<Caller, Error> {
    match authenticate(comms, token).await {
        Ok(Principal::Account(caller)) if !caller.actor.is_agent() => Ok(caller),
        Ok(Principal::Account(_) | Principal::Runner { .. }) => Err(Error::NotAPerson),
        Err(authenticate::Error::Unauthenticated) => Err(Error::Refused),
        Err(authenticate::Error::Storage(error)) => Err(Error::Storage(error)),
    }
}

async fn open(
    comms: &Comms,
    tenant: &TenantId,
    mut unit: Box<dyn UnitOfWork>,
    account: AccountId,
    no_later: Option<UnixMillis>,
) -> Result<Session, StorageError> {
    let now = comms.clock.now();
    let end = UnixMillis(now.0.saturating_add(SESSION_LIFETIME_MS));
    let expires_at = no_later.map_or(end, |no_later| no_later.min(end));
    let issued = store(comms, &mut *unit, Subject::Account(account), now, Some(expires_at)).await?;
    comms.finish(tenant, unit, Vec::new()).await?;
    Ok(Session { token: issued.token, account, expires_at })
}
