//! Lists the groups the caller may see.

use compass_domain::ChannelGroup;
pub use compass_ports::StorageError as Error;

use crate::{Caller, Comms};

/// Lists groups by name: those shared up to the top, the caller's own, and those of its owner.
///
/// # Errors
///
/// [`Error`] if they cannot be read.
pub async fn list_groups(comms: &Comms, caller: &Caller) -> Result<Vec<ChannelGroup>, Error> {
    comms.storage.read(&caller.tenant).await?.list_groups(caller.actor).await
}
