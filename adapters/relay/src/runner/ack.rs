//! Receipts of one stream: those that wait while a commit runs share the next one.

use std::{collections::HashMap, sync::Arc};

use compass_domain::{AccountId, MessageId, TenantId};
use compass_hub::Hub;
use futures::future::join_all;
use tokio::sync::mpsc;

use super::Counters;

/// Receipts that wait at the most; then the stream is read more slowly.
pub(super) const QUEUE: usize = 1024;
const BATCH: usize = 256;

/// A receipt, and whose it is.
pub(super) type Receipt = (AccountId, MessageId);

/// Acknowledges until the stream ends. A receipt that fails is asked for again by the next sending.
pub(super) async fn run(
    hub: Arc<Hub>,
    counters: Arc<Counters>,
    tenant: TenantId,
    mut receipts: mpsc::Receiver<Receipt>,
) {
    let mut batch = Vec::with_capacity(BATCH);
    while receipts.recv_many(&mut batch, BATCH).await > 0 {
        let mut by_account: HashMap<AccountId, Vec<MessageId>> = HashMap::new();
        for (account, message) in batch.drain(..) {
            by_account.entry(account).or_default().push(message);
        }
        let kept = by_account
            .into_iter()
            .map(|(account, messages)| acknowledge(&hub, &counters, &tenant, account, messages));
        join_all(kept).await;
    }
}

async fn acknowledge(
    hub: &Hub,
    counters: &Counters,
    tenant: &TenantId,
    account: AccountId,
    messages: Vec<MessageId>,
) {
    let count = messages.len();
    match hub.acknowledge(tenant, account, messages).await {
        Ok(unknown) => counters.drop_frames(unknown, "its message does not exist"),
        Err(error) => {
            tracing::warn!(account.id = %account, %error, "receipts of an agent were not kept");
            counters.drop_frames(count, "storage failed");
        }
    }
}
