//! Tenants in which someone may have to be started. Whoever names one never waits.

use std::{collections::BTreeSet, sync::Mutex, time::Duration};

use compass_domain::TenantId;
use tokio::{sync::Notify, time::Instant};

use crate::timing::lock;

/// How long suggestions gather, so that a burst of messages is one question.
const TOGETHER: Duration = Duration::from_millis(250);

#[derive(Debug, Default)]
struct State {
    tenants: BTreeSet<TenantId>,
    due: Option<Instant>,
}

/// The tenants to look at, each once.
#[derive(Debug, Default)]
pub(crate) struct Suggestions {
    state: Mutex<State>,
    wake: Notify,
}

impl Suggestions {
    pub(crate) fn put(&self, tenant: &TenantId) {
        let mut state = lock(&self.state);
        if !state.tenants.contains(tenant) {
            state.tenants.insert(tenant.clone());
        }
        let is_first = state.due.is_none();
        state.due.get_or_insert_with(|| Instant::now() + TOGETHER);
        drop(state);
        if is_first {
            self.wake.notify_one();
        }
    }

    /// Takes all that gathered; waits while there is none.
    pub(crate) async fn next(&self) -> BTreeSet<TenantId> {
        loop {
            let due = lock(&self.state).due;
            match due {
                None => self.wake.notified().await,
                Some(at) if at > Instant::now() => tokio::time::sleep_until(at).await,
                Some(_) => {
                    let mut state = lock(&self.state);
                    state.due = None;
                    return std::mem::take(&mut state.tenants);
                }
            }
        }
    }
}
