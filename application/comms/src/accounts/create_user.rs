//! Creates a person's account.

use std::sync::Arc;

use compass_domain::{
    Account, AccountKind, Classified, ErrorKind, Event, Handle, UserRole,
    account::{HandleError, check_display_name},
    limits::LimitError,
};
use compass_ports::StorageError;

use crate::{Caller, Comms};

/// A new person.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CreateUser {
    /// Unique over all kinds of accounts.
    pub handle: String,
    /// May be empty.
    pub display_name: String,
}

/// Why a person is not created.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller is no admin.
    #[error("only an admin may create a user")]
    NotAdmin,
    /// The handle breaks a rule.
    #[error(transparent)]
    Handle(#[from] HandleError),
    /// The display name is too long.
    #[error(transparent)]
    DisplayName(#[from] LimitError),
    /// Another account has the handle.
    #[error("handle {0:?} is taken")]
    HandleTaken(String),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAdmin => ErrorKind::PermissionDenied,
            Self::Handle(_) | Self::DisplayName(_) => ErrorKind::InvalidArgument,
            Self::HandleTaken(_) => ErrorKind::Conflict,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Creates a person with the member role.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it; nothing is stored then.
pub async fn create_user(comms: &Comms, caller: &Caller, create: CreateUser) -> Result<Account, Error> {
    if !caller.actor.is_admin() {
        return Err(Error::NotAdmin);
    }
    let handle = Handle::parse_new(&create.handle)?;
    check_display_name(&create.display_name)?;
    let account = Account {
        id: comms.ids.account(),
        handle,
        display_name: create.display_name,
        kind: AccountKind::User { role: UserRole::Member },
    };
    let mut unit = comms.storage.begin(&caller.tenant).await?;
    unit.accounts().insert(&account).await.map_err(|error| taken(error, &account))?;
    let events = vec![Event::AccountChanged(Arc::new(account.clone()))];
    comms.finish(&caller.tenant, unit, events).await?;
    Ok(account)
}

fn taken(error: StorageError, account: &Account) -> Error {
    match error {
        StorageError::Conflict(_) => Error::HandleTaken(account.handle.as_str().to_owned()),
        other => other.into(),
    }
}
