//! Home channels of agents, which never change once an agent exists.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use compass_domain::{AccountId, ChannelId};

use crate::Caller;

/// Homes that are remembered at the most; then all are forgotten.
const KEPT_MAX: usize = 16_384;

/// Homes as they were read. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Homes {
    known: Arc<Mutex<HashMap<AccountId, ChannelId>>>,
}

impl Homes {
    /// The caller's home, if it was read before.
    pub(crate) fn recall(&self, caller: &Caller) -> Option<ChannelId> {
        self.known().get(&caller.actor.id).copied()
    }

    /// Remembers the caller's home.
    pub(crate) fn remember(&self, caller: &Caller, home: ChannelId) {
        let mut known = self.known();
        if known.len() >= KEPT_MAX {
            known.clear();
        }
        known.insert(caller.actor.id, home);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<AccountId, ChannelId>> {
        // Whatever a panic left behind is at worst an entry too few.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        channels::resolve::{ChannelRef, resolve},
        testing::{agent, caller, ports_over, unreachable_storage},
    };

    #[tokio::test]
    async fn a_home_that_was_read_is_not_read_again() {
        let comms = ports_over(unreachable_storage()).await;
        let bot = caller(agent(1));
        resolve(&comms, &bot, &ChannelRef::Home).await.unwrap_err();
        let home = ChannelId::from_bytes([1; 16]);
        comms.homes.remember(&bot, home);
        assert_eq!(resolve(&comms, &bot, &ChannelRef::Home).await.unwrap(), home);
    }

    #[test]
    fn homes_are_per_account_and_bounded() {
        let homes = Homes::default();
        let home = |number| ChannelId::from_bytes([number; 16]);
        homes.remember(&caller(agent(1)), home(1));
        homes.remember(&caller(agent(2)), home(2));
        assert_eq!(homes.recall(&caller(agent(1))), Some(home(1)));
        assert_eq!(homes.recall(&caller(agent(3))), None);
        homes
            .known()
            .extend((0..KEPT_MAX as u128).map(|id| (AccountId::from_bytes(id.to_be_bytes()), home(9))));
        homes.remember(&caller(agent(3)), home(3));
        assert_eq!((homes.recall(&caller(agent(3))), homes.known().len()), (Some(home(3)), 1));
    }
}
