//! The event bus: a hint after the commit, with a bounded replay.

use std::sync::Arc;

use async_trait::async_trait;
use compass_domain::{Event, TenantId, UnixMillis};

/// Events a bus retains for replay, per tenant.
pub const RETAINED: usize = 1024;

/// An event as the bus numbered it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// From 1, one more per event of the tenant.
    pub seq: u64,
    /// When it was published.
    pub at: UnixMillis,
    /// Whose.
    pub tenant: TenantId,
    /// What happened.
    pub event: Event,
}

/// From where a subscriber wants to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// Everything the bus retains, then what comes.
    Start,
    /// What came after `seq` in this life of the bus.
    After {
        /// The last seq the subscriber saw; at least 1.
        seq: u64,
        /// The epoch it saw it in.
        epoch: u64,
    },
}

/// The asked place is not retained, or is from another life of the bus: read a snapshot and start over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the asked events are not retained")]
pub struct Underflow;

/// What a subscription has next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// An event.
    Event(Arc<Published>),
    /// The subscriber was too slow and missed events; the subscription is over.
    Lagged,
    /// The bus closed; the subscription is over.
    Closed,
}

/// Publishes after commit and replays a bounded past without gap or duplicate.
pub trait EventBus: Send + Sync {
    /// Numbers and hands out the events of one commit, adjacent and in order. Only enqueues; never blocks.
    fn publish(&self, tenant: &TenantId, events: Vec<Event>);

    /// Subscribes to one tenant: the replay, then what comes.
    ///
    /// # Errors
    ///
    /// [`Underflow`] if the place is not retained, not reached yet, or of another epoch.
    fn subscribe(&self, tenant: &TenantId, since: Since) -> Result<Box<dyn Subscription>, Underflow>;

    /// Subscribes to what comes from now on, of every tenant.
    fn tap(&self) -> Box<dyn Subscription>;

    /// A number that is raised by every published event that may change who sees what, before anyone gets it.
    /// A closed bus has the highest.
    fn access_version(&self, tenant: &TenantId) -> u64;

    /// Raises the access version, because something that nobody could tell of may have changed.
    fn raise_access(&self, tenant: &TenantId);

    /// A random non-zero number of this life of the bus.
    fn epoch(&self) -> u64;

    /// Ends every subscription with [`Next::Closed`].
    fn close(&self);
}

/// One subscriber's view of the bus.
#[async_trait]
pub trait Subscription: Send {
    /// Waits for the next event; safe to drop while waiting.
    async fn next(&mut self) -> Next;
}
