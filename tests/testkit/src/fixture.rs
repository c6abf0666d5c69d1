//! What an adapter hands to the contract suites.

use std::{any::Any, fmt, sync::Arc};

use compass_comms::ports::Storage;
use compass_hub::ports::{Audience, Ledger, Overview, Placements};
use compass_ports::{Clock, EventBus, Writer};

/// A fresh, empty store with the tenant of a fresh install, and everything that works on it.
pub struct Fixture {
    /// Reads and rare writes.
    pub storage: Arc<dyn Storage>,
    /// Hot writes; publishes to `bus`.
    pub writer: Arc<dyn Writer>,
    /// Another writer over the same rows, for races; as on another node or in another process.
    pub second: Arc<dyn Writer>,
    /// Sessions and leases of the same rows.
    pub ledger: Arc<dyn Ledger>,
    /// Recipients of the same rows.
    pub audience: Arc<dyn Audience>,
    /// Placements of the same rows.
    pub placements: Arc<dyn Placements>,
    /// Agents and messages of the same rows as an operator looks at them.
    pub overview: Arc<dyn Overview>,
    /// Where both writers publish.
    pub bus: Arc<dyn EventBus>,
    /// The clock by which the store judges ages; the machine's where a database has its own.
    pub clock: Arc<dyn Clock>,
    /// Dropped last: stops tasks, removes databases.
    pub guard: Box<dyn Any + Send + Sync>,
}

impl fmt::Debug for Fixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fixture").finish_non_exhaustive()
    }
}
