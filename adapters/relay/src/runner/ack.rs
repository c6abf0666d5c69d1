//! Receipts of one stream: those that wait while a commit runs share the next one.

use std::{collections::HashMap, sync::Arc};

use compass_domain::{AccountId, MessageId, TenantId};
use compass_hub::Hub;
use futures::future::join_all;
use tokio::sync::mpsc;

/// Receipts that wait at the most; then the stream is read more slowly.
pub(super) const QUEUE: usize = 1024;
const BATCH: usize = 256;

/// A receipt, and whose it is.
pub(super) type Receipt = (AccountId, MessageId);

/// Acknowledges until the stream ends. A receipt that fails is asked for again by the next sending.
pub(super) async fn run(hub: Arc<Hub>, tenant: TenantId, mut receipts: mpsc::Receiver<Receipt>) {
    let mut batch = Vec::with_capacity(BATCH);
    while receipts.recv_many(&mut batch, BATCH).await > 0 {
        let mut by_account: HashMap<AccountId, Vec<MessageId>> = HashMap::new();
        for (account, message) in batch.drain(..) {
            by_account.entry(account).or_default().push(message);
        }
        join_all(
            by_account.into_iter().map(|(account, messages)| acknowledge(&hub, &tenant, account, messages)),
        )
        .await;
    }
}

async fn acknowledge(hub: &Hub, tenant: &TenantId, account: AccountId, messages: Vec<MessageId>) {
    if let Err(error) = hub.acknowledge(tenant, account, messages).await {
        tracing::warn!(account.id = %account, %error, "receipts of an agent were not kept");
    }
}
