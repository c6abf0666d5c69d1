//! Trades a one-time sign-in secret for a token.

use std::fmt;

use compass_domain::{AccountId, Classified, ErrorKind, TenantId};
use compass_ports::StorageError;

use super::{issue::store_lasting, value};
use crate::{
    Comms,
    ports::{Subject, UnitOfWork},
};

/// A person who signed in.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedIn {
    /// The value of the person's new token.
    pub token: String,
    /// Who.
    pub account: AccountId,
}

// The value stays out of logs.
impl fmt::Debug for SignedIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedIn").field("account", &self.account).finish_non_exhaustive()
    }
}

/// Why a secret is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Unknown, used, expired, revoked or malformed: one answer for all.
    #[error("the sign-in secret does not work; ask an admin for a new one")]
    Refused,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Refused => ErrorKind::Unauthenticated,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Trades a sign-in secret for a token, once; of two that try at the same time one gets it.
///
/// # Errors
///
/// [`Error`] if the secret does not work, or storage fails.
pub async fn trade_sign_in(comms: &Comms, secret: &str) -> Result<SignedIn, Error> {
    let Spent { tenant, mut unit, account } = spend(comms, secret).await?;
    let issued = store_lasting(comms, &mut *unit, Subject::Account(account)).await?;
    comms.finish(&tenant, unit, Vec::new()).await?;
    Ok(SignedIn { token: issued.token, account })
}

/// A secret that is used up once its unit of work is kept.
pub(super) struct Spent {
    pub(super) tenant: TenantId,
    pub(super) unit: Box<dyn UnitOfWork>,
    /// Who signs in.
    pub(super) account: AccountId,
}

/// Uses a secret up; whatever it is traded for is kept by the same unit of work, or the secret still works.
pub(super) async fn spend(comms: &Comms, secret: &str) -> Result<Spent, Error> {
    let hash = value::parse(secret).ok_or(Error::Refused)?;
    let now = comms.clock.now();
    let found = comms.storage.find_token(&hash).await?;
    let found = found.filter(|(_, row)| value::is_kept_by(&hash, row) && row.works_at(now));
    let Some((tenant, row)) = found else { return Err(Error::Refused) };
    let Subject::SignIn(account) = row.subject else { return Err(Error::Refused) };
    let mut unit = comms.storage.begin(&tenant).await?;
    if !unit.tokens().revoke(row.id, now).await? {
        return Err(Error::Refused);
    }
    Ok(Spent { tenant, unit, account })
}
