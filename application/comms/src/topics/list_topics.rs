//! Lists the topics of a channel.

use std::collections::HashSet;

use compass_domain::{Classified, ErrorKind, ReadPosition};
use compass_ports::StorageError;

use crate::{
    Caller, Comms,
    channels::resolve::{self, ChannelRef},
    ports::TopicSummary,
};

/// Which topics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListTopics {
    /// Of which channel.
    pub channel: ChannelRef,
    /// Archived ones too.
    pub include_archived: bool,
}

/// Why the list is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The channel cannot be told from what was given.
    #[error(transparent)]
    Channel(#[from] resolve::Error),
    /// The channel does not exist, or the caller does not take part in it.
    #[error("channel not found")]
    ChannelNotFound,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::ChannelNotFound => ErrorKind::NotFound,
            Self::Channel(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Topics of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedTopics {
    /// Latest activity first.
    pub topics: Vec<TopicSummary>,
    /// How far the caller has read each of them, by topic id; empty for an agent.
    pub read_positions: Vec<ReadPosition>,
}

/// Lists the topics of a channel, latest activity first.
///
/// # Errors
///
/// [`Error`] if the caller does not take part in the channel, or storage fails.
pub async fn list_topics(comms: &Comms, caller: &Caller, list: ListTopics) -> Result<ListedTopics, Error> {
    let channel = resolve::resolve(comms, caller, &list.channel).await?;
    let mut unit = comms.storage.read(&caller.tenant).await?;
    if unit.participating(caller.actor.id, &[channel]).await?.is_empty() {
        return Err(Error::ChannelNotFound);
    }
    let topics = unit.list_topics(&[channel], list.include_archived).await?;
    let mut read_positions = Vec::new();
    if let Some(person) = caller.actor.human() {
        let listed: HashSet<_> = topics.iter().map(|summary| summary.topic.id).collect();
        read_positions = unit.list_read_positions(person.id(), Some(&[channel])).await?;
        read_positions.retain(|position| listed.contains(&position.topic));
    }
    Ok(ListedTopics { topics, read_positions })
}
