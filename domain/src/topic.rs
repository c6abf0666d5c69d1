//! Topics: names, and what a topic row keeps.

use std::fmt;

use crate::{
    id::{AccountId, ChannelId, Seq, TopicId, UnixMillis},
    limits::{self, LimitError},
    text::fold,
};

/// How many participants a topic lists.
pub const LISTED_PARTICIPANTS: usize = 5;

/// A topic's name: trimmed, not empty, at most 120 code points.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TopicName {
    text: String,
    key: String,
}

/// Why a text is not a topic name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TopicNameError {
    /// Nothing but white space.
    #[error("topic name is empty")]
    Empty,
    /// Too long, or a NUL.
    #[error(transparent)]
    Limit(#[from] LimitError),
}

impl TopicName {
    /// Parses a name as a client typed it.
    ///
    /// # Errors
    ///
    /// [`TopicNameError`] with the limit and the actual length.
    pub fn parse(text: &str) -> Result<Self, TopicNameError> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(TopicNameError::Empty);
        }
        limits::check_code_points("topic name", trimmed, limits::TOPIC_NAME_CODE_POINTS)?;
        Ok(Self { text: trimmed.to_owned(), key: fold(trimmed) })
    }

    /// The name as it was first spelled.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The key by which names of one channel are compared.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl fmt::Display for TopicName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A topic of a channel, with the counters its row keeps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Topic {
    /// Which.
    pub id: TopicId,
    /// Its channel.
    pub channel: ChannelId,
    /// First spelling wins.
    pub name: TopicName,
    /// When it was created.
    pub created_at: UnixMillis,
    /// Who posted first.
    pub created_by: AccountId,
    /// Hidden from lists unless asked for.
    pub archived: bool,
    /// Highest `channel_seq` of its messages.
    pub last_seq: Seq,
    /// How many messages it holds.
    pub message_count: u64,
    /// When its newest message was posted.
    pub last_activity: UnixMillis,
    /// The first five authors.
    pub participants: Vec<AccountId>,
}

impl Topic {
    /// A topic that its first message creates.
    pub fn new(id: TopicId, channel: ChannelId, name: TopicName, by: AccountId, at: UnixMillis) -> Self {
        Self {
            id,
            channel,
            name,
            created_at: at,
            created_by: by,
            archived: false,
            last_seq: Seq(0),
            message_count: 0,
            last_activity: at,
            participants: Vec::new(),
        }
    }

    /// The topic after a message was added to it.
    #[must_use]
    pub fn with_message(mut self, author: AccountId, seq: Seq, at: UnixMillis) -> Self {
        self.last_seq = self.last_seq.max(seq);
        self.message_count += 1;
        self.last_activity = self.last_activity.max(at);
        if self.participants.len() < LISTED_PARTICIPANTS && !self.participants.contains(&author) {
            self.participants.push(author);
        }
        self
    }
}

/// How a post names its topic.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TopicSelector {
    /// An existing topic of the channel, left archived if it is.
    Id(TopicId),
    /// A topic by name: created or revived, unless `existing_only`.
    Name {
        /// The name.
        name: TopicName,
        /// An unknown name is refused instead of created.
        existing_only: bool,
    },
}
