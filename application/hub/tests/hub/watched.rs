//! The audience of the rows in memory, whose reads are counted and whose messages can be unreadable.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use compass_domain::{AccountId, ChannelId, Message, MessageId, TenantId, delivery::AgentMember};
use compass_hub::ports::{Audience, Labelled, Labels, Pending, PendingQuery, PinQuery, Pins};
use compass_memory::MemoryStorage;
use compass_ports::StorageError;
use tokio::sync::Semaphore;

pub(crate) struct WatchedAudience {
    pub(crate) rows: Arc<MemoryStorage>,
    pub(crate) corrupt: Mutex<HashSet<MessageId>>,
    /// How many pages of pins fail before one is read.
    pub(crate) failing_pins: AtomicUsize,
    pub(crate) pages: AtomicUsize,
    /// A page that was read waits for this before it is given.
    pub(crate) pages_gate: Semaphore,
    pub(crate) sets: AtomicUsize,
}

impl WatchedAudience {
    pub(crate) fn over(rows: Arc<MemoryStorage>) -> Self {
        Self {
            rows,
            corrupt: Mutex::default(),
            failing_pins: AtomicUsize::new(0),
            pages: AtomicUsize::new(0),
            pages_gate: Semaphore::new(1024),
            sets: AtomicUsize::new(0),
        }
    }

    pub(crate) fn spoil(&self, message: &Message) {
        self.corrupt.lock().unwrap().insert(message.id());
    }

    pub(crate) fn repair(&self) {
        self.corrupt.lock().unwrap().clear();
    }

    fn is_spoilt(&self, message: &Labelled) -> bool {
        self.corrupt.lock().unwrap().contains(&message.message.id())
    }

    /// Pages and sets that were read since the last call.
    pub(crate) fn reads(&self) -> (usize, usize) {
        (self.pages.swap(0, Ordering::Relaxed), self.sets.swap(0, Ordering::Relaxed))
    }
}

#[async_trait]
impl Audience for WatchedAudience {
    async fn members(
        &self,
        tenant: &TenantId,
        channel: ChannelId,
    ) -> Result<Arc<[AgentMember]>, StorageError> {
        self.rows.members(tenant, channel).await
    }

    async fn labelled(
        &self,
        tenant: &TenantId,
        message: MessageId,
    ) -> Result<Option<Arc<Labelled>>, StorageError> {
        self.rows.labelled(tenant, message).await
    }

    async fn labels(&self, tenant: &TenantId, message: &Message) -> Result<Labels, StorageError> {
        self.rows.labels(tenant, message).await
    }

    async fn pending(&self, tenant: &TenantId, query: &PendingQuery) -> Result<Pending, StorageError> {
        self.pages.fetch_add(1, Ordering::Relaxed);
        let mut page = self.rows.pending(tenant, query).await?;
        let (corrupt, items) = page.items.into_iter().partition(|item| self.is_spoilt(&item.message));
        page.items = items;
        page.corrupt = corrupt.iter().map(|item| item.message.message.id()).collect();
        drop(self.pages_gate.acquire().await.unwrap());
        Ok(page)
    }

    async fn owed(&self, tenant: &TenantId, accounts: &[AccountId]) -> Result<Vec<AccountId>, StorageError> {
        self.sets.fetch_add(1, Ordering::Relaxed);
        self.rows.owed(tenant, accounts).await
    }

    async fn pins(&self, tenant: &TenantId, query: &PinQuery) -> Result<Pins, StorageError> {
        let left = &self.failing_pins;
        if left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
            return Err(StorageError::Unavailable("no route".into()));
        }
        let mut page = self.rows.pins(tenant, query).await?;
        let (corrupt, messages) = page.messages.into_iter().partition(|pin| self.is_spoilt(pin));
        page.messages = messages;
        page.corrupt = corrupt.iter().map(|pin: &Arc<Labelled>| pin.message.id()).collect();
        Ok(page)
    }

    async fn with_open_asks(
        &self,
        tenant: &TenantId,
        accounts: &[AccountId],
    ) -> Result<Vec<AccountId>, StorageError> {
        self.rows.with_open_asks(tenant, accounts).await
    }
}
