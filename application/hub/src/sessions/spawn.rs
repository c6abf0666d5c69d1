//! Places and starts an agent in one call that can be repeated.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use compass_domain::{Classified, ErrorKind, SessionId, TenantId};
use compass_ports::StorageError;
use tokio::{sync::OnceCell, time::Instant};

use super::{Provision, ProvisionError, StartError, Who};
use crate::{Hub, timing::lock};

/// For how long a success answers its repeats.
const REMEMBERED: Duration = Duration::from_mins(10);
/// Spawns that are remembered at the most; the oldest go first.
const KEPT_MAX: usize = 4096;

/// An agent that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spawned {
    /// In which session.
    pub session: SessionId,
    /// In which container.
    pub container: String,
}

/// Why an agent was not spawned.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SpawnError {
    /// It could not be placed.
    #[error(transparent)]
    Provision(#[from] ProvisionError),
    /// It could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
}

impl From<StorageError> for SpawnError {
    fn from(error: StorageError) -> Self {
        Self::Start(error.into())
    }
}

impl Classified for SpawnError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Provision(error) => error.kind(),
            Self::Start(error) => error.kind(),
        }
    }
}

type Key = (Who, String);

#[derive(Debug)]
struct Kept {
    since: Instant,
    spawned: Arc<OnceCell<Spawned>>,
}

/// Spawns in flight, and those that succeeded a while ago.
#[derive(Debug, Default)]
pub(crate) struct Spawns {
    kept: Mutex<HashMap<Key, Kept>>,
}

impl Spawns {
    /// The cell that all repeats of a spawn share. One that failed is empty, so the next repeat tries again.
    fn cell(&self, key: Key) -> Arc<OnceCell<Spawned>> {
        let now = Instant::now();
        let mut kept = lock(&self.kept);
        kept.retain(|_, entry| now.saturating_duration_since(entry.since) < REMEMBERED);
        if kept.len() >= KEPT_MAX
            && !kept.contains_key(&key)
            && let Some(oldest) = kept.iter().min_by_key(|(_, entry)| entry.since).map(|(key, _)| key.clone())
        {
            kept.remove(&oldest);
        }
        let entry = kept.entry(key).or_insert_with(|| Kept { since: now, spawned: Arc::default() });
        Arc::clone(&entry.spawned)
    }
}

impl Hub {
    /// Places an agent and starts it. A repeat with the same client request id joins the one in flight, and is
    /// answered from memory for ten minutes after a success; a failure is forgotten. Hanging up cancels nothing.
    ///
    /// # Errors
    ///
    /// [`SpawnError`]; an agent that is live already is a conflict.
    pub async fn spawn(&self, tenant: &TenantId, request: Provision) -> Result<Spawned, SpawnError> {
        let tenant = tenant.clone();
        let spawned = self.detached_from_caller(|hub| async move { hub.spawn_now(&tenant, request).await });
        spawned.await.unwrap_or(Err(StartError::Stopping.into()))
    }

    async fn spawn_now(&self, tenant: &TenantId, request: Provision) -> Result<Spawned, SpawnError> {
        if request.client_request_id.is_empty() {
            return self.spawn_once(tenant, request).await;
        }
        let key = ((tenant.clone(), request.account), request.client_request_id.clone());
        let cell = self.spawns.cell(key);
        cell.get_or_try_init(|| self.spawn_once(tenant, request)).await.cloned()
    }

    async fn spawn_once(&self, tenant: &TenantId, request: Provision) -> Result<Spawned, SpawnError> {
        let account = request.account;
        if let Some(session) = self.live_delivering(tenant, account).await? {
            return Err(StartError::AlreadyLive { session }.into());
        }
        let container = self.provision(tenant, request).await?;
        let session = self.start(tenant, account, None).await?;
        Ok(Spawned { session, container })
    }
}
