//! This node's lease, and the end of sessions whose runner does not come back.

use std::{sync::Arc, time::Duration};

use crate::Hub;

const RENEW_EVERY: Duration = Duration::from_secs(5);
/// How long a session waits for its stream to come back.
const DETACHED_MAX: Duration = Duration::from_mins(1);

pub(crate) async fn run(hub: Arc<Hub>) {
    let stop = hub.ports.stop.clone();
    while stop.run_until_cancelled(tokio::time::sleep(RENEW_EVERY)).await.is_some() {
        if let Err(error) = hub.ports.ledger.renew_lease(hub.ports.node).await {
            tracing::warn!(%error, "this node's lease was not renewed");
        }
        close_abandoned(&hub).await;
    }
    if let Err(error) = hub.ports.ledger.release(hub.ports.node).await {
        tracing::warn!(%error, "this node's lease was not released and runs out by itself");
    }
}

async fn close_abandoned(hub: &Hub) {
    hub.enrollments.forget_idle(DETACHED_MAX);
    for session in hub.registry.detached_for(DETACHED_MAX) {
        if let Err(error) = hub.close_abandoned(session).await {
            tracing::warn!(session.id = %session, %error, "an abandoned session was not closed");
        }
    }
}
