//! The composition root: which adapter stands behind which port.

use std::{num::NonZeroU64, sync::Arc};

use compass_comms::{Comms, channels::Homes, ports::Storage};
use compass_hub::{
    Hub, HubPorts,
    ports::{Audience, Ledger, Overview, Placements},
};
use compass_memory::{MemoryBus, MemoryStorage, MemoryWriter};
use compass_ports::{Clock, EventBus, Ids, Turns, Writer};
use compass_relay::runner::RunnerLanes;
use compass_seaorm::{Options, SeaStorage, SeaWriter};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    failure::Failure,
    system::{SystemClock, SystemIds},
};

/// The parts of a server, put together and not yet running.
pub(crate) struct App {
    /// Conversation.
    pub(crate) comms: Comms,
    /// Sessions and delivery.
    pub(crate) hub: Arc<Hub>,
    /// The streams of runners.
    pub(crate) lanes: Arc<RunnerLanes>,
    /// Every task of the server.
    pub(crate) tasks: TaskTracker,
    /// Ends the tasks of hub and writer.
    pub(crate) stop: CancellationToken,
    database: Option<SeaStorage>,
}

/// What differs between the two modes.
struct Stores {
    storage: Arc<dyn Storage>,
    writer: Arc<dyn Writer>,
    ledger: Arc<dyn Ledger>,
    audience: Arc<dyn Audience>,
    placements: Arc<dyn Placements>,
    overview: Arc<dyn Overview>,
    database: Option<SeaStorage>,
}

/// What both modes share.
struct Shared {
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    bus: Arc<dyn EventBus>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Shared {
    fn new() -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let ids: Arc<dyn Ids> = Arc::new(SystemIds);
        let random = ids.random();
        let number = random.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        let epoch = NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN);
        let bus = Arc::new(MemoryBus::new(epoch, Arc::clone(&clock)));
        Self { clock, ids, bus, tasks: TaskTracker::new(), stop: CancellationToken::new() }
    }
}

/// A server on a database.
///
/// # Errors
///
/// [`Failure::Usage`] if the database cannot be used as it is.
pub(crate) async fn production(url: String, allow_unsafe_durability: bool) -> Result<App, Failure> {
    let shared = Shared::new();
    let options = Options { allow_unsafe_durability, ..Options::new(url) };
    let storage = SeaStorage::connect(options).await.map_err(|error| Failure::Usage(error.to_string()))?;
    let bus = Arc::clone(&shared.bus);
    let writer = SeaWriter::start(&storage, bus, &shared.tasks, shared.stop.clone());
    let stores = Stores {
        storage: Arc::new(storage.clone()),
        writer: Arc::new(writer),
        ledger: Arc::new(storage.clone()),
        audience: Arc::new(storage.clone()),
        placements: Arc::new(storage.clone()),
        overview: Arc::new(storage.clone()),
        database: Some(storage),
    };
    Ok(app(shared, stores))
}

/// A server that keeps everything in memory.
pub(crate) fn in_memory() -> App {
    let shared = Shared::new();
    let storage = MemoryStorage::new(Arc::clone(&shared.clock));
    let bus = Arc::clone(&shared.bus);
    let writer = MemoryWriter::start(storage.clone(), bus, &shared.tasks, shared.stop.clone());
    let stores = Stores {
        storage: Arc::new(storage.clone()),
        writer: Arc::new(writer),
        ledger: Arc::new(storage.clone()),
        audience: Arc::new(storage.clone()),
        placements: Arc::new(storage.clone()),
        overview: Arc::new(storage),
        database: None,
    };
    app(shared, stores)
}

fn app(shared: Shared, stores: Stores) -> App {
    let Shared { clock, ids, bus, tasks, stop } = shared;
    let lanes = Arc::new(RunnerLanes::new());
    let hub = Hub::new(HubPorts {
        ledger: stores.ledger,
        audience: stores.audience,
        placements: stores.placements,
        overview: stores.overview,
        lanes: Arc::<RunnerLanes>::clone(&lanes),
        launcher: Arc::<RunnerLanes>::clone(&lanes),
        writer: Arc::clone(&stores.writer),
        bus: Arc::clone(&bus),
        clock: Arc::clone(&clock),
        ids: Arc::clone(&ids),
        tasks: tasks.clone(),
        stop: stop.clone(),
        node: ids.node(),
    });
    let comms = Comms {
        storage: stores.storage,
        writer: stores.writer,
        bus,
        presence: Arc::<Hub>::clone(&hub),
        clock,
        ids,
        tasks: tasks.clone(),
        homes: Homes::default(),
        turns: Turns::default(),
    };
    App { comms, hub, lanes, tasks, stop, database: stores.database }
}

impl App {
    /// Ends the tasks, waits for them, and closes the database.
    pub(crate) async fn close(self) {
        self.stop.cancel();
        self.comms.bus.close();
        self.tasks.close();
        self.tasks.wait().await;
        if let Some(database) = self.database {
            database.close().await;
        }
    }
}
