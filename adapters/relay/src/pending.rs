//! The one list of RPCs and relayed calls that this server does not offer.

/// RPCs that answer UNIMPLEMENTED, as `service/method` without the package.
pub const RPCS: &[&str] = &[];

/// Arms of the relayed call that answer `unimplemented`, by their names on the wire.
pub const ARMS: &[&str] = &[];
