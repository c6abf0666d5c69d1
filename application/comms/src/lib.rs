//! Use cases of the conversation: accounts, channels, topics, messages, asks, events.

use std::sync::Arc;

use compass_domain::{Actor, TenantId};
use compass_ports::{Clock, EventBus, Ids, PresenceSource, Turns, Writer};
use tokio_util::task::TaskTracker;

pub mod accounts;
pub mod asks;
pub mod channels;
pub mod events;
mod family;
pub mod groups;
pub mod handles;
pub mod messages;
pub mod ports;
pub mod relay_union;
#[cfg(test)]
mod testing;
pub mod tokens;
pub mod topics;
mod unit;

/// What every use case is given.
#[derive(Clone)]
pub struct Comms {
    /// Reads and rare writes.
    pub storage: Arc<dyn ports::Storage>,
    /// Hot writes.
    pub writer: Arc<dyn Writer>,
    /// Where events go after a commit.
    pub bus: Arc<dyn EventBus>,
    /// Presence for rosters and activity.
    pub presence: Arc<dyn PresenceSource>,
    /// Server time.
    pub clock: Arc<dyn Clock>,
    /// Ids and secrets.
    pub ids: Arc<dyn Ids>,
    /// Tasks that outlive a caller.
    pub tasks: TaskTracker,
    /// Home channels that were read before.
    pub homes: channels::Homes,
    /// The order of rare writes.
    pub turns: Turns,
}

/// Who calls, as a door found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Whose rows.
    pub tenant: TenantId,
    /// Which account.
    pub actor: Actor,
}
