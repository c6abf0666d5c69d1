//! Live sessions as rows with leases, and the marks that delivery leaves.

use async_trait::async_trait;
use compass_domain::{AccountId, LifecycleState, MessageId, NodeId, SessionId, TenantId};
use compass_ports::StorageError;

/// Whether a session takes deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttachMode {
    /// It does.
    Deliveries,
    /// It only counts for presence and the settle gate.
    PresenceOnly,
}

/// A session row that is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenSession {
    /// Which.
    pub session: SessionId,
    /// Whose.
    pub account: AccountId,
    /// Through which runner.
    pub runner: String,
    /// Whether it takes deliveries.
    pub mode: AttachMode,
}

/// A session row whose node's lease has not run out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveSession {
    /// Which.
    pub session: SessionId,
    /// Whose.
    pub account: AccountId,
    /// Through which runner.
    pub runner: String,
    /// Held by which node.
    pub node: NodeId,
    /// Whether it takes deliveries.
    pub mode: AttachMode,
    /// The last state reported.
    pub state: LifecycleState,
    /// Number of that report; a lower one never replaces it.
    pub state_number: u64,
}

/// A session row, open or closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSession {
    /// Which.
    pub session: SessionId,
    /// Whose.
    pub account: AccountId,
    /// Through which runner.
    pub runner: String,
    /// Whether it takes deliveries.
    pub mode: AttachMode,
}

/// Session rows, node leases and routing marks.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Starts or renews this node's lease by the database's clock; 15 s from now.
    async fn renew_lease(&self, node: NodeId) -> Result<(), StorageError>;

    /// Ends this node's lease and closes its sessions.
    async fn release(&self, node: NodeId) -> Result<(), StorageError>;

    /// Opens a session on a node, in place of an earlier row of the same session.
    async fn open_session(
        &self,
        tenant: &TenantId,
        node: NodeId,
        session: &OpenSession,
    ) -> Result<(), StorageError>;

    /// Records a reported state unless a later one is recorded; false if it was not newer.
    async fn record_state(
        &self,
        tenant: &TenantId,
        session: SessionId,
        state: LifecycleState,
        number: u64,
    ) -> Result<bool, StorageError>;

    /// The rows of these sessions, open or closed, by id; one that was never opened has none.
    async fn find_sessions(
        &self,
        tenant: &TenantId,
        sessions: &[SessionId],
    ) -> Result<Vec<StoredSession>, StorageError>;

    /// Closes a session; closing twice is no error.
    async fn close_session(&self, tenant: &TenantId, session: SessionId) -> Result<(), StorageError>;

    /// The live sessions of the accounts, on any node; of all accounts if `accounts` is `None`.
    async fn live_sessions(
        &self,
        tenant: &TenantId,
        accounts: Option<&[AccountId]>,
    ) -> Result<Vec<LiveSession>, StorageError>;

    /// Unrouted messages older than `age_ms`, oldest first, whose author has no live session anywhere or one on
    /// this node; across tenants, because no caller waits for them.
    async fn unrouted(
        &self,
        node: NodeId,
        age_ms: u32,
        limit: u32,
    ) -> Result<Vec<(TenantId, MessageId, AccountId)>, StorageError>;
}
