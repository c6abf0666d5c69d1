//! Moves cursors and clears owed rows by the receipts of the agent itself.

use std::collections::HashMap;

use compass_domain::{AccountId, ChannelId, MessageId, TenantId, delivery::Cursor};
use compass_ports::{CursorWrite, Decision, Loaded, Locks, StorageError, WriteJob, Writes, submit};

use crate::Hub;

/// Receipts of one job at the most.
const JOB_MAX: usize = 256;

struct Acknowledge {
    agent: AccountId,
    messages: Vec<MessageId>,
}

impl WriteJob for Acknowledge {
    /// How many of the messages do not exist.
    type Outcome = usize;
    type Error = StorageError;

    fn locks(&self) -> Locks {
        Locks::Acknowledge { agent: self.agent, messages: self.messages.clone() }
    }

    fn decide(&self, loaded: &Loaded) -> Decision<usize, StorageError> {
        let mut unknown = 0;
        let mut writes = Writes::none();
        let mut moved: HashMap<ChannelId, Cursor> = HashMap::new();
        for &message in &self.messages {
            let Some(receipt) = loaded.receipt(self.agent, message) else {
                unknown += 1;
                continue;
            };
            if receipt.is_owed {
                writes.clear_owed(self.agent, message);
            }
            let Some(state) = receipt.cursor else { continue };
            let mut cursor = moved.get(&receipt.channel).unwrap_or(&state.cursor).clone();
            if cursor.acknowledge(receipt.seq, |seq| state.own.contains(&seq)) {
                moved.insert(receipt.channel, cursor);
            }
        }
        for (channel, cursor) in moved {
            writes.put_cursor(CursorWrite { agent: self.agent, channel, cursor });
        }
        Ok((writes, unknown))
    }
}

impl Hub {
    /// Acknowledges messages for an agent: they are not delivered to it again.
    ///
    /// Acknowledging twice, out of order, something unknown or without an entitlement changes nothing and is not an
    /// error. Returns after the commit, with how many of the messages do not exist.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if storage failed; messages before the failing part of a long list may be acknowledged.
    pub async fn acknowledge(
        &self,
        tenant: &TenantId,
        agent: AccountId,
        mut messages: Vec<MessageId>,
    ) -> Result<usize, StorageError> {
        messages.sort_unstable();
        messages.dedup();
        let mut unknown = 0;
        for part in messages.chunks(JOB_MAX) {
            let job = Acknowledge { agent, messages: part.to_vec() };
            unknown += submit(&*self.ports.writer, tenant, job).await?;
            if let Some(mailbox) = self.registry.mailbox_of(&(tenant.clone(), agent)) {
                mailbox.acknowledged(part);
            }
        }
        Ok(unknown)
    }
}
