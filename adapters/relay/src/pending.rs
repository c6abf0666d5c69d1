//! The one list of RPCs and relayed calls that this server does not offer.

use compass_proto::v1::CommsCallError;
use tonic::Status;

use crate::status;

/// RPCs that answer UNIMPLEMENTED, as `service/method` without the package.
pub const RPCS: &[&str] = &[
    "CommsService/CreateChannelGroup",
    "CommsService/ListChannelGroups",
    "CommsService/ReparentAgent",
    "CommsService/SetChannelPolicy",
    "CommsService/GetRoster",
    "CommsService/UpdatePinnedBoard",
    "CompassService/SubscribeEvents",
    "CompassService/ProvisionAgentWorkspace",
    "CompassService/StartAgentSession",
    "CompassService/SpawnAgent",
    "CompassService/StopAgentSession",
    "CompassService/RemoveAgentWorkspace",
    "CompassService/ReloadAgentSession",
    "CompassService/GetAgentStatus",
    "CompassService/SubscribeAgentSession",
    "PeopleService/OpenDM",
    "PeopleService/JoinChannel",
];

/// Arms of the relayed call that answer `unimplemented`, by their names on the wire.
pub const ARMS: &[&str] =
    &["roster", "pin", "create_channel", "update_members", "create_channel_group", "open_dm"];

/// Fields whose use answers UNIMPLEMENTED.
pub const FIELDS: &[&str] = &["UpdateChannelMembersRequest.new_name"];

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

/// The answer to a use of a field of [`FIELDS`].
pub(crate) fn field<T>(name: &'static str) -> Result<T, Status> {
    debug_assert!(FIELDS.contains(&name), "{name} is not on the list");
    Err(status::unimplemented(name))
}
