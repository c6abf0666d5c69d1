//! Lists the channels the caller may see.

use compass_domain::Channel;
pub use compass_ports::StorageError as Error;

use crate::{Caller, Comms};

/// Lists channels by name: where the caller takes part, and ordinary ones of a shared group.
///
/// # Errors
///
/// [`Error`] if they cannot be read.
pub async fn list_channels(comms: &Comms, caller: &Caller) -> Result<Vec<Channel>, Error> {
    comms.storage.read(&caller.tenant).await?.list_channels(caller.actor).await
}
