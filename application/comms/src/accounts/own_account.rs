//! Tells a caller who it is.

use compass_domain::{Account, Corrupt};
pub use compass_ports::StorageError as Error;

use crate::{Caller, Comms};

/// The caller's own account.
///
/// # Errors
///
/// [`Error`] if it cannot be read.
pub async fn own_account(comms: &Comms, caller: &Caller) -> Result<Account, Error> {
    let own = comms.storage.read(&caller.tenant).await?.find_account(caller.actor.id).await?;
    own.ok_or_else(|| Corrupt::new(format!("account {} has no row", caller.actor.id)).into())
}
