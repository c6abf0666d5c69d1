//! What drives the model: it takes messages in, and says when it took them and when its turns begin and end.

use async_trait::async_trait;
use tokio::sync::oneshot;

use super::SessionEvent;
use crate::{lanes::Handed, tools::PostAskParams, waiters::Outcome};

/// What a harness tells the core.
#[derive(Debug)]
pub enum HarnessEvent {
    /// A turn runs; its end will be told.
    TurnStarted,
    /// The turn is over and the model rests. Every prompt that was taken ends with this, also an empty turn.
    TurnEnded,
    /// The model streams, or no longer does; it may begin before the turn does.
    Streaming(bool),
    /// These messages are before the model, or with the program that asked for them.
    Accepted(Vec<String>),
    /// These messages did not get there.
    Refused {
        /// Which.
        message_ids: Vec<String>,
        /// Why.
        reason: String,
    },
    /// Something waits for people: post this ask, and tell how it ends.
    Ask {
        /// The post's key: letters, digits, `-`, `_` and `:`, and never used before.
        key: String,
        /// What to ask.
        ask: PostAskParams,
        /// True to leave the ask open when nobody waits any more.
        keep: bool,
        /// Learns how it ends. An answer is to be followed by [`HarnessEvent::Took`].
        tell: oneshot::Sender<Outcome>,
    },
    /// The answer to the ask of this key was taken.
    Took {
        /// Which.
        key: String,
    },
    /// Nobody waits under this key any more: the request ran out, or whoever made it is gone.
    GaveUp {
        /// Which.
        key: String,
    },
    /// The model withdrew this ask.
    Withdrew {
        /// Which.
        ask_id: String,
    },
    /// The model did something that people who watch may see.
    Activity(SessionEvent),
    /// The harness is over, and everything it had to say is said.
    Ended,
}

/// What the core tells a harness beside messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A session runs; messages follow.
    Attached {
        /// The session the server minted; empty if only the runner knows it.
        session_id: String,
    },
    /// The connection is lost and is being made again.
    Detached {
        /// Why.
        reason: String,
    },
    /// The server ended the session.
    Stopped,
    /// The link is over.
    Ended {
        /// The lower-case status token.
        code: String,
        /// The server's text.
        reason: String,
    },
    /// A message without an id was delivered.
    Unmapped,
    /// A message that was never handed over was said to be taken.
    NotHandedOver {
        /// Which.
        message_id: String,
    },
}

/// The harness is broken: its pipe closed, or its program cannot be spoken to.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct HarnessError(pub String);

/// Takes messages in for a model or a program.
#[async_trait]
pub trait Harness: Send {
    /// Waits for what the harness has to say. Safe to drop while waiting.
    ///
    /// # Errors
    ///
    /// [`HarnessError`] if the harness is broken.
    async fn next(&mut self) -> Result<HarnessEvent, HarnessError>;

    /// False while so much waits to be taken that no more may be handed over.
    fn has_room(&self) -> bool {
        true
    }

    /// Hands a batch over, oldest first, while the model rests; `waiting` more follow later.
    ///
    /// Answered by [`HarnessEvent::Accepted`] or [`HarnessEvent::Refused`], in parts if need be.
    ///
    /// # Errors
    ///
    /// [`HarnessError`] if the harness is broken.
    async fn inject(&mut self, batch: Vec<Handed>, waiting: usize) -> Result<(), HarnessError>;

    /// Hands a message over in the middle of a turn; as the next turn if that one is over by now.
    ///
    /// # Errors
    ///
    /// [`HarnessError`] if the harness is broken.
    async fn interrupt(&mut self, message: Handed) -> Result<(), HarnessError>;

    /// Runs a turn with this input.
    ///
    /// # Errors
    ///
    /// [`HarnessError`] if the harness is broken.
    async fn prompt(&mut self, input: String) -> Result<(), HarnessError>;

    /// Tells what the harness may want to know.
    ///
    /// # Errors
    ///
    /// [`HarnessError`] if the harness is broken.
    async fn tell(&mut self, notice: Notice) -> Result<(), HarnessError>;

    /// Lets what was told leave, in bounded time, because the core is about to end.
    async fn finish(&mut self);
}
