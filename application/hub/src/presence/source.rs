//! Presence as others ask for it: from session rows and open asks, on every read.

use std::collections::HashMap;

use async_trait::async_trait;
use compass_domain::{AccountId, LifecycleState, Presence, TenantId, presence::derive};
use compass_ports::{PresenceSource, StorageError};

use crate::Hub;

#[async_trait]
impl PresenceSource for Hub {
    async fn presence_of(
        &self,
        tenant: &TenantId,
        accounts: &[AccountId],
    ) -> Result<HashMap<AccountId, Presence>, StorageError> {
        if accounts.is_empty() {
            return Ok(HashMap::new());
        }
        let mut states: HashMap<AccountId, LifecycleState> = HashMap::new();
        for session in self.ports.ledger.live_sessions(tenant, Some(accounts)).await? {
            let state = states.entry(session.account).or_default();
            *state = stronger(*state, session.state);
        }
        let idle: Vec<AccountId> =
            states.iter().filter(|(_, state)| may_wait(**state)).map(|(account, _)| *account).collect();
        let asking = if idle.is_empty() {
            Vec::new()
        } else {
            self.ports.audience.with_open_asks(tenant, &idle).await?
        };
        let present = states.into_iter();
        Ok(present.map(|(account, state)| (account, derive(state, asking.contains(&account)))).collect())
    }
}

/// True if an open ask makes a difference.
fn may_wait(state: LifecycleState) -> bool {
    derive(state, true) != derive(state, false)
}

/// Of two sessions of one account the busier one counts.
fn stronger(a: LifecycleState, b: LifecycleState) -> LifecycleState {
    let rank = |state| match state {
        LifecycleState::Working => 3,
        LifecycleState::Ready => 2,
        LifecycleState::Starting => 1,
        LifecycleState::Stopped
        | LifecycleState::Errored
        | LifecycleState::Disconnected
        | LifecycleState::Unspecified => 0,
    };
    if rank(b) > rank(a) { b } else { a }
}
