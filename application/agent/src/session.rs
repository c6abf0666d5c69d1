//! The loop between a link, an inbox and a harness: what arrives is handed over, what was taken is acknowledged.

use crate::{
    inbox::Inbox,
    lanes::{Effect, Reason},
    ports::{
        Harness, HarnessError, HarnessEvent, Journal, JournalError, Link, LinkEvent, Notice, TurnState,
    },
};

/// Why the loop ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// The harness is over.
    Harness,
    /// The server ended the session.
    Stopped,
    /// The link is over.
    Link {
        /// The status token.
        code: String,
        /// The server's text.
        reason: String,
    },
}

/// What stops the loop although the link is well.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The harness is broken.
    #[error(transparent)]
    Harness(#[from] HarnessError),
    /// Nothing may be handed over or acknowledged without the journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Runs until the harness or the link ends.
///
/// # Errors
///
/// [`RunError`] if the harness or the journal fails.
pub async fn run<J: Journal>(
    link: &mut dyn Link,
    inbox: &mut Inbox<J>,
    harness: &mut dyn Harness,
) -> Result<Ended, RunError> {
    let mut session = Session { link, inbox, harness, state: TurnState::Ready };
    let ended = session.run().await;
    session.harness.finish().await;
    ended
}

struct Session<'a, J> {
    link: &'a mut dyn Link,
    inbox: &'a mut Inbox<J>,
    harness: &'a mut dyn Harness,
    state: TurnState,
}

impl<J: Journal> Session<'_, J> {
    async fn run(&mut self) -> Result<Ended, RunError> {
        loop {
            let ended = tokio::select! {
                event = self.link.next(), if self.harness.has_room() => self.arrived(event).await?,
                event = self.harness.next() => self.said(event?).await?,
            };
            if let Some(ended) = ended {
                return Ok(ended);
            }
        }
    }

    async fn arrived(&mut self, event: Option<LinkEvent>) -> Result<Option<Ended>, RunError> {
        let notice = match event {
            Some(LinkEvent::Delivery(delivery)) => {
                let effects = self.inbox.arrive(*delivery)?;
                self.perform(effects).await?;
                return Ok(None);
            }
            Some(LinkEvent::Prompt(input)) => {
                self.harness.prompt(input).await?;
                return Ok(None);
            }
            Some(LinkEvent::Attached { session_id }) => {
                self.link.report(self.state).await;
                Notice::Attached { session_id }
            }
            Some(LinkEvent::Detached { reason }) => Notice::Detached { reason },
            Some(LinkEvent::Stopped) => Notice::Stopped,
            Some(LinkEvent::Ended { code, reason }) => Notice::Ended { code, reason },
            None => Notice::Ended { code: "unavailable".to_owned(), reason: "the link closed".to_owned() },
        };
        let ended = match &notice {
            Notice::Stopped => Some(Ended::Stopped),
            Notice::Ended { code, reason } => {
                Some(Ended::Link { code: code.clone(), reason: reason.clone() })
            }
            _ => None,
        };
        self.harness.tell(notice).await?;
        Ok(ended)
    }

    async fn said(&mut self, event: HarnessEvent) -> Result<Option<Ended>, RunError> {
        let effects = match event {
            HarnessEvent::Ended => return Ok(Some(Ended::Harness)),
            HarnessEvent::TurnStarted => {
                self.inbox.turn_started();
                self.report(TurnState::Working).await;
                Vec::new()
            }
            HarnessEvent::TurnEnded => {
                self.report(TurnState::Ready).await;
                self.inbox.turn_ended()?
            }
            HarnessEvent::Streaming(streaming) => self.inbox.streaming(streaming)?,
            HarnessEvent::Accepted(ids) => {
                for message_id in &ids {
                    if !self.inbox.knows(message_id)? {
                        let message_id = message_id.clone();
                        self.harness.tell(Notice::NotHandedOver { message_id }).await?;
                    }
                }
                self.inbox.accepted(&ids)?
            }
            HarnessEvent::Refused { message_ids, .. } => self.inbox.refused(&message_ids)?,
        };
        self.perform(effects).await?;
        Ok(None)
    }

    async fn report(&mut self, state: TurnState) {
        self.state = state;
        self.link.report(state).await;
    }

    async fn perform(&mut self, effects: Vec<Effect>) -> Result<(), RunError> {
        for effect in effects {
            match effect {
                Effect::Inject { batch, waiting } => self.harness.inject(batch, waiting).await?,
                Effect::Interrupt(handed) => self.harness.interrupt(*handed).await?,
                Effect::Acknowledge(ids) => {
                    for id in ids {
                        self.link.acknowledge(id).await;
                    }
                }
                Effect::Count(Reason::Unmapped) => self.harness.tell(Notice::Unmapped).await?,
                Effect::Count(Reason::Duplicate | Reason::Refused) => {}
            }
        }
        Ok(())
    }
}
