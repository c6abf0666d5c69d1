//! What a write job needs locked and loaded before it can decide.

use compass_domain::{AccountId, AskId, ChannelId, MessageId, message::IdempotencyKey, topic::TopicSelector};

/// The rows one job needs. The writer locks channels, messages, topics, then asks, unrouted, owed and cursor
/// rows, each in id order over the whole batch, and loads after the locks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Locks {
    /// The channel and the topic; loads the author's participation and what was posted under the key.
    Post {
        /// Where.
        channel: ChannelId,
        /// Who.
        author: AccountId,
        /// Which topic.
        topic: TopicSelector,
        /// The poster's key.
        key: Option<IdempotencyKey>,
    },
    /// The ask's channel, message and topic; loads the actor's participation.
    Answer {
        /// Which ask.
        ask: AskId,
        /// Who answers.
        actor: AccountId,
    },
    /// The ask's message only; loads the actor's participation.
    Cancel {
        /// Which ask.
        ask: AskId,
        /// Who cancels.
        actor: AccountId,
    },
    /// The agent's owed rows and cursors for these messages.
    Acknowledge {
        /// Who acknowledges.
        agent: AccountId,
        /// What.
        messages: Vec<MessageId>,
    },
    /// The unrouted row, skipped when another transaction holds it; loads the message and the agents of its channel.
    Route {
        /// Which message.
        message: MessageId,
    },
}
