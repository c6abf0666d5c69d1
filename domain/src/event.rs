//! What is told to subscribers after a commit.

use std::sync::Arc;

use crate::{
    account::Account,
    channel::Channel,
    group::ChannelGroup,
    id::{AccountId, ChannelId, MessageId, SessionId, TopicId},
    message::Message,
    presence::{LifecycleState, Presence},
    topic::Topic,
};

/// One thing that happened. Content is shared with the commit that caused it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A message was stored.
    MessagePosted(Arc<Message>),
    /// An ask of a stored message ended.
    MessageUpdated(Arc<Message>),
    /// A message's routing is done; for delivery only, never sent to subscribers.
    MessageSettled {
        /// Its channel.
        channel: ChannelId,
        /// Which.
        message: MessageId,
    },
    /// A topic was created or changed.
    TopicUpserted(Arc<Topic>),
    /// A topic ended because its messages were moved to another one of its channel.
    TopicMerged {
        /// The one that is gone.
        from: TopicId,
        /// The one that has the messages now.
        into: Arc<Topic>,
    },
    /// How far a person has read a topic changed; told to that person alone.
    ReadPositionChanged {
        /// Whose.
        account: AccountId,
        /// The topic's channel.
        channel: ChannelId,
        /// Which topic.
        topic: TopicId,
    },
    /// A channel was created or changed.
    ChannelChanged {
        /// The whole channel.
        channel: Arc<Channel>,
        /// Who lost participation.
        removed: Vec<AccountId>,
    },
    /// A group of channels was created.
    ChannelGroupChanged(Arc<ChannelGroup>),
    /// An account was created or changed.
    AccountChanged(Arc<Account>),
    /// An agent set its activity; the hub makes a presence event of it.
    ActivityChanged {
        /// Which agent.
        agent: AccountId,
        /// The activity, cut.
        activity: String,
    },
    /// A session of an agent changed its state.
    AgentSessionChanged {
        /// Which session.
        session: SessionId,
        /// Whose.
        agent: AccountId,
        /// Its state now.
        state: LifecycleState,
    },
    /// An agent's presence or activity changed.
    AgentPresenceChanged {
        /// Which agent.
        agent: AccountId,
        /// What others see.
        presence: Presence,
        /// The activity; empty on a transition.
        activity: String,
    },
}

impl Event {
    /// True if it may change who sees what, so that what is known about that has to be read again.
    pub fn changes_access(&self) -> bool {
        match self {
            Self::ChannelChanged { .. } | Self::ChannelGroupChanged(_) | Self::AccountChanged(_) => true,
            Self::MessagePosted(_)
            | Self::MessageUpdated(_)
            | Self::MessageSettled { .. }
            | Self::TopicUpserted(_)
            | Self::TopicMerged { .. }
            | Self::ReadPositionChanged { .. }
            | Self::ActivityChanged { .. }
            | Self::AgentSessionChanged { .. }
            | Self::AgentPresenceChanged { .. } => false,
        }
    }
}
