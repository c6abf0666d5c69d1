//! Cursors, owed rows, unrouted rows and sessions: what delivery rests on.

use compass_domain::{AccountId, ChannelId, MessageId, Position, SessionId, delivery::Cursor};
use compass_hub::ports::{LiveSession, StoredSession};
use compass_ports::{CursorWrite, OwedRow, StorageError};

use super::{HIGHEST, LOWEST, Map, Tree, pairs};

/// The delivery state of a tenant.
#[derive(Clone, Default)]
pub(crate) struct Deliveries {
    cursors: Tree<(AccountId, ChannelId), Cursor>,
    owed: Tree<(AccountId, MessageId), ChannelId>,
    unrouted: Tree<Position, MessageId>,
    /// Open session rows; whether a session is live also takes its node's lease.
    pub(crate) sessions: Map<SessionId, LiveSession>,
    /// Every session that was ever opened.
    pub(crate) opened: Map<SessionId, StoredSession>,
}

impl Deliveries {
    pub(crate) fn seed(&mut self, agent: AccountId, channel: ChannelId, cursor: Cursor) {
        if !self.cursors.contains_key(&(agent, channel)) {
            self.cursors.insert_mut((agent, channel), cursor);
        }
    }

    pub(crate) fn put_cursor(&mut self, write: &CursorWrite) -> Result<(), StorageError> {
        let row = self.cursors.get_mut(&(write.agent, write.channel));
        let row = row.ok_or_else(|| {
            StorageError::Conflict(format!("agent {} has no cursor in {}", write.agent, write.channel))
        })?;
        *row = write.cursor.clone();
        Ok(())
    }

    pub(crate) fn cursor(&self, agent: AccountId, channel: ChannelId) -> Option<&Cursor> {
        self.cursors.get(&(agent, channel))
    }

    /// An agent's cursors, by channel.
    pub(crate) fn cursors_of(&self, agent: AccountId) -> impl Iterator<Item = (ChannelId, &Cursor)> {
        let (lowest, highest) = (ChannelId::from_bytes(LOWEST), ChannelId::from_bytes(HIGHEST));
        self.cursors.range(pairs(agent, lowest, highest)).map(|(&(_, channel), cursor)| (channel, cursor))
    }

    pub(crate) fn owe(&mut self, row: &OwedRow) {
        self.owed.insert_mut((row.agent, row.message), row.channel);
    }

    pub(crate) fn clear_owed(&mut self, agent: AccountId, message: MessageId) {
        self.owed.remove_mut(&(agent, message));
    }

    pub(crate) fn is_owed(&self, agent: AccountId, message: MessageId) -> bool {
        self.owed.contains_key(&(agent, message))
    }

    /// The messages an agent has owed rows for, with their channels.
    pub(crate) fn owed_to(&self, agent: AccountId) -> impl Iterator<Item = (MessageId, ChannelId)> + '_ {
        let (lowest, highest) = (MessageId::from_bytes(LOWEST), MessageId::from_bytes(HIGHEST));
        self.owed.range(pairs(agent, lowest, highest)).map(|(&(_, message), &channel)| (message, channel))
    }

    pub(crate) fn await_routing(&mut self, position: Position, message: MessageId) {
        self.unrouted.insert_mut(position, message);
    }

    pub(crate) fn mark_routed(&mut self, position: Position) {
        self.unrouted.remove_mut(&position);
    }

    pub(crate) fn is_unrouted(&self, position: Position) -> bool {
        self.unrouted.contains_key(&position)
    }

    /// Messages that are not routed yet, oldest first.
    pub(crate) fn unrouted(&self) -> impl Iterator<Item = (Position, MessageId)> + '_ {
        self.unrouted.iter().map(|(&position, &message)| (position, message))
    }
}
