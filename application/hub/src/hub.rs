//! The hub: what its parts share, and the tasks it runs.

use std::sync::{Arc, Weak};

use compass_domain::NodeId;
use compass_ports::{Clock, EventBus, Ids, StorageError, Writer};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    delivery::{Router, catch_up, consumer, router},
    notes::Notes,
    ports::{Audience, Lanes, Launcher, Ledger, Overview, Placements},
    presence::{Dirty, publisher},
    sessions::{Enrollments, Registry, Spawns, lease},
    wake::{self, Wakes},
};

/// What the hub is given.
#[derive(Clone)]
pub struct HubPorts {
    /// Session rows, leases and routing marks.
    pub ledger: Arc<dyn Ledger>,
    /// Who is owed what.
    pub audience: Arc<dyn Audience>,
    /// Which runner starts which agent.
    pub placements: Arc<dyn Placements>,
    /// What an operator looks at.
    pub overview: Arc<dyn Overview>,
    /// The streams to live sessions.
    pub lanes: Arc<dyn Lanes>,
    /// Commands to runners.
    pub launcher: Arc<dyn Launcher>,
    /// Acknowledgements and routing.
    pub writer: Arc<dyn Writer>,
    /// What is told after a commit.
    pub bus: Arc<dyn EventBus>,
    /// Server time.
    pub clock: Arc<dyn Clock>,
    /// Ids and the spread of timers.
    pub ids: Arc<dyn Ids>,
    /// Where every task of the hub runs.
    pub tasks: TaskTracker,
    /// Ends every task of the hub.
    pub stop: CancellationToken,
    /// This process.
    pub node: NodeId,
}

/// Live sessions of this node, what they are delivered, and their presence.
pub struct Hub {
    pub(crate) ports: HubPorts,
    pub(crate) registry: Registry,
    pub(crate) enrollments: Enrollments,
    pub(crate) router: Router,
    pub(crate) dirty: Dirty,
    pub(crate) notes: Arc<Notes>,
    pub(crate) wakes: Wakes,
    pub(crate) spawns: Spawns,
    /// For work that outlives its caller.
    pub(crate) me: Weak<Self>,
}

impl Hub {
    /// Puts the hub together; nothing runs before [`Hub::run`].
    pub fn new(ports: HubPorts) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            ports,
            registry: Registry::default(),
            enrollments: Enrollments::default(),
            router: Router::default(),
            dirty: Dirty::default(),
            notes: Arc::default(),
            wakes: Wakes::default(),
            spawns: Spawns::default(),
            me: me.clone(),
        })
    }

    /// Takes this node's lease and spawns the hub's tasks: lease renewal, consumer, router, catch-up, wakes and
    /// presence publisher. What is posted after it returns is delivered.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if the lease cannot be taken; no task was spawned.
    pub async fn run(self: &Arc<Self>) -> Result<(), StorageError> {
        self.ports.ledger.renew_lease(self.ports.node).await?;
        let tasks = &self.ports.tasks;
        // Both readers of the bus subscribe before anything can be posted.
        tasks.spawn(consumer::run(Arc::clone(self), self.ports.bus.tap()));
        tasks.spawn(publisher::run(Arc::clone(self), self.ports.bus.tap()));
        tasks.spawn(router::run(Arc::clone(self)));
        tasks.spawn(catch_up::run(Arc::clone(self)));
        tasks.spawn(lease::run(Arc::clone(self)));
        tasks.spawn(wake::run(Arc::clone(self)));
        Ok(())
    }
}
