//! The one list of RPCs and relayed calls that this server does not offer.

use tonic::Status;

use crate::status;

/// RPCs that answer UNIMPLEMENTED, as `service/method` without the package.
pub const RPCS: &[&str] = &[
    "CompassService/SubscribeEvents",
    "CompassService/ProvisionAgentWorkspace",
    "CompassService/StartAgentSession",
    "CompassService/SpawnAgent",
    "CompassService/StopAgentSession",
    "CompassService/RemoveAgentWorkspace",
    "CompassService/ReloadAgentSession",
    "CompassService/GetAgentStatus",
    "CompassService/SubscribeAgentSession",
];

/// Arms of the relayed call that answer `unimplemented`, by their names on the wire.
pub const ARMS: &[&str] = &[];

/// The answer of an RPC of [`RPCS`].
pub(crate) fn rpc<T>(name: &'static str) -> Result<T, Status> {
    debug_assert!(RPCS.contains(&name), "{name} is not on the list");
    Err(status::unimplemented(name))
}
