//! What a batch needs locked and loaded, gathered over its jobs, as the calls that do it.

use std::collections::BTreeSet;

use compass_domain::{AccountId, AskId, ChannelId, MessageId, TopicId, topic::TopicSelector};
use compass_ports::{Locks, StorageError};
use serde_json::{Value, json};

use super::{fault::Fault, sql::Read};

/// One statement of a batch, with its parameter.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) read: Read,
    pub(super) payload: String,
}

/// The rows of all jobs of a batch; sets, so that every lock is taken once and in order.
#[derive(Debug, Default)]
pub(super) struct Needs<'a> {
    channels: BTreeSet<ChannelId>,
    /// Asks that are answered: their channels and topics are locked too.
    answers: BTreeSet<AskId>,
    /// Asks that are answered or cancelled.
    asks: BTreeSet<AskId>,
    topics: BTreeSet<(ChannelId, TopicId)>,
    names: BTreeSet<(ChannelId, &'a str)>,
    authors: BTreeSet<(ChannelId, AccountId)>,
    actors: BTreeSet<(AskId, AccountId)>,
    keys: BTreeSet<(AccountId, &'a str)>,
    receipts: BTreeSet<(AccountId, MessageId)>,
    routes: BTreeSet<MessageId>,
}

impl<'a> Needs<'a> {
    /// Gathers what the jobs lock.
    pub(super) fn of(locks: &'a [Locks]) -> Self {
        let mut needs = Self::default();
        for lock in locks {
            needs.add(lock);
        }
        needs
    }

    fn add(&mut self, lock: &'a Locks) {
        match lock {
            Locks::Post { channel, author, topic, key } => {
                self.channels.insert(*channel);
                self.authors.insert((*channel, *author));
                match topic {
                    TopicSelector::Id(id) => self.topics.insert((*channel, *id)),
                    TopicSelector::Name { name, .. } => self.names.insert((*channel, name.key())),
                };
                self.keys.extend(key.as_ref().map(|key| (*author, key.as_str())));
            }
            Locks::Answer { ask, actor } => {
                self.answers.insert(*ask);
                self.asks.insert(*ask);
                self.actors.insert((*ask, *actor));
            }
            Locks::Cancel { ask, actor } => {
                self.asks.insert(*ask);
                self.actors.insert((*ask, *actor));
            }
            Locks::Acknowledge { agent, messages } => {
                self.receipts.extend(messages.iter().map(|message| (*agent, *message)));
            }
            Locks::Route { message } => {
                self.routes.insert(*message);
            }
        }
    }

    /// The calls in the order in which they lock, then load; one that no job needs is left out.
    pub(super) fn calls(&self) -> Result<Vec<Call>, Fault> {
        let mut calls = Vec::new();
        let mut call = |read, needed: bool, payload: &dyn Fn() -> Value| {
            if needed {
                calls.push((read, payload()));
            }
        };
        let answers = || texts(&self.answers);
        let asks = || texts(&self.asks);
        let posts = !self.channels.is_empty();
        let answered = !self.answers.is_empty();
        let asked = !self.asks.is_empty();
        let receipts = !self.receipts.is_empty();
        let routes = !self.routes.is_empty();
        let receipts_list = || pairs(&self.receipts, "agent", "message");
        let routes_list = || texts(&self.routes);

        call(
            Read::LockChannels,
            posts || answered,
            &|| json!({"channels": texts(&self.channels), "asks": answers()}),
        );
        call(Read::LockMessages, asked, &asks);
        call(Read::LockTopics, posts || answered, &|| {
            json!({
                "ids": pairs(&self.topics, "channel", "id"),
                "names": pairs(&self.names, "channel", "key"),
                "asks": answers(),
            })
        });
        call(Read::LockUnrouted, routes, &routes_list);
        call(Read::LockOwed, receipts, &receipts_list);
        call(Read::LockCursors, receipts, &receipts_list);

        call(Read::Participants, posts || asked, &|| {
            json!({
                "channels": pairs(&self.authors, "channel", "account"),
                "asks": pairs(&self.actors, "ask", "account"),
            })
        });
        call(Read::Posted, !self.keys.is_empty(), &|| pairs(&self.keys, "author", "key"));
        call(Read::Asks, asked, &asks);
        call(Read::Places, receipts, &receipts_list);
        call(Read::OwnSeqs, receipts, &receipts_list);
        call(Read::Routed, routes, &routes_list);
        call(Read::Audience, routes, &routes_list);

        calls
            .into_iter()
            .map(|(read, payload)| Ok(Call { read, payload: to_text(&payload).map_err(Fault::hopeless)? }))
            .collect()
    }
}

/// A parameter as JSON text.
pub(super) fn to_text(payload: &impl serde::Serialize) -> Result<String, StorageError> {
    serde_json::to_string(payload).map_err(|error| StorageError::Internal(format!("a parameter: {error}")))
}

fn texts<T: ToString>(ids: &BTreeSet<T>) -> Value {
    ids.iter().map(ToString::to_string).collect()
}

fn pairs<A: ToString, B: ToString>(pairs: &BTreeSet<(A, B)>, one: &str, other: &str) -> Value {
    pairs.iter().map(|(a, b)| json!({one: a.to_string(), other: b.to_string()})).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(locks: &[Locks]) -> Vec<Read> {
        let calls = Needs::of(locks).calls().expect("payloads are JSON");
        calls.into_iter().map(|call| call.read).collect()
    }

    #[test]
    fn locks_come_before_loads_and_unneeded_statements_are_left_out() {
        let id = [1; 16];
        let post = Locks::Post {
            channel: ChannelId::from_bytes(id),
            author: AccountId::from_bytes(id),
            topic: TopicSelector::Id(TopicId::from_bytes(id)),
            key: None,
        };
        assert_eq!(reads(&[post]), [Read::LockChannels, Read::LockTopics, Read::Participants]);
        let cancel = Locks::Cancel { ask: AskId::from_bytes(id), actor: AccountId::from_bytes(id) };
        assert_eq!(reads(&[cancel]), [Read::LockMessages, Read::Participants, Read::Asks]);
    }

    #[test]
    fn a_channel_that_many_jobs_need_is_locked_once_and_in_id_order() {
        let post = |channel: u8| Locks::Post {
            channel: ChannelId::from_bytes([channel; 16]),
            author: AccountId::from_bytes([9; 16]),
            topic: TopicSelector::Id(TopicId::from_bytes([1; 16])),
            key: None,
        };
        let locks = [post(2), post(1), post(2)];
        let calls = Needs::of(&locks).calls().expect("payloads are JSON");
        let payload: serde_json::Value = serde_json::from_str(&calls[0].payload).expect("JSON");
        let expected = serde_json::json!({"asks": [], "channels": ["01".repeat(16), "02".repeat(16)]});
        assert_eq!(payload, expected);
    }
}
