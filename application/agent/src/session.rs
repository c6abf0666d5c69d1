//! The loop between a link, an inbox and a harness: what arrives is handed over, what was taken is acknowledged.

use std::{pin::Pin, time::Duration};

use futures::{StreamExt, stream::FuturesUnordered};

use crate::{
    inbox::Inbox,
    lanes::{Effect, Reason},
    ports::{
        Gateway, Harness, HarnessError, HarnessEvent, Journal, JournalError, Link, LinkEvent, Notice,
        TurnState, Wait,
    },
    tools::ToolError,
    waiters::{self, Outcome},
};

/// How long asks that nobody waits for any more have to be withdrawn at the end; a later life does the rest.
const LEAVING: Duration = Duration::from_secs(3);

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
    gateway: &dyn Gateway,
    inbox: &mut Inbox<J>,
    harness: &mut dyn Harness,
) -> Result<Ended, RunError> {
    let state = TurnState::Ready;
    let mut session = Session { link, gateway, inbox, harness, state, jobs: FuturesUnordered::new() };
    let ended = session.run().await;
    let left = match &ended {
        // Nobody is there any more who could take an answer.
        Ok(Ended::Harness) | Err(RunError::Harness(_)) => session.leave().await,
        _ => Ok(()),
    };
    session.harness.finish().await;
    ended.and_then(|ended| left.map(|()| ended).map_err(RunError::from))
}

/// What a call that ran beside the loop came to.
enum Done {
    /// The ask of this wait was posted, or never will be.
    Posted(Wait, Result<String, ToolError>),
    /// The ask of this key asks nobody any more.
    Withdrawn(String),
}

type Job<'a> = Pin<Box<dyn Future<Output = Done> + Send + 'a>>;

struct Session<'a, J> {
    link: &'a mut dyn Link,
    gateway: &'a dyn Gateway,
    inbox: &'a mut Inbox<J>,
    harness: &'a mut dyn Harness,
    state: TurnState,
    jobs: FuturesUnordered<Job<'a>>,
}

impl<J: Journal> Session<'_, J> {
    async fn run(&mut self) -> Result<Ended, RunError> {
        // Asks of an earlier life whose waiters died with it.
        for wait in self.inbox.left_behind()? {
            self.withdraw(wait);
        }
        loop {
            let ended = tokio::select! {
                event = self.link.next(), if self.harness.has_room() => self.arrived(event).await?,
                event = self.harness.next() => self.said(event?).await?,
                Some(done) = self.jobs.next() => self.done(done).await?,
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
            HarnessEvent::Ask { key, ask, keep, tell } => {
                let wait = self.inbox.wait(&key, ask, keep, tell)?;
                let gateway = self.gateway;
                self.jobs.push(Box::pin(async move {
                    let posted = waiters::post(gateway, &wait).await;
                    Done::Posted(wait, posted)
                }));
                Vec::new()
            }
            HarnessEvent::Took { key } => self.inbox.took(&key)?,
            HarnessEvent::GaveUp { key } => {
                let (wait, effects) = self.inbox.gave_up(&key)?;
                // The ask of a post that is under way is withdrawn once its id is known.
                match wait {
                    Some(wait) if wait.keep => self.inbox.end_wait(&key, Outcome::Withdrawn).map(drop)?,
                    Some(wait) if wait.ask_id.is_some() => self.withdraw(wait),
                    _ => {}
                }
                effects
            }
            HarnessEvent::Withdrew { ask_id } => self.inbox.withdrawn(&ask_id)?,
            HarnessEvent::Activity(event) => {
                self.link.show(event).await;
                Vec::new()
            }
        };
        self.perform(effects).await?;
        Ok(None)
    }

    async fn done(&mut self, done: Done) -> Result<Option<Ended>, RunError> {
        let effects = match done {
            Done::Withdrawn(key) => self.inbox.end_wait(&key, Outcome::Withdrawn)?,
            Done::Posted(wait, Ok(ask_id)) if self.inbox.is_waiting(&wait.key) => {
                self.inbox.posted(&wait.key, &ask_id)?
            }
            Done::Posted(wait, Ok(_)) if wait.keep => Vec::new(),
            Done::Posted(wait, Ok(ask_id)) => {
                self.withdraw(Wait { ask_id: Some(ask_id), ..wait });
                Vec::new()
            }
            Done::Posted(wait, Err(error)) => {
                self.inbox.end_wait(&wait.key, Outcome::NotPosted { reason: error.to_string() })?
            }
        };
        self.perform(effects).await?;
        Ok(None)
    }

    fn withdraw(&mut self, wait: Wait) {
        let gateway = self.gateway;
        self.jobs.push(Box::pin(async move {
            // An answer that was first comes as any message does.
            let _ = waiters::withdraw(gateway, &wait).await;
            Done::Withdrawn(wait.key)
        }));
    }

    /// Withdraws the asks whose waiters end with the harness, as far as that gets in time.
    async fn leave(&mut self) -> Result<(), JournalError> {
        for wait in self.inbox.leave() {
            self.withdraw(wait);
        }
        let leaving = async {
            while let Some(done) = self.jobs.next().await {
                match done {
                    Done::Withdrawn(key) => self.inbox.forget(&key)?,
                    Done::Posted(wait, _) if wait.keep => {}
                    Done::Posted(wait, Ok(ask_id)) => self.withdraw(Wait { ask_id: Some(ask_id), ..wait }),
                    Done::Posted(wait, Err(_)) => self.inbox.forget(&wait.key)?,
                }
            }
            Ok(())
        };
        tokio::time::timeout(LEAVING, leaving).await.unwrap_or(Ok(()))
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

#[cfg(test)]
mod tests;
