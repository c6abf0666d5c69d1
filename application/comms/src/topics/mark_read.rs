//! Notes how far a person has read a topic.

use compass_domain::{
    Classified, ErrorKind, Event, ReadPosition, Seq, TopicId,
    read_position::{self, Beyond},
};
use compass_ports::StorageError;

use crate::{Caller, Comms};

/// Which topic, and how far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkRead {
    /// Which topic; none is a topic that does not exist.
    pub topic: Option<TopicId>,
    /// The newest place that was read.
    pub seq: Seq,
}

/// Why it is refused; nothing is stored then.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Agents have cursors instead.
    #[error("only a person has read positions")]
    NotAPerson,
    /// The topic does not exist, or the caller does not take part in its channel.
    #[error("topic not found")]
    NotFound,
    /// The topic has no message there yet.
    #[error(transparent)]
    Beyond(#[from] Beyond),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAPerson => ErrorKind::PermissionDenied,
            Self::NotFound => ErrorKind::NotFound,
            Self::Beyond(_) => ErrorKind::InvalidArgument,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Moves the caller's place in a topic forward and returns it; a place before the stored one changes nothing.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it.
pub async fn mark_read(comms: &Comms, caller: &Caller, mark: MarkRead) -> Result<ReadPosition, Error> {
    let person = caller.actor.human().ok_or(Error::NotAPerson)?.id();
    let id = mark.topic.ok_or(Error::NotFound)?;
    let mut unit = comms.storage.begin(&caller.tenant).await?;
    let topic = unit.topics().keep(id).await?.ok_or(Error::NotFound)?;
    if !unit.channels().participates(person, topic.channel).await? {
        return Err(Error::NotFound);
    }
    let before = unit.read_positions().find(person, id).await?.ok_or(Error::NotFound)?;
    let Some(seq) = read_position::advance(before.seq, mark.seq, topic.last_seq)? else { return Ok(before) };
    let moved = unit.read_positions().advance(person, id, seq).await?;
    let after = unit.read_positions().find(person, id).await?.ok_or(Error::NotFound)?;
    if moved {
        let changed = Event::ReadPositionChanged { account: person, channel: topic.channel, topic: id };
        comms.finish(&caller.tenant, unit, vec![changed]).await?;
    }
    Ok(after)
}
