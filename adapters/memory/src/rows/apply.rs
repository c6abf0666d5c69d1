//! Applies a job's writes to the rows, with every rule that a database would hold as a constraint.

use compass_domain::{NewMessage, Position, TenantId};
use compass_ports::{StorageError, Writes};

use super::World;

impl World {
    /// Stores all writes of one decision; on an error the copy it was called on is to be thrown away.
    pub(crate) fn apply(&mut self, tenant: &TenantId, writes: &Writes) -> Result<(), StorageError> {
        let rows = self.tenant_mut(tenant);
        for topic in writes.topics() {
            rows.topics.put(topic)?;
        }
        for closed in writes.closed() {
            rows.messages.close(closed)?;
        }
        for new in writes.appended() {
            self.append(tenant, new)?;
        }
        let rows = self.tenant_mut(tenant);
        for cursor in writes.cursors() {
            rows.deliveries.put_cursor(cursor)?;
        }
        for &(agent, message) in writes.cleared_owed() {
            rows.deliveries.clear_owed(agent, message);
        }
        for row in writes.owed() {
            rows.deliveries.owe(row);
        }
        for &message in writes.routed() {
            if let Some(row) = rows.messages.find(message) {
                rows.deliveries.mark_routed(row.position);
            }
        }
        Ok(())
    }

    fn append(&mut self, tenant: &TenantId, new: &NewMessage) -> Result<(), StorageError> {
        let message = new.message();
        let position = Position(self.last_position.0.saturating_add(1));
        self.last_position = position;
        let rows = self.tenant_mut(tenant);
        let head = rows.channels.head(message.channel());
        let head = head.ok_or_else(|| StorageError::Internal(format!("no channel {}", message.channel())))?;
        if message.seq() != head.last_seq.next() {
            let (seq, last) = (message.seq().0, head.last_seq.0);
            return Err(StorageError::Conflict(format!("seq {seq} does not follow {last}")));
        }
        if rows.topics.find(message.topic()).is_none_or(|topic| topic.channel != message.channel()) {
            return Err(StorageError::Internal(format!("no topic {} in the channel", message.topic())));
        }
        rows.messages.append(new, position)?;
        rows.channels.set_head(message.channel(), message.seq(), message.at());
        if new.needs_routing() {
            rows.deliveries.await_routing(position, message.id());
        }
        Ok(())
    }
}
