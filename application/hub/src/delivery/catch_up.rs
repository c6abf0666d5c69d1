//! Takes what was left unrouted. What sessions are owed is read by their own sender tasks.

use std::{sync::Arc, time::Duration};

use super::router::Urgency;
use crate::{Hub, sessions::Gate, timing::spread};

const EVERY: Duration = Duration::from_secs(15);
/// A younger message may still be on its way, unless this node just started or missed events.
const LEFT_OVER_MS: u32 = 5_000;
const BATCH: u32 = 500;

pub(crate) async fn run(hub: Arc<Hub>) {
    let stop = hub.ports.stop.clone();
    stop.run_until_cancelled(async {
        let mut age_ms = 0;
        loop {
            scan(&hub, age_ms).await;
            let pause = tokio::time::sleep(spread(EVERY, &*hub.ports.ids));
            age_ms = tokio::select! {
                () = pause => LEFT_OVER_MS,
                () = hub.router.scan_asked() => 0,
            };
        }
    })
    .await;
}

/// Asks for routing of every message left unrouted for `age_ms` whose author is not in a turn here.
async fn scan(hub: &Hub, age_ms: u32) {
    let found = match hub.ports.ledger.unrouted(hub.ports.node, age_ms, BATCH).await {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!(%error, "unrouted messages could not be read");
            return;
        }
    };
    for (tenant, message, author) in found {
        if hub.registry.gate(&(tenant.clone(), author), message) != Gate::Held {
            hub.router.request(&tenant, message, Urgency::Now);
        }
    }
}
