//! Storage that counts what is read from it.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use compass_comms::ports::{ReadUnit, Storage, TokenHash, TokenRow, UnitOfWork};
use compass_domain::TenantId;
use compass_ports::StorageError;

/// A storage that passes everything on to its inner one, and counts.
pub struct CountedStorage {
    inner: Arc<dyn Storage>,
    snapshots: AtomicUsize,
    token_reads: AtomicUsize,
}

impl CountedStorage {
    /// A storage of which nothing was read yet.
    pub fn over(inner: Arc<dyn Storage>) -> Self {
        Self { inner, snapshots: AtomicUsize::new(0), token_reads: AtomicUsize::new(0) }
    }

    /// How many snapshots were taken since this was asked last.
    pub fn take_snapshots(&self) -> usize {
        self.snapshots.swap(0, Ordering::SeqCst)
    }

    /// How many reads of many tokens there were since this was asked last.
    pub fn take_token_reads(&self) -> usize {
        self.token_reads.swap(0, Ordering::SeqCst)
    }
}

impl fmt::Debug for CountedStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CountedStorage(..)")
    }
}

#[async_trait]
impl Storage for CountedStorage {
    async fn read(&self, tenant: &TenantId) -> Result<Box<dyn ReadUnit>, StorageError> {
        self.snapshots.fetch_add(1, Ordering::SeqCst);
        // Others get their turn, so that all who read at once ask before the first has its answer.
        tokio::task::yield_now().await;
        self.inner.read(tenant).await
    }

    async fn begin(&self, tenant: &TenantId) -> Result<Box<dyn UnitOfWork>, StorageError> {
        self.inner.begin(tenant).await
    }

    async fn find_token(&self, hash: &TokenHash) -> Result<Option<(TenantId, TokenRow)>, StorageError> {
        self.inner.find_token(hash).await
    }

    async fn find_tokens(&self, hashes: &[TokenHash]) -> Result<Vec<(TenantId, TokenRow)>, StorageError> {
        self.token_reads.fetch_add(1, Ordering::SeqCst);
        self.inner.find_tokens(hashes).await
    }

    async fn tenants(&self) -> Result<Vec<TenantId>, StorageError> {
        self.inner.tenants().await
    }
}
