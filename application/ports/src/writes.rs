//! What a decided job wants stored, and what is published once it is.

use std::sync::Arc;

use compass_domain::{
    AccountId, ChannelId, ClosedAsk, Event, MessageId, NewMessage, Topic, delivery::Cursor,
};

/// The writes of one decision, and its events.
#[derive(Debug, Default)]
pub struct Writes {
    pub(crate) appended: Vec<NewMessage>,
    pub(crate) closed: Vec<ClosedAsk>,
    pub(crate) topics: Vec<TopicWrite>,
    pub(crate) cursors: Vec<CursorWrite>,
    pub(crate) cleared_owed: Vec<(AccountId, MessageId)>,
    pub(crate) owed: Vec<OwedRow>,
    pub(crate) routed: Vec<MessageId>,
    pub(crate) events: Vec<Event>,
}

/// A topic row after the write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicWrite {
    /// The whole row.
    pub topic: Arc<Topic>,
    /// True if the row does not exist yet.
    pub created: bool,
}

/// A cursor row after the write; the row exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CursorWrite {
    /// Whose.
    pub agent: AccountId,
    /// Where.
    pub channel: ChannelId,
    /// What it covers.
    pub cursor: Cursor,
}

/// An owed row: this agent must still be steered with this message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OwedRow {
    /// Who.
    pub agent: AccountId,
    /// What.
    pub message: MessageId,
    /// The message's channel.
    pub channel: ChannelId,
}

impl Writes {
    /// No write and no event.
    pub fn none() -> Self {
        Self::default()
    }

    /// Stores a new message: its row, its channel's head, its asks' entries and, if it needs routing, its
    /// unrouted row. The only way to store new blocks.
    pub fn append(&mut self, message: NewMessage) {
        self.appended.push(message);
    }

    /// Stores the end of an ask in its message and its entry, on condition that it is still open. The only way
    /// to change stored blocks.
    pub fn close(&mut self, closed: ClosedAsk) {
        self.closed.push(closed);
    }

    /// Stores a topic row.
    pub fn put_topic(&mut self, topic: TopicWrite) {
        self.topics.push(topic);
    }

    /// Stores a cursor row.
    pub fn put_cursor(&mut self, cursor: CursorWrite) {
        self.cursors.push(cursor);
    }

    /// Deletes an agent's owed row for a message, if there is one.
    pub fn clear_owed(&mut self, agent: AccountId, message: MessageId) {
        self.cleared_owed.push((agent, message));
    }

    /// Stores an owed row unless it is there.
    pub fn owe(&mut self, row: OwedRow) {
        self.owed.push(row);
    }

    /// Deletes a message's unrouted row.
    pub fn mark_routed(&mut self, message: MessageId) {
        self.routed.push(message);
    }

    /// Adds an event; events of one job are published adjacent and in this order.
    pub fn tell(&mut self, event: Event) {
        self.events.push(event);
    }

    /// True if nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.appended.is_empty()
            && self.closed.is_empty()
            && self.topics.is_empty()
            && self.cursors.is_empty()
            && self.cleared_owed.is_empty()
            && self.owed.is_empty()
            && self.routed.is_empty()
    }

    /// The new messages.
    pub fn appended(&self) -> &[NewMessage] {
        &self.appended
    }

    /// The ended asks.
    pub fn closed(&self) -> &[ClosedAsk] {
        &self.closed
    }

    /// The topic rows.
    pub fn topics(&self) -> &[TopicWrite] {
        &self.topics
    }

    /// The cursor rows.
    pub fn cursors(&self) -> &[CursorWrite] {
        &self.cursors
    }

    /// The owed rows to delete.
    pub fn cleared_owed(&self) -> &[(AccountId, MessageId)] {
        &self.cleared_owed
    }

    /// The owed rows to add.
    pub fn owed(&self) -> &[OwedRow] {
        &self.owed
    }

    /// The unrouted rows to delete.
    pub fn routed(&self) -> &[MessageId] {
        &self.routed
    }

    /// Takes the events out, for publishing after the commit.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}
