//! Presence as others ask for it.

use std::collections::HashMap;

use async_trait::async_trait;
use compass_domain::{AccountId, Presence, TenantId};

use crate::StorageError;

/// Derives presence on read, from live session rows and open asks.
#[async_trait]
pub trait PresenceSource: Send + Sync {
    /// The presence of each account; one that is missing from the result is offline.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if the rows cannot be read.
    async fn presence_of(
        &self,
        tenant: &TenantId,
        accounts: &[AccountId],
    ) -> Result<HashMap<AccountId, Presence>, StorageError>;
}
