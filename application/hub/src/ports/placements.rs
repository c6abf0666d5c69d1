//! Which runner keeps which agent in which container, and how its starts went.

use async_trait::async_trait;
use compass_domain::{AccountId, TenantId, UnixMillis, WakePolicy};
use compass_ports::StorageError;

/// An agent that is placed, or placed elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPlacement {
    /// Which agent.
    pub account: AccountId,
    /// On which runner.
    pub runner: String,
    /// In which container of it.
    pub container: String,
    /// For what it is woken; none keeps what was set before, or the default.
    pub wake: Option<WakePolicy>,
}

/// Where an agent is placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Which agent.
    pub account: AccountId,
    /// On which runner.
    pub runner: String,
    /// In which container of it.
    pub container: String,
    /// For what it is woken.
    pub wake: WakePolicy,
    /// Until when a wake that was claimed keeps others away.
    pub wake_until: Option<UnixMillis>,
    /// Starts that failed in a row.
    pub wake_failures: u32,
    /// Before that time it is not woken again.
    pub wake_not_before: Option<UnixMillis>,
    /// What the last failed start said.
    pub wake_error: Option<String>,
    /// Since when it is placed there.
    pub placed_at: UnixMillis,
}

/// Placements and the claims on their agents' starts, all by the database's clock.
#[async_trait]
pub trait Placements: Send + Sync {
    /// Places an agent, in place of an earlier placement; claims and failures begin anew.
    ///
    /// # Errors
    ///
    /// [`StorageError::Conflict`] if the container belongs to another agent.
    async fn upsert(&self, tenant: &TenantId, placement: &NewPlacement) -> Result<(), StorageError>;

    /// An agent's placement.
    async fn find(&self, tenant: &TenantId, account: AccountId) -> Result<Option<Placement>, StorageError>;

    /// The placement that holds a container.
    async fn find_container(
        &self,
        tenant: &TenantId,
        container: &str,
    ) -> Result<Option<Placement>, StorageError>;

    /// A runner's placements, by agent.
    async fn of_runner(&self, tenant: &TenantId, runner: &str) -> Result<Vec<Placement>, StorageError>;

    /// All placements of a tenant, by agent.
    async fn list(&self, tenant: &TenantId) -> Result<Vec<Placement>, StorageError>;

    /// Takes an agent's placement away; without one nothing happens.
    async fn remove(&self, tenant: &TenantId, account: AccountId) -> Result<(), StorageError>;

    /// Sets for what agents are woken; one that is not placed on this runner is left alone.
    async fn set_wake_policies(
        &self,
        tenant: &TenantId,
        runner: &str,
        policies: &[(AccountId, WakePolicy)],
    ) -> Result<(), StorageError>;

    /// The agents placed on these runners that sleep, may be started now, and are owed something ready for which
    /// their policy wakes them.
    async fn due_wakes(&self, tenant: &TenantId, runners: &[String]) -> Result<Vec<AccountId>, StorageError>;

    /// Claims the start of a sleeping agent for `for_ms`. False if it is not placed, is never woken, has a live
    /// session of any kind, is claimed already, or has to wait after a failure.
    async fn claim_wake(
        &self,
        tenant: &TenantId,
        account: AccountId,
        for_ms: u32,
    ) -> Result<bool, StorageError>;

    /// Ends a claim. A success forgets earlier failures; a failure keeps a bounded text of its error and makes the
    /// agent wait for longer each time.
    async fn wake_done(
        &self,
        tenant: &TenantId,
        account: AccountId,
        outcome: Result<(), &str>,
    ) -> Result<(), StorageError>;
}
