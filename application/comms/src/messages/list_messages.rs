//! Lists messages of a channel, newest first.

use std::sync::Arc;

use compass_domain::{
    ChannelId, Classified, ErrorKind, Message, MessageId, Position, TopicId, TopicName, limits::page_limit,
    topic::TopicNameError,
};
use compass_ports::StorageError;

use crate::{
    Caller, Comms,
    channels::resolve::{self, ChannelRef},
    ports::{MessagePage, ReadUnit},
};

/// Which messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListMessages {
    /// Of which channel.
    pub channel: ChannelRef,
    /// Of one topic only, by id; a topic of another channel holds none of this one's.
    pub topic: Option<TopicId>,
    /// Of one topic only, by name.
    pub topic_name: Option<String>,
    /// Strictly older than this message of the channel.
    pub before: Option<MessageId>,
    /// At the most; 0 is the default.
    pub limit: u32,
    /// Not newer than this position.
    pub snapshot: Option<Position>,
}

/// Why the list is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The channel cannot be told from what was given.
    #[error(transparent)]
    Channel(resolve::Error),
    /// Both an id and a name.
    #[error("topic_id and topic_name are both given, one is allowed")]
    TopicTwice,
    /// The name breaks a rule.
    #[error(transparent)]
    TopicName(#[from] TopicNameError),
    /// The name names no topic of the channel.
    #[error("topic {0:?} not found in this channel")]
    TopicNotFound(String),
    /// The cursor message is not in the channel.
    #[error("before_message_id {0} is not a message of this channel")]
    UnknownCursor(MessageId),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::TopicTwice | Self::TopicName(_) | Self::UnknownCursor(_) => ErrorKind::InvalidArgument,
            Self::TopicNotFound(_) => ErrorKind::NotFound,
            Self::Channel(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Lists a page of messages; empty for a channel that is absent or not the caller's to read.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it.
pub async fn list_messages(
    comms: &Comms,
    caller: &Caller,
    list: ListMessages,
) -> Result<Vec<Arc<Message>>, Error> {
    if list.topic.is_some() && list.topic_name.is_some() {
        return Err(Error::TopicTwice);
    }
    let name = list.topic_name.as_deref().map(TopicName::parse).transpose()?;
    let channel = match resolve::resolve(comms, caller, &list.channel).await {
        Ok(channel) => channel,
        Err(resolve::Error::NotFound) => return Ok(Vec::new()),
        Err(error) => return Err(Error::Channel(error)),
    };
    let mut unit = comms.storage.read(&caller.tenant).await?;
    if unit.participating(caller.actor.id, &[channel]).await?.is_empty() {
        return Ok(Vec::new());
    }
    let topic = match name {
        Some(name) => Some(named_topic(&mut *unit, channel, &name).await?),
        None => list.topic,
    };
    if let Some(before) = list.before {
        check_cursor(&mut *unit, channel, before).await?;
    }
    let limit = page_limit(list.limit);
    let page = MessagePage { channel, topic, before: list.before, snapshot: list.snapshot, limit };
    Ok(unit.list_messages(&page).await?)
}

async fn named_topic(
    unit: &mut dyn ReadUnit,
    channel: ChannelId,
    name: &TopicName,
) -> Result<TopicId, Error> {
    let found = unit.find_topic_named(channel, name.key()).await?;
    found.map(|found| found.topic.id).ok_or_else(|| Error::TopicNotFound(name.as_str().to_owned()))
}

async fn check_cursor(unit: &mut dyn ReadUnit, channel: ChannelId, before: MessageId) -> Result<(), Error> {
    let found = unit.find_message(before).await?;
    if found.is_some_and(|message| message.channel() == channel) {
        return Ok(());
    }
    Err(Error::UnknownCursor(before))
}
