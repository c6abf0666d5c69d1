//! Starts sleeping agents that are owed what their policy names, through runners that are attached here.
//!
//! Events only say that it is worth asking. Who sleeps and is due stands in the database, and so do claims and pauses,
//! so that of all nodes one starts an agent, and what no event brought is found all the same.

mod start;
mod suggestions;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use compass_domain::TenantId;

pub(crate) use start::Underway;
pub(crate) use suggestions::Suggestions;

use crate::{Hub, timing::spread};

/// How often the database is asked for what no event brought.
const EVERY: Duration = Duration::from_secs(15);

/// What the hub keeps about wakes.
#[derive(Debug, Default)]
pub(crate) struct Wakes {
    pub(crate) suggestions: Suggestions,
    pub(crate) underway: Underway,
}

impl Wakes {
    /// Says that an agent of the tenant may have to be started. Never waits.
    pub(crate) fn suggest(&self, tenant: &TenantId) {
        self.suggestions.put(tenant);
    }
}

pub(crate) async fn run(hub: Arc<Hub>) {
    let stop = hub.ports.stop.clone();
    stop.run_until_cancelled(async {
        loop {
            let pause = tokio::time::sleep(spread(EVERY, &*hub.ports.ids));
            let tenants = tokio::select! {
                suggested = hub.wakes.suggestions.next() => suggested,
                () = pause => hub.enrollments.tenants_with_runners(),
            };
            scan(&hub, tenants).await;
        }
    })
    .await;
}

/// Starts whoever is due: one query for each tenant.
async fn scan(hub: &Arc<Hub>, tenants: BTreeSet<TenantId>) {
    for tenant in tenants {
        let runners = hub.ports.launcher.attached(&tenant);
        if runners.is_empty() {
            continue;
        }
        match hub.ports.placements.due_wakes(&tenant, &runners).await {
            Ok(due) => due.into_iter().for_each(|account| start::spawn(hub, (tenant.clone(), account))),
            Err(error) => tracing::warn!(%error, "agents to wake could not be read"),
        }
    }
}
