//! Accounts whose presence may have changed. Whoever marks one never waits.

use std::{collections::BTreeSet, sync::Mutex};

use compass_domain::{AccountId, TenantId};
use tokio::sync::Notify;

use crate::{sessions::Who, timing::lock};

/// The set of accounts to look at, each once.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    accounts: Mutex<BTreeSet<Who>>,
    wake: Notify,
}

impl Dirty {
    /// Marks an account.
    pub(crate) fn mark(&self, tenant: TenantId, account: AccountId) {
        lock(&self.accounts).insert((tenant, account));
        self.wake.notify_one();
    }

    /// Takes one account out; waits while there is none.
    pub(crate) async fn next(&self) -> Who {
        loop {
            if let Some(next) = lock(&self.accounts).pop_first() {
                return next;
            }
            self.wake.notified().await;
        }
    }
}
