//! Lanes that keep what they were sent, runners that do what they are told, a ledger that may fail, and a clock that
//! passes as tokio's does.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use compass_domain::{
    AccountId, LifecycleState, MessageId, NodeId, SessionId, TenantId, UnixMillis, delivery::Lane,
};
use compass_hub::{
    ports::{
        Address, Command, Dispatch, Labelled, LaneError, Lanes, LaunchError, Launcher, Ledger, LiveSession,
        OpenSession, Outcome, Reported, StoredSession,
    },
    sessions::RunnerKey,
};
use compass_memory::MemoryStorage;
use compass_ports::{Clock, Ids, StorageError};
use tokio::{sync::mpsc, time::Instant};

/// What a lane was sent.
pub(crate) type Sent = (Lane, Arc<Labelled>);

#[derive(Default)]
pub(crate) struct FakeLanes {
    queues: Mutex<HashMap<SessionId, mpsc::UnboundedSender<Sent>>>,
    full: Mutex<HashSet<SessionId>>,
}

impl FakeLanes {
    /// Leads a session to a fresh queue.
    pub(crate) fn lead(&self, session: SessionId) -> mpsc::UnboundedReceiver<Sent> {
        let (queue, received) = mpsc::unbounded_channel();
        self.queues.lock().unwrap().insert(session, queue);
        received
    }

    pub(crate) fn set_full(&self, session: SessionId, full: bool) {
        let mut all = self.full.lock().unwrap();
        if full {
            all.insert(session)
        } else {
            all.remove(&session)
        };
    }
}

impl Lanes for FakeLanes {
    fn dispatch(&self, session: SessionId, dispatch: Dispatch) -> Result<(), LaneError> {
        if self.full.lock().unwrap().contains(&session) {
            return Err(LaneError::Full);
        }
        let queues = self.queues.lock().unwrap();
        let queue = queues.get(&session).ok_or(LaneError::Detached)?;
        queue.send((dispatch.lane, dispatch.message)).map_err(|_| LaneError::Detached)
    }

    fn is_attached(&self, session: SessionId) -> bool {
        self.queues.lock().unwrap().contains_key(&session)
    }
}

/// Runners that do what they are told, or refuse it.
pub(crate) struct FakeRunners {
    lanes: Arc<FakeLanes>,
    attached: Mutex<BTreeSet<String>>,
    pub(crate) sent: Mutex<Vec<Command>>,
    pub(crate) refusal: Mutex<Option<LaunchError>>,
    /// What runs, as a status tells it.
    pub(crate) running: Mutex<Vec<Reported>>,
    /// The answer to a start waits for this.
    pub(crate) start_gate: tokio::sync::Semaphore,
    /// A status waits for this.
    pub(crate) status_gate: tokio::sync::Semaphore,
    /// Nothing but a stop is answered.
    pub(crate) silent: AtomicBool,
    received: Mutex<HashMap<SessionId, mpsc::UnboundedReceiver<Sent>>>,
}

impl FakeRunners {
    pub(crate) fn over(lanes: Arc<FakeLanes>) -> Self {
        Self {
            lanes,
            attached: Mutex::default(),
            sent: Mutex::default(),
            refusal: Mutex::default(),
            running: Mutex::default(),
            start_gate: tokio::sync::Semaphore::new(1024),
            status_gate: tokio::sync::Semaphore::new(1024),
            silent: AtomicBool::new(false),
            received: Mutex::default(),
        }
    }

    pub(crate) fn attach(&self, runner: &str) {
        self.attached.lock().unwrap().insert(runner.to_owned());
    }

    pub(crate) fn detach(&self, runner: &str) {
        self.attached.lock().unwrap().remove(runner);
    }

    /// What a session that was started here received.
    pub(crate) fn take_received(&self, session: SessionId) -> mpsc::UnboundedReceiver<Sent> {
        self.received.lock().unwrap().remove(&session).expect("the session was started here")
    }
}

#[async_trait]
impl Launcher for FakeRunners {
    async fn send(&self, address: &Address, _: &str, command: Command) -> Result<Outcome, LaunchError> {
        if let Address::Runner(runner) = address
            && !self.attached.lock().unwrap().contains(&runner.name())
        {
            return Err(LaunchError::NotAttached);
        }
        self.sent.lock().unwrap().push(command.clone());
        if self.silent.load(Ordering::Relaxed) && !matches!(command, Command::Stop { .. }) {
            std::future::pending::<()>().await;
        }
        if let Some(refusal) = self.refusal.lock().unwrap().clone() {
            return Err(refusal);
        }
        Ok(match command {
            Command::Provision { account } => Outcome::Provisioned { container: account.to_string() },
            Command::Start { session, .. } => {
                drop(self.start_gate.acquire().await.unwrap());
                Outcome::Started { session: Some(session) }
            }
            Command::Stop { .. } => Outcome::Stopped,
            Command::Reload { .. } => Outcome::Reloaded,
            Command::Status { .. } => {
                let running = self.running.lock().unwrap().clone();
                drop(self.status_gate.acquire().await.unwrap());
                Outcome::Status(running)
            }
            Command::Remove { .. } => Outcome::Removed,
        })
    }

    fn attached(&self, _: &TenantId) -> Vec<String> {
        self.attached.lock().unwrap().iter().cloned().collect()
    }

    fn lead(&self, _: &RunnerKey, session: SessionId) {
        if !self.lanes.is_attached(session) {
            self.received.lock().unwrap().insert(session, self.lanes.lead(session));
        }
    }

    fn leave(&self, _: SessionId) {}
}

/// Server time that passes as tokio's does.
pub(crate) struct TokioClock(pub(crate) Instant);

impl Clock for TokioClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(1_700_000_000_000 + i64::try_from(self.0.elapsed().as_millis()).unwrap())
    }
}

pub(crate) struct CountedIds(pub(crate) AtomicU64);

impl CountedIds {
    fn next(&self) -> [u8; 16] {
        u128::from(self.0.fetch_add(1, Ordering::SeqCst)).to_be_bytes()
    }
}

impl Ids for CountedIds {
    fn ordered(&self) -> [u8; 16] {
        self.next()
    }

    fn random(&self) -> [u8; 16] {
        self.next()
    }

    fn secret(&self) -> [u8; 32] {
        let mut secret = [0; 32];
        secret[..16].copy_from_slice(&self.next());
        secret
    }
}

/// The ledger of the rows in memory, whose sessions cannot be read while it is down.
pub(crate) struct FlakyLedger {
    pub(crate) rows: Arc<MemoryStorage>,
    pub(crate) is_down: AtomicBool,
    /// No session can be opened.
    pub(crate) is_full: AtomicBool,
    /// What was left unrouted cannot be read.
    pub(crate) is_blind: AtomicBool,
}

#[async_trait]
impl Ledger for FlakyLedger {
    async fn renew_lease(&self, node: NodeId) -> Result<(), StorageError> {
        self.rows.renew_lease(node).await
    }

    async fn release(&self, node: NodeId) -> Result<(), StorageError> {
        self.rows.release(node).await
    }

    async fn open_session(
        &self,
        tenant: &TenantId,
        node: NodeId,
        session: &OpenSession,
    ) -> Result<(), StorageError> {
        if self.is_full.load(Ordering::Relaxed) {
            return Err(StorageError::Unavailable("no room".into()));
        }
        self.rows.open_session(tenant, node, session).await
    }

    async fn record_state(
        &self,
        tenant: &TenantId,
        session: SessionId,
        state: LifecycleState,
        number: u64,
    ) -> Result<bool, StorageError> {
        self.rows.record_state(tenant, session, state, number).await
    }

    async fn close_session(&self, tenant: &TenantId, session: SessionId) -> Result<(), StorageError> {
        self.rows.close_session(tenant, session).await
    }

    async fn find_sessions(
        &self,
        tenant: &TenantId,
        sessions: &[SessionId],
    ) -> Result<Vec<StoredSession>, StorageError> {
        self.rows.find_sessions(tenant, sessions).await
    }

    async fn live_sessions(
        &self,
        tenant: &TenantId,
        accounts: Option<&[AccountId]>,
    ) -> Result<Vec<LiveSession>, StorageError> {
        if self.is_down.load(Ordering::Relaxed) {
            return Err(StorageError::Unavailable("no route".into()));
        }
        self.rows.live_sessions(tenant, accounts).await
    }

    async fn unrouted(
        &self,
        node: NodeId,
        age_ms: u32,
        limit: u32,
    ) -> Result<Vec<(TenantId, MessageId, AccountId)>, StorageError> {
        if self.is_blind.load(Ordering::Relaxed) {
            return Err(StorageError::Unavailable("no route".into()));
        }
        self.rows.unrouted(node, age_ms, limit).await
    }
}
