//! The event bus of one process: a ring of retained events per tenant and a bounded buffer per subscriber.

use std::{
    collections::{HashMap, VecDeque},
    num::NonZeroU64,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use compass_domain::{Event, TenantId};
use compass_ports::{Clock, EventBus, Next, Published, RETAINED, Since, Subscription, Underflow};
use tokio::sync::broadcast::{self, error::RecvError};

/// Events a subscriber may be behind before it has lagged.
const LIVE_BUFFER: usize = 1024;

/// The bus of a server that is one node.
pub struct MemoryBus {
    epoch: NonZeroU64,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

/// Publishing and subscribing take the same lock, so a replay and what follows it have no gap.
struct State {
    tenants: HashMap<TenantId, Ring>,
    /// None once the bus is closed: dropping the senders ends every subscription.
    tap: Option<broadcast::Sender<Arc<Published>>>,
}

struct Ring {
    last_seq: u64,
    /// Raised by whatever may change who sees what.
    access: u64,
    retained: VecDeque<Arc<Published>>,
    live: broadcast::Sender<Arc<Published>>,
}

impl MemoryBus {
    /// An empty bus; `epoch` is random, so that a place in an earlier life is recognised.
    pub fn new(epoch: NonZeroU64, clock: Arc<dyn Clock>) -> Self {
        let (tap, _) = broadcast::channel(LIVE_BUFFER);
        Self { epoch, clock, state: Mutex::new(State { tenants: HashMap::new(), tap: Some(tap) }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here can panic half way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventBus for MemoryBus {
    fn publish(&self, tenant: &TenantId, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        let mut state = self.state();
        let State { tenants, tap: Some(tap) } = &mut *state else { return };
        if !tenants.contains_key(tenant) {
            tenants.insert(tenant.clone(), Ring::new());
        }
        let Some(ring) = tenants.get_mut(tenant) else { return };
        let at = self.clock.now();
        for event in events {
            let seq = ring.last_seq + 1;
            let published = Arc::new(Published { seq, at, tenant: tenant.clone(), event });
            ring.push(Arc::clone(&published));
            // Nobody listening is no failure.
            drop(tap.send(published));
        }
    }

    fn subscribe(&self, tenant: &TenantId, since: Since) -> Result<Box<dyn Subscription>, Underflow> {
        let mut state = self.state();
        if state.tap.is_none() {
            return Ok(Box::new(Reader::ended()));
        }
        let ring = state.tenants.entry(tenant.clone()).or_insert_with(Ring::new);
        let replay = match since {
            Since::Start => ring.retained.clone(),
            Since::After { seq, epoch } if epoch == self.epoch.get() => ring.after(seq)?,
            Since::After { .. } => return Err(Underflow),
        };
        Ok(Box::new(Reader { replay, live: Some(ring.live.subscribe()) }))
    }

    fn tap(&self) -> Box<dyn Subscription> {
        let live = self.state().tap.as_ref().map(broadcast::Sender::subscribe);
        Box::new(Reader { replay: VecDeque::new(), live })
    }

    fn access_version(&self, tenant: &TenantId) -> u64 {
        let state = self.state();
        match &state.tap {
            Some(_) => state.tenants.get(tenant).map_or(0, |ring| ring.access),
            // What was known before may be older than the end.
            None => u64::MAX,
        }
    }

    fn raise_access(&self, tenant: &TenantId) {
        let mut state = self.state();
        if state.tap.is_some() {
            state.tenants.entry(tenant.clone()).or_insert_with(Ring::new).access += 1;
        }
    }

    fn epoch(&self) -> u64 {
        self.epoch.get()
    }

    fn close(&self) {
        let mut state = self.state();
        state.tap = None;
        state.tenants.clear();
    }
}

impl Ring {
    fn new() -> Self {
        let (live, _) = broadcast::channel(LIVE_BUFFER);
        Self { last_seq: 0, access: 0, retained: VecDeque::with_capacity(RETAINED), live }
    }

    fn push(&mut self, published: Arc<Published>) {
        self.last_seq = published.seq;
        self.access += u64::from(published.event.changes_access());
        if self.retained.len() == RETAINED {
            self.retained.pop_front();
        }
        self.retained.push_back(Arc::clone(&published));
        // Nobody listening is no failure.
        drop(self.live.send(published));
    }

    fn after(&self, seq: u64) -> Result<VecDeque<Arc<Published>>, Underflow> {
        let oldest = self.retained.front().map_or(1, |published| published.seq);
        if seq > self.last_seq || oldest > seq.saturating_add(1) {
            return Err(Underflow);
        }
        Ok(self.retained.iter().filter(|published| published.seq > seq).cloned().collect())
    }
}

/// A replay, then the live buffer; without a buffer it has ended.
struct Reader {
    replay: VecDeque<Arc<Published>>,
    live: Option<broadcast::Receiver<Arc<Published>>>,
}

impl Reader {
    fn ended() -> Self {
        Self { replay: VecDeque::new(), live: None }
    }
}

#[async_trait]
impl Subscription for Reader {
    async fn next(&mut self) -> Next {
        if let Some(published) = self.replay.pop_front() {
            return Next::Event(published);
        }
        let Some(live) = &mut self.live else { return Next::Closed };
        match live.recv().await {
            Ok(published) => Next::Event(published),
            Err(RecvError::Closed) => {
                self.live = None;
                Next::Closed
            }
            Err(RecvError::Lagged(_)) => {
                self.live = None;
                Next::Lagged
            }
        }
    }
}
