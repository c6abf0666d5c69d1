//! Accounts whose presence may have changed. Whoever marks one never waits.

use std::{collections::BTreeSet, sync::Mutex, time::Duration};

use compass_domain::{AccountId, TenantId};
use tokio::{sync::Notify, time::Instant};

use crate::{sessions::Who, timing::lock};

/// How long marks gather after the first one, so that one read looks at all of them.
const TOGETHER: Duration = Duration::from_millis(25);

#[derive(Debug, Default)]
struct Marks {
    accounts: BTreeSet<Who>,
    /// When the first of them is to be looked at.
    due: Option<Instant>,
}

/// The set of accounts to look at, each once.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    marks: Mutex<Marks>,
    wake: Notify,
}

impl Dirty {
    /// Marks an account.
    pub(crate) fn mark(&self, tenant: TenantId, account: AccountId) {
        let mut marks = lock(&self.marks);
        marks.accounts.insert((tenant, account));
        marks.due.get_or_insert_with(|| Instant::now() + TOGETHER);
        drop(marks);
        self.wake.notify_one();
    }

    /// Takes all accounts that were marked, by tenant; waits while there is none.
    pub(crate) async fn next(&self) -> BTreeSet<Who> {
        loop {
            let due = lock(&self.marks).due;
            match due {
                None => self.wake.notified().await,
                Some(at) if at > Instant::now() => tokio::time::sleep_until(at).await,
                Some(_) => {
                    let mut marks = lock(&self.marks);
                    marks.due = None;
                    return std::mem::take(&mut marks.accounts);
                }
            }
        }
    }
}
