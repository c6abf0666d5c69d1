//! Issues credentials: an account's token, a runner's token, a person's one-time sign-in.

use std::fmt;

use compass_domain::{
    Account, AccountId, AccountKind, Classified, ErrorKind, TokenId, UnixMillis,
    limits::{self, LimitError},
};
use compass_ports::StorageError;

use super::{
    access::{Access, access},
    value,
};
use crate::{
    Caller, Comms,
    ports::{Subject, TokenRow, UnitOfWork},
};

/// Milliseconds for which a one-time sign-in works: seven days.
pub const SIGN_IN_LIFETIME_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// A token that was just issued; its value is never shown again.
#[derive(Clone, PartialEq, Eq)]
pub struct Issued {
    /// The value that a client sends.
    pub token: String,
    /// The public id by which it is listed and revoked.
    pub id: TokenId,
}

// The value stays out of logs.
impl fmt::Debug for Issued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issued").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why a credential is not issued.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The account's tokens are not the caller's to issue.
    #[error("only an admin, or an agent's owner, may issue a token for an account")]
    NotAllowed,
    /// Only an admin issues runner tokens and sign-ins.
    #[error("only an admin may do this")]
    NotAdmin,
    /// The built-in sender cannot sign in.
    #[error("the system account cannot hold a token")]
    System,
    /// The account does not exist, or the caller may not see it.
    #[error("account not found")]
    AccountNotFound,
    /// A sign-in is for people.
    #[error("account {0} is not a user, only a user can sign in")]
    NotAUser(AccountId),
    /// A runner needs an id.
    #[error("runner_id is empty")]
    RunnerIdEmpty,
    /// An agent's own process is a runner under its account id, so no other runner may have one.
    #[error("runner_id {0:?} has the form of an account id, which is kept for agents")]
    RunnerIdReserved(String),
    /// The runner id is too long.
    #[error(transparent)]
    RunnerId(#[from] LimitError),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAllowed | Self::NotAdmin | Self::System => ErrorKind::PermissionDenied,
            Self::AccountNotFound => ErrorKind::NotFound,
            Self::NotAUser(_) | Self::RunnerIdEmpty | Self::RunnerIdReserved(_) | Self::RunnerId(_) => {
                ErrorKind::InvalidArgument
            }
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Issues a token for an account: by an admin for anyone but the built-in sender, by an owner for its agent.
///
/// # Errors
///
/// [`Error`] if the caller may not, or there is no such account.
pub async fn issue_account_token(
    comms: &Comms,
    caller: &Caller,
    account: AccountId,
) -> Result<Issued, Error> {
    if caller.actor.is_agent() {
        return Err(Error::NotAllowed);
    }
    let account = issuable(comms, caller, account).await?;
    issue(comms, caller, Subject::Account(account.id)).await
}

/// Issues a token for a runner; by an admin.
///
/// # Errors
///
/// [`Error`] if the caller is no admin, or the id cannot name a runner.
pub async fn issue_runner_token(comms: &Comms, caller: &Caller, runner_id: String) -> Result<Issued, Error> {
    require_admin(caller)?;
    if runner_id.is_empty() {
        return Err(Error::RunnerIdEmpty);
    }
    limits::check_bytes("runner_id", &runner_id, limits::ID_BYTES)?;
    if runner_id.parse::<AccountId>().is_ok() {
        return Err(Error::RunnerIdReserved(runner_id));
    }
    issue(comms, caller, Subject::Runner(runner_id)).await
}

/// Mints a one-time sign-in secret for a person; by an admin.
///
/// # Errors
///
/// [`Error`] if the caller is no admin, or the account is no person.
pub async fn create_sign_in(comms: &Comms, caller: &Caller, account: AccountId) -> Result<String, Error> {
    require_admin(caller)?;
    let account = issuable(comms, caller, account).await?;
    if !matches!(account.kind, AccountKind::User { .. }) {
        return Err(Error::NotAUser(account.id));
    }
    let mut unit = comms.storage.begin(&caller.tenant).await?;
    let secret = store_sign_in(comms, &mut *unit, account.id).await?;
    comms.finish(&caller.tenant, unit, Vec::new()).await?;
    Ok(secret)
}

/// Stores a one-time sign-in for a person and returns its secret.
pub(crate) async fn store_sign_in(
    comms: &Comms,
    unit: &mut dyn UnitOfWork,
    account: AccountId,
) -> Result<String, StorageError> {
    let now = comms.clock.now();
    let expires_at = Some(UnixMillis(now.0.saturating_add(SIGN_IN_LIFETIME_MS)));
    let issued = store(comms, unit, Subject::SignIn(account), now, expires_at).await?;
    Ok(issued.token)
}

/// Stores a token that works until it is revoked.
pub(super) async fn store_lasting(
    comms: &Comms,
    unit: &mut dyn UnitOfWork,
    subject: Subject,
) -> Result<Issued, StorageError> {
    store(comms, unit, subject, comms.clock.now(), None).await
}

async fn issue(comms: &Comms, caller: &Caller, subject: Subject) -> Result<Issued, Error> {
    let mut unit = comms.storage.begin(&caller.tenant).await?;
    let issued = store_lasting(comms, &mut *unit, subject).await?;
    comms.finish(&caller.tenant, unit, Vec::new()).await?;
    Ok(issued)
}

/// Stores a token that works until it is revoked or its end has come.
pub(super) async fn store(
    comms: &Comms,
    unit: &mut dyn UnitOfWork,
    subject: Subject,
    created_at: UnixMillis,
    expires_at: Option<UnixMillis>,
) -> Result<Issued, StorageError> {
    let (token, id) = (value::mint(comms), comms.ids.token());
    let hash = value::hash(&token);
    let row = TokenRow { id, hash, subject, created_at, expires_at, revoked_at: None };
    unit.tokens().insert(&row).await?;
    Ok(Issued { token, id })
}

async fn issuable(comms: &Comms, caller: &Caller, account: AccountId) -> Result<Account, Error> {
    let mut unit = comms.storage.read(&caller.tenant).await?;
    let account = match access(&mut *unit, caller.actor, account).await? {
        Access::Granted(account) => account,
        Access::Own(account) if caller.actor.is_admin() => account,
        Access::Own(_) | Access::Denied => return Err(Error::NotAllowed),
        Access::Unknown => return Err(Error::AccountNotFound),
    };
    if account.kind == AccountKind::System { Err(Error::System) } else { Ok(account) }
}

fn require_admin(caller: &Caller) -> Result<(), Error> {
    if caller.actor.is_admin() { Ok(()) } else { Err(Error::NotAdmin) }
}
