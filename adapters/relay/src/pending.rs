//! The one list of RPCs and relayed calls that this server does not offer.

use compass_proto::v1::CommsCallError;
use tonic::Status;

use crate::status;

/// RPCs that answer UNIMPLEMENTED, as `service/method` without the package.
pub const RPCS: &[&str] = &[
    "CommsService/UpdateTopic",
    "CommsService/SearchMessages",
    "CompassService/SubscribeEvents",
    "CompassService/ProvisionAgentWorkspace",
    "CompassService/StartAgentSession",
    "CompassService/SpawnAgent",
    "CompassService/StopAgentSession",
    "CompassService/RemoveAgentWorkspace",
    "CompassService/ReloadAgentSession",
    "CompassService/GetAgentStatus",
    "CompassService/SubscribeAgentSession",
    "InboxService/ReadPositions",
    "InboxService/MarkRead",
];

/// Arms of the relayed call that answer `unimplemented`, by their names on the wire.
pub const ARMS: &[&str] = &["list_topics"];

/// The answer of an RPC of [`RPCS`].
pub(crate) fn rpc<T>(name: &'static str) -> Result<T, Status> {
    debug_assert!(RPCS.contains(&name), "{name} is not on the list");
    Err(status::unimplemented(name))
}

/// The answer of an arm of [`ARMS`].
pub(crate) fn arm(name: &'static str) -> CommsCallError {
    debug_assert!(ARMS.contains(&name), "{name} is not on the list");
    status::call_unimplemented(name)
}
