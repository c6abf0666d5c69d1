//! Messages that are about to be routed, so that routing them needs no read.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use compass_domain::{Message, MessageId};

const STASHED_MAX: usize = 1024;

/// A bounded store of messages as the bus last told them.
#[derive(Debug, Default)]
pub(crate) struct Stash {
    messages: HashMap<MessageId, Arc<Message>>,
    order: VecDeque<MessageId>,
}

impl Stash {
    /// Keeps a message; the oldest falls out when there are too many.
    pub(crate) fn put(&mut self, message: &Arc<Message>) {
        if self.messages.insert(message.id(), Arc::clone(message)).is_none() {
            self.order.push_back(message.id());
        }
        while self.order.len() > STASHED_MAX {
            if let Some(oldest) = self.order.pop_front() {
                self.messages.remove(&oldest);
            }
        }
    }

    /// Replaces a message that is kept.
    pub(crate) fn update(&mut self, message: &Arc<Message>) {
        if let Some(kept) = self.messages.get_mut(&message.id()) {
            *kept = Arc::clone(message);
        }
    }

    /// Takes a message out.
    pub(crate) fn take(&mut self, message: MessageId) -> Option<Arc<Message>> {
        let taken = self.messages.remove(&message)?;
        // Mostly the front, because messages settle in about the order they were posted.
        if let Some(at) = self.order.iter().position(|kept| *kept == message) {
            self.order.remove(at);
        }
        Some(taken)
    }

    /// Forgets everything: an update may have been missed.
    pub(crate) fn clear(&mut self) {
        self.messages.clear();
        self.order.clear();
    }
}
