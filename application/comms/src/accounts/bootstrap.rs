//! Brings a tenant to life: the built-in sender, the admin, and the admin's first sign-in.

use std::{fmt, sync::Arc};

use compass_domain::{
    Account, AccountKind, Classified, ErrorKind, Event, Handle, TenantId, UserRole, account::HandleError,
};
use compass_ports::StorageError;

use crate::{Comms, ports::UnitOfWork, tokens::issue::store_sign_in};

/// How the built-in sender is shown.
const SYSTEM_DISPLAY_NAME: &str = "Compass";

/// What a start needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bootstrap {
    /// The admin's handle; created if no account has it.
    pub admin_handle: String,
}

/// What a start found or made.
#[derive(Clone, PartialEq, Eq)]
pub struct Bootstrapped {
    /// The admin.
    pub admin: Account,
    /// A one-time sign-in secret, if the admin has no credential that works.
    pub sign_in: Option<String>,
}

// The secret stays out of logs.
impl fmt::Debug for Bootstrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bootstrapped").field("admin", &self.admin).finish_non_exhaustive()
    }
}

/// Why a tenant cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The admin's handle breaks a rule.
    #[error("the admin's handle cannot be used")]
    Handle(#[source] HandleError),
    /// The admin's handle belongs to an account that is no admin.
    #[error("handle {0:?} belongs to an account that is not an admin user")]
    NotAnAdmin(String),
    /// The built-in sender's handle belongs to another account.
    #[error("handle {0:?} belongs to an account that is not the built-in sender")]
    Squatter(String),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Handle(_) => ErrorKind::InvalidArgument,
            Self::NotAnAdmin(_) | Self::Squatter(_) => ErrorKind::Conflict,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Makes sure that the built-in sender and the admin exist; a repeat changes nothing.
///
/// A secret is minted if the admin is new, or has neither a token nor a sign-in that works.
///
/// # Errors
///
/// [`Error`] if one of the two handles is held by an account of another kind; nothing is stored then.
pub async fn bootstrap(
    comms: &Comms,
    tenant: &TenantId,
    bootstrap: Bootstrap,
) -> Result<Bootstrapped, Error> {
    let handle = Handle::parse_new(&bootstrap.admin_handle).map_err(Error::Handle)?;
    match attempt(comms, tenant, &handle).await {
        // Another server process of a fresh install came first; its rows are there now.
        Err(Error::Storage(StorageError::Conflict(_))) => attempt(comms, tenant, &handle).await,
        done => done,
    }
}

async fn attempt(comms: &Comms, tenant: &TenantId, handle: &Handle) -> Result<Bootstrapped, Error> {
    // Read first: while a unit of work is open another unit may have to wait for it.
    let can_sign_in = has_credential(comms, tenant, handle).await?;
    let mut events = Vec::new();
    let mut unit = comms.storage.begin(tenant).await?;
    seed_system(comms, &mut *unit, &mut events).await?;
    let admin = seed_admin(comms, &mut *unit, handle, &mut events).await?;
    let sign_in = if can_sign_in { None } else { Some(store_sign_in(comms, &mut *unit, admin.id).await?) };
    comms.finish(tenant, unit, events).await?;
    Ok(Bootstrapped { admin, sign_in })
}

async fn has_credential(comms: &Comms, tenant: &TenantId, handle: &Handle) -> Result<bool, Error> {
    let mut unit = comms.storage.read(tenant).await?;
    let Some(account) = unit.find_account_by_handle(handle).await? else { return Ok(false) };
    Ok(!unit.list_tokens(account.id, comms.clock.now()).await?.is_empty())
}

async fn seed_system(comms: &Comms, unit: &mut dyn UnitOfWork, events: &mut Vec<Event>) -> Result<(), Error> {
    let handle = Handle::system();
    match unit.accounts().find_by_handle(&handle).await? {
        Some(Account { kind: AccountKind::System, .. }) => Ok(()),
        Some(other) => Err(Error::Squatter(other.handle.as_str().to_owned())),
        None => {
            let display_name = SYSTEM_DISPLAY_NAME.to_owned();
            let id = comms.ids.account();
            insert(unit, Account { id, handle, display_name, kind: AccountKind::System }, events).await?;
            Ok(())
        }
    }
}

async fn seed_admin(
    comms: &Comms,
    unit: &mut dyn UnitOfWork,
    handle: &Handle,
    events: &mut Vec<Event>,
) -> Result<Account, Error> {
    match unit.accounts().find_by_handle(handle).await? {
        Some(account) if account.actor().is_admin() => Ok(account),
        Some(other) => Err(Error::NotAnAdmin(other.handle.as_str().to_owned())),
        None => {
            let kind = AccountKind::User { role: UserRole::Admin };
            let id = comms.ids.account();
            let (handle, display_name) = (handle.clone(), String::new());
            insert(unit, Account { id, handle, display_name, kind }, events).await
        }
    }
}

async fn insert(
    unit: &mut dyn UnitOfWork,
    account: Account,
    events: &mut Vec<Event>,
) -> Result<Account, Error> {
    unit.accounts().insert(&account).await?;
    events.push(Event::AccountChanged(Arc::new(account.clone())));
    Ok(account)
}
