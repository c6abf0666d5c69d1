//! Reads the database for what no event brought: messages left unrouted, and what sessions of this node are owed.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use compass_domain::{AccountId, TenantId};

use super::{Mailbox, router::Urgency};
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
            catch_up(&hub).await;
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

/// Lets the sessions of this node that are owed anything read it: one query for each tenant, however many they are.
async fn catch_up(hub: &Hub) {
    let mut of_tenants: BTreeMap<TenantId, BTreeMap<AccountId, Arc<Mailbox>>> = BTreeMap::new();
    for session in hub.registry.all() {
        if let Some(mailbox) = session.mailbox {
            of_tenants.entry(session.tenant).or_default().insert(session.account, mailbox);
        }
    }
    for (tenant, mailboxes) in of_tenants {
        let accounts: Vec<AccountId> = mailboxes.keys().copied().collect();
        match hub.ports.audience.owed(&tenant, &accounts).await {
            Ok(owed) => {
                for mailbox in owed.iter().filter_map(|account| mailboxes.get(account)) {
                    mailbox.catch_up();
                }
            }
            Err(error) => tracing::warn!(%error, "what the sessions here are owed could not be read"),
        }
    }
}
