//! Tokens that were checked a moment ago, by the hash of their values.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use compass_comms::tokens::authenticate::Principal;
use tokio::time::Instant;

/// How long a checked token is believed without asking storage again.
pub const BELIEVED: Duration = Duration::from_secs(5);
/// Tokens that are believed at the same time, at the most.
const REMEMBERED: usize = 4096;

/// SHA-256 of a token's value.
pub(crate) type Hash = [u8; 32];

/// What is believed. Every method holds its lock for a few map operations.
#[derive(Debug, Default)]
pub(crate) struct Believed {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Raised by every revocation, so that a check that began before it is not remembered.
    generation: u64,
    entries: HashMap<Hash, (Arc<Principal>, Instant)>,
}

impl Believed {
    /// Whom a token stands for if that is known, and the generation that a check beginning now belongs to.
    pub(crate) fn recall(&self, hash: &Hash) -> (Option<Arc<Principal>>, u64) {
        let state = self.state();
        let entry = state.entries.get(hash).filter(|(_, until)| Instant::now() < *until);
        (entry.map(|(principal, _)| Arc::clone(principal)), state.generation)
    }

    /// Believes a token for [`BELIEVED`], unless one was revoked since its check began.
    pub(crate) fn remember(&self, hash: Hash, principal: &Arc<Principal>, generation: u64) {
        let mut state = self.state();
        if state.generation != generation {
            return;
        }
        let now = Instant::now();
        if state.entries.len() >= REMEMBERED {
            state.entries.retain(|_, (_, until)| now < *until);
        }
        if state.entries.len() >= REMEMBERED {
            state.entries.clear();
        }
        state.entries.insert(hash, (Arc::clone(principal), now + BELIEVED));
    }

    /// Forgets everything, because a token was revoked.
    pub(crate) fn forget(&self) {
        let mut state = self.state();
        state.generation += 1;
        state.entries.clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Whatever a panic left behind is at worst an entry too few.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use compass_domain::TenantId;

    use super::*;

    fn principal() -> Arc<Principal> {
        Arc::new(Principal::Runner { tenant: TenantId::default_tenant(), runner: "r".into() })
    }

    fn hash(number: usize) -> Hash {
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&number.to_be_bytes());
        hash
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_is_believed_for_a_moment_only() {
        let believed = Believed::default();
        assert_eq!(believed.recall(&hash(1)), (None, 0));
        believed.remember(hash(1), &principal(), 0);
        tokio::time::advance(BELIEVED.saturating_sub(Duration::from_millis(1))).await;
        assert_eq!(believed.recall(&hash(1)).0, Some(principal()));
        assert_eq!(believed.recall(&hash(2)).0, None);
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(believed.recall(&hash(1)).0, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_revocation_forgets_and_voids_checks_that_began_before_it() {
        let believed = Believed::default();
        let (_, began) = believed.recall(&hash(1));
        believed.remember(hash(2), &principal(), began);
        believed.forget();
        believed.remember(hash(1), &principal(), began);
        assert_eq!(believed.recall(&hash(1)).0, None);
        let (none, began) = believed.recall(&hash(2));
        assert_eq!(none, None);
        believed.remember(hash(2), &principal(), began);
        assert!(believed.recall(&hash(2)).0.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn the_number_of_believed_tokens_is_bounded() {
        let believed = Believed::default();
        for number in 0..3 * REMEMBERED {
            believed.remember(hash(number), &principal(), 0);
            assert!(believed.state().entries.len() <= REMEMBERED);
        }
        assert!(believed.recall(&hash(3 * REMEMBERED - 1)).0.is_some(), "the newest is there");
    }
}
