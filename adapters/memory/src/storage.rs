//! The store: the rows in force, and the lock that one unit of work or one batch holds at a time.

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use compass_comms::ports::{ReadUnit, Storage, TokenHash, TokenRow, UnitOfWork};
use compass_domain::TenantId;
use compass_ports::{Clock, StorageError};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::{reads::Snapshot, rows::World, unit::Unit};

/// Storage of a process that keeps nothing on disk. Copies share their rows.
#[derive(Clone)]
pub struct MemoryStorage {
    store: Arc<Store>,
    /// By it leases run out and messages age.
    pub(crate) clock: Arc<dyn Clock>,
}

pub(crate) struct Store {
    current: RwLock<Arc<World>>,
    turn: Arc<Mutex<()>>,
}

/// The right to change the rows, and the copy that is changed; dropping it keeps nothing.
pub(crate) struct Turn {
    store: Arc<Store>,
    pub(crate) world: World,
    _guard: OwnedMutexGuard<()>,
}

impl MemoryStorage {
    /// A store with the tenant of a fresh install and no rows.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let current = RwLock::new(Arc::new(World::new()));
        Self { store: Arc::new(Store { current, turn: Arc::new(Mutex::new(())) }), clock }
    }

    /// The rows in force.
    pub(crate) fn world(&self) -> Arc<World> {
        self.store.world()
    }

    /// Waits for the right to change the rows.
    pub(crate) async fn turn(&self) -> Turn {
        let guard = Arc::clone(&self.store.turn).lock_owned().await;
        let world = World::clone(&self.world());
        Turn { store: Arc::clone(&self.store), world, _guard: guard }
    }
}

impl Store {
    fn world(&self) -> Arc<World> {
        // Only a pointer is swapped under this lock, so a poisoned one is whole.
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Turn {
    /// Puts the changed rows in force; the turn goes on.
    pub(crate) fn keep(&mut self) {
        let world = Arc::new(self.world.clone());
        *self.store.current.write().unwrap_or_else(PoisonError::into_inner) = world;
    }
}

#[async_trait]
impl Storage for MemoryStorage {
    async fn read(&self, tenant: &TenantId) -> Result<Box<dyn ReadUnit>, StorageError> {
        Ok(Box::new(Snapshot::new(self.world().tenant(tenant))))
    }

    async fn begin(&self, tenant: &TenantId) -> Result<Box<dyn UnitOfWork>, StorageError> {
        Ok(Box::new(Unit::new(self.turn().await, tenant.clone())))
    }

    async fn find_token(&self, hash: &TokenHash) -> Result<Option<(TenantId, TokenRow)>, StorageError> {
        Ok(self.find_tokens(&[*hash]).await?.pop())
    }

    async fn find_tokens(&self, hashes: &[TokenHash]) -> Result<Vec<(TenantId, TokenRow)>, StorageError> {
        let world = self.world();
        let found = hashes.iter().filter_map(|hash| {
            let (tenant, id) = world.token_hashes.get(hash)?;
            let row = world.tenants.get(tenant)?.tokens.find(*id)?;
            Some((tenant.clone(), row.clone()))
        });
        Ok(found.collect())
    }

    async fn tenants(&self) -> Result<Vec<TenantId>, StorageError> {
        Ok(self.world().tenants.keys().cloned().collect())
    }
}
