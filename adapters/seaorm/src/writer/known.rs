//! What the last batches left. A job that is alone is decided from it without a read; its one statement makes sure that
//! all of it still holds, and otherwise keeps nothing.

use std::collections::HashMap;

use compass_domain::{AccountId, AskId, ChannelId, MessageId, Seq, topic::TopicSelector};
use compass_ports::{CursorState, Loaded, LoadedAsk, Locks, Writes};

/// Rows that are kept at the most; then all are forgotten, which costs the next jobs a read.
const KEPT_MAX: usize = 16_384;

/// Rows as the writer last saw them.
#[derive(Debug, Default)]
pub(super) struct Known {
    loaded: Loaded,
    authors: HashMap<(ChannelId, Seq), AccountId>,
}

/// What one job is decided from.
#[derive(Debug)]
pub(super) struct Guess {
    pub(super) loaded: Loaded,
    /// Whose job it is.
    pub(super) actor: AccountId,
}

impl Known {
    /// Keeps what a committed batch loaded and wrote.
    pub(super) fn learn(&mut self, mut loaded: Loaded, writes: &[Writes]) {
        if self.loaded.len() + self.authors.len() > KEPT_MAX {
            self.forget();
        }
        for new in writes.iter().flat_map(Writes::appended) {
            let message = new.message();
            self.authors.insert((message.channel(), message.seq()), message.author());
            loaded.put_place(message.id(), message.channel(), message.seq());
            for ask in message.asks() {
                let entry = LoadedAsk {
                    channel: message.channel(),
                    message: message.id(),
                    author: message.author(),
                    digest: ask.digest(),
                };
                loaded.put_ask(ask.id(), Ok((entry, message.clone())));
            }
        }
        self.loaded.absorb(loaded);
    }

    /// Forgets everything, because something was not as known.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// The rows a job needs, if all of them are known and its statement can check them.
    pub(super) fn guess(&self, locks: &Locks) -> Option<Guess> {
        match locks {
            Locks::Post { channel, author, topic, key: _ } => self.post(*channel, *author, topic),
            Locks::Answer { ask, actor } => self.answer(*ask, *actor),
            Locks::Acknowledge { agent, messages } => match messages.as_slice() {
                [message] => self.receipt(*agent, *message),
                _ => None,
            },
            Locks::Cancel { .. } | Locks::Route { .. } => None,
        }
    }

    /// A key that was used before is found by its index when the message is stored.
    fn post(&self, channel: ChannelId, author: AccountId, topic: &TopicSelector) -> Option<Guess> {
        let head = self.loaded.channel(channel)?;
        let topic = match topic {
            TopicSelector::Id(id) => self.loaded.topic(channel, *id)?,
            TopicSelector::Name { name, .. } => self.loaded.topic_named(channel, name.key())?,
        };
        let mut loaded = Loaded::new();
        loaded.put_channel(*head);
        loaded.put_participant(channel, author);
        loaded.put_topic(topic.clone());
        Some(Guess { loaded, actor: author })
    }

    fn answer(&self, ask: AskId, actor: AccountId) -> Option<Guess> {
        let (found, message) = self.loaded.ask(ask)?;
        // The end of another ask of the message would change its blocks, which nothing checks.
        if message.asks().count() != 1 {
            return None;
        }
        let mut loaded = Loaded::new();
        loaded.put_channel(*self.loaded.channel(found.channel)?);
        loaded.put_participant(found.channel, actor);
        loaded.put_topic(self.loaded.topic(found.channel, message.topic())?.clone());
        loaded.put_ask(ask, Ok((found, message.clone())));
        Some(Guess { loaded, actor })
    }

    fn receipt(&self, agent: AccountId, message: MessageId) -> Option<Guess> {
        let (channel, seq) = self.loaded.place(message)?;
        let cursor = &self.loaded.cursor(agent, channel)?.cursor;
        let last = self.loaded.channel(channel)?.last_seq;
        let mut state = CursorState { cursor: cursor.clone(), ..CursorState::default() };
        let mut next = Seq(cursor.acked().0 + 1);
        while next <= last {
            let author = self.authors.get(&(channel, next))?;
            if *author == agent {
                state.own.insert(next);
            } else if next != seq && !cursor.above().any(|above| above == next) {
                break;
            }
            next = Seq(next.0 + 1);
        }
        let mut loaded = Loaded::new();
        loaded.put_place(message, channel, seq);
        loaded.put_cursor(agent, channel, state);
        // If it is not owed, deleting the row does nothing.
        loaded.put_owed(agent, message);
        Some(Guess { loaded, actor: agent })
    }
}
