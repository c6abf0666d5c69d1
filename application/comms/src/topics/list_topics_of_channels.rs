//! Lists the topics of several channels: what a person's page needs of all of them when it opens.

use compass_domain::{ChannelId, Classified, ErrorKind, ReadPosition};
use compass_ports::StorageError;

use crate::{
    Caller, Comms,
    ports::{MovedTopic, TopicSummary},
};

/// Channels that one list is for, at the most: what one answer holds stays within bounds.
pub const MAX_CHANNELS: usize = 100;

/// Of which channels; those that the caller does not take part in have no topics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListTopicsOfChannels {
    /// At least one and at most [`MAX_CHANNELS`]; none stands for a text that is no id, so that there is no such channel.
    pub channels: Vec<Option<ChannelId>>,
}

/// Topics of several channels, and where those went that are gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicsOfChannels {
    /// Latest activity first, channel by channel.
    pub topics: Vec<TopicSummary>,
    /// How far the caller has read each of them, by topic id.
    pub read_positions: Vec<ReadPosition>,
    /// What was joined to one of them, so that what names it still leads to its messages.
    pub moved: Vec<MovedTopic>,
}

/// Why the list is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Agents have no page.
    #[error("only a person lists the topics of several channels")]
    NotAPerson,
    /// No channel at all.
    #[error("channel_ids is empty")]
    NoChannels,
    /// More channels than one list is for.
    #[error("channel_ids has {0} entries, more than {MAX_CHANNELS}")]
    TooManyChannels(usize),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAPerson => ErrorKind::PermissionDenied,
            Self::NoChannels | Self::TooManyChannels(_) => ErrorKind::InvalidArgument,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Lists the topics of these channels, archived ones included, with the caller's place in each and what was joined to them.
///
/// # Errors
///
/// [`Error`] if the caller is no person, names no channel or more than [`MAX_CHANNELS`], or storage fails.
pub async fn list_topics_of_channels(
    comms: &Comms,
    caller: &Caller,
    list: ListTopicsOfChannels,
) -> Result<TopicsOfChannels, Error> {
    let person = caller.actor.human().ok_or(Error::NotAPerson)?;
    match list.channels.len() {
        0 => return Err(Error::NoChannels),
        1..=MAX_CHANNELS => {}
        count => return Err(Error::TooManyChannels(count)),
    }
    let named: Vec<ChannelId> = list.channels.into_iter().flatten().collect();
    let mut unit = comms.storage.read(&caller.tenant).await?;
    let mine = unit.participating(person.id(), &named).await?;
    let topics = unit.list_topics(&mine, true).await?;
    let read_positions = unit.list_read_positions(person.id(), Some(&mine)).await?;
    let moved = unit.list_moved_topics(&mine).await?;
    Ok(TopicsOfChannels { topics, read_positions, moved })
}
