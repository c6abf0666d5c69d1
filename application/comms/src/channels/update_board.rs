//! Pins a message to a channel's board, or takes one off it.

use std::sync::Arc;

use compass_domain::{
    Channel, ChannelId, Classified, ErrorKind, Event, MessageId,
    board::{self, BoardError},
    channel::Pin,
};
use compass_ports::StorageError;

use crate::{Caller, Comms, ports::UnitOfWork};

/// A change of a board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateBoard {
    /// Whose board.
    pub channel: ChannelId,
    /// What happens to it.
    pub change: BoardChange,
}

/// What happens to a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoardChange {
    /// A message is pinned.
    Pin {
        /// Which; a message of the channel.
        message: MessageId,
        /// The pinned message whose place it takes; none if it comes last.
        replace: Option<MessageId>,
    },
    /// A message is taken off the board; none, as one that is not pinned, changes nothing.
    Unpin(Option<MessageId>),
}

/// Why a board does not change.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The channel does not exist, or the caller may not post in it.
    #[error("channel not found")]
    ChannelNotFound,
    /// The channel holds no such message.
    #[error("message not found")]
    MessageNotFound,
    /// The board has no place for it.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::ChannelNotFound | Self::MessageNotFound => ErrorKind::NotFound,
            Self::Board(BoardError::AlreadyPinned(_) | BoardError::Gone(_)) => ErrorKind::Conflict,
            Self::Board(BoardError::Full { .. }) => ErrorKind::FailedPrecondition,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Changes the board of a channel in which the caller may post, and returns the channel as it is afterwards.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it; nothing is stored then.
pub async fn update_board(comms: &Comms, caller: &Caller, update: UpdateBoard) -> Result<Channel, Error> {
    let id = update.channel;
    let mut unit = comms.storage.begin(&caller.tenant).await?;
    let before = unit.channels().lock(id).await?.ok_or(Error::ChannelNotFound)?;
    let takes_part = unit.channels().participates(caller.actor.id, id).await?;
    if !takes_part || !before.policy.allows(caller.actor.id) {
        return Err(Error::ChannelNotFound);
    }
    let board = changed(comms, caller, &mut *unit, &before, update.change).await?;
    if board == before.pins {
        return Ok(before);
    }
    unit.pins().replace(id, &board).await?;
    let after = Channel { pins: board, ..before };
    let told = Event::ChannelChanged { channel: Arc::new(after.clone()), removed: Vec::new() };
    comms.finish(&caller.tenant, unit, vec![told]).await?;
    Ok(after)
}

async fn changed(
    comms: &Comms,
    caller: &Caller,
    unit: &mut dyn UnitOfWork,
    channel: &Channel,
    change: BoardChange,
) -> Result<Vec<Pin>, Error> {
    let (message, replaced) = match change {
        BoardChange::Pin { message, replace } => (message, replace),
        BoardChange::Unpin(message) => {
            return Ok(
                message.map_or_else(|| channel.pins.clone(), |message| board::unpin(&channel.pins, message))
            );
        }
    };
    if !unit.pins().holds(channel.id, message).await? {
        return Err(Error::MessageNotFound);
    }
    let (now, by) = (comms.clock.now(), caller.actor.id);
    Ok(match replaced {
        Some(replaced) => board::replace(&channel.pins, replaced, message, now, by)?,
        None => board::pin(&channel.pins, message, now, by)?,
    })
}
