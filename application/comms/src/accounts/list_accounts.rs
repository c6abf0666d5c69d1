//! Lists the accounts the caller may see.

use compass_domain::Account;
pub use compass_ports::StorageError as Error;

use crate::{Caller, Comms};

/// Lists the caller, every person, its own agents, and whoever shares a channel with it; by handle.
///
/// # Errors
///
/// [`Error`] if they cannot be read.
pub async fn list_accounts(comms: &Comms, caller: &Caller) -> Result<Vec<Account>, Error> {
    comms.storage.read(&caller.tenant).await?.list_accounts(caller.actor).await
}
