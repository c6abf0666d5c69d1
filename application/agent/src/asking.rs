//! An ask whose end a short-lived command waits for, without a session.
//!
//! The wait stands in the journal before the ask is posted and until the command is done, so that the agent's other
//! processes leave the answer to it. It is never withdrawn here: what comes too late comes as any message does.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::{
    pickup::PickupError,
    ports::{Call, CallError, CallResult, Gateway, Journal, JournalError, Mailbox, Wait},
    seen::SeenAsk,
    tools::{ToolError, ask_under},
    waiters::is_final,
};

/// First pause between two looks.
const FIRST: Duration = Duration::from_millis(100);
/// Longest pause between two looks.
const LAST: Duration = Duration::from_secs(1);
/// How long a call that is under way may take once the time is up.
const GRACE: Duration = Duration::from_secs(2);

/// How a wait came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// A person answered.
    Answered {
        /// The ask with its answers.
        ask: Box<SeenAsk>,
        /// The message to acknowledge with [`Asking::took`]; none if that was done before.
        message_id: Option<String>,
    },
    /// The ask was withdrawn. It is not a "no".
    Withdrawn {
        /// Which.
        ask_id: String,
    },
    /// Nobody answered in time; the ask stays open.
    StillOpen {
        /// Which.
        ask_id: String,
    },
}

/// Why there is nothing to wait for.
#[derive(Debug, thiserror::Error)]
pub enum AskingError {
    /// The ask was refused, or could not be posted in time.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The server did not reply in time; the ask may have been posted.
    #[error("the server did not reply in time")]
    Late,
    /// The wait cannot be kept.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// What asking needs.
pub struct Asking<'a> {
    /// Where the ask is posted.
    pub gateway: &'a dyn Gateway,
    /// Where its answer is owed.
    pub mailbox: &'a dyn Mailbox,
    /// Where the wait stands.
    pub journal: &'a mut dyn Journal,
}

impl Asking<'_> {
    /// Posts the ask of `wait` under its key, and waits until it ends or `until`. The same ask under the same key is
    /// posted once, and what was answered before is answered at once.
    ///
    /// The wait goes on until [`Self::took`] or [`Self::end`], unless this fails.
    ///
    /// # Errors
    ///
    /// [`AskingError`]; nobody waits then.
    pub async fn run(&mut self, wait: Wait, until: Instant) -> Result<Ended, AskingError> {
        let key = wait.key.clone();
        let ended = self.watch(wait, until).await;
        if ended.is_err() {
            self.end(&key)?;
        }
        ended
    }

    /// Says that the answer got to whoever asked: it is marked as taken and acknowledged, and the wait is over.
    ///
    /// # Errors
    ///
    /// [`PickupError`]. A mark without an acknowledgement is made good by the next pickup.
    pub async fn took(&mut self, key: &str, message_id: Option<&str>) -> Result<(), PickupError> {
        if let Some(id) = message_id {
            let ids = [id.to_owned()];
            self.journal.take(&ids)?;
            self.end(key)?;
            return Ok(self.mailbox.acknowledge(&ids).await?);
        }
        Ok(self.end(key)?)
    }

    /// Ends the wait: an answer comes as any message does from here on.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if that is not on disk.
    pub fn end(&mut self, key: &str) -> Result<(), JournalError> {
        self.journal.end_wait(key)
    }

    /// Withdraws an ask that nobody can use any more; false if a person answered first.
    ///
    /// # Errors
    ///
    /// [`CallError`] if the server did not say.
    pub async fn withdraw(&mut self, ask_id: &str) -> Result<bool, CallError> {
        let call = Call::CancelAsk { ask_id: ask_id.to_owned() };
        match timeout_at(Instant::now() + GRACE, self.gateway.call("withdraw", call)).await {
            Ok(Ok(CallResult::CancelAsk)) => Ok(true),
            Ok(Err(CallError::Refused { code, .. })) if code == "already_exists" => Ok(false),
            Ok(Err(error)) => Err(error),
            Ok(Ok(_)) => Err(CallError::OutcomeUnknown("another result came back".into())),
            Err(_) => Err(CallError::OutcomeUnknown("no reply in time".into())),
        }
    }

    async fn watch(&mut self, mut wait: Wait, until: Instant) -> Result<Ended, AskingError> {
        self.journal.wait(&wait)?;
        let mut pause = FIRST;
        loop {
            let over = Instant::now() >= until;
            let failed = match self.look(&wait, until).await {
                Ok(ask) => {
                    if wait.ask_id.is_none() {
                        wait.ask_id = Some(ask.ask_id.clone());
                        self.journal.wait(&wait)?;
                    }
                    if let Some(ended) = self.end_of(ask, over, until).await? {
                        return Ok(ended);
                    }
                    None
                }
                Err(error) if !is_transient(&error) => return Err(error),
                Err(error) => Some(error),
            };
            match (over, &wait.ask_id, failed) {
                (true, Some(ask_id), _) => return Ok(Ended::StillOpen { ask_id: ask_id.clone() }),
                (true, None, failed) => return Err(failed.unwrap_or(AskingError::Late)),
                (false, ..) => tokio::time::sleep_until(until.min(Instant::now() + pause)).await,
            }
            pause = (pause * 2).min(LAST);
        }
    }

    /// The ask as it is now: a repeat under the same key finds it.
    async fn look(&self, wait: &Wait, until: Instant) -> Result<SeenAsk, AskingError> {
        let call = ask_under(self.gateway, wait.key.clone(), &wait.key, wait.ask.clone());
        match timeout_at(until + GRACE, call).await {
            Ok(found) => Ok(found?.1),
            Err(_) => Err(AskingError::Late),
        }
    }

    async fn end_of(
        &mut self,
        ask: SeenAsk,
        over: bool,
        until: Instant,
    ) -> Result<Option<Ended>, AskingError> {
        if ask.cancelled {
            return Ok(Some(Ended::Withdrawn { ask_id: ask.ask_id }));
        }
        if !ask.answered {
            return Ok(None);
        }
        let owed = timeout_at(until + GRACE, self.mailbox.fetch(1, Some(&ask.ask_id))).await;
        let message_id = match owed {
            Ok(Ok(owed)) => owed.deliveries.into_iter().next().map(|delivery| delivery.message.id),
            // The answer itself is here; without its message it comes once more, which is better than late.
            _ if over => None,
            _ => return Ok(None),
        };
        if let Some(id) = &message_id
            && self.journal.mark(id)?.is_none()
        {
            self.journal.begin(std::slice::from_ref(id))?;
        }
        Ok(Some(Ended::Answered { ask: Box::new(ask), message_id }))
    }
}

fn is_transient(error: &AskingError) -> bool {
    match error {
        // A token that was revoked comes back with no later try.
        AskingError::Tool(ToolError::Failed { code, .. }) => !is_final(code) && code != "unauthenticated",
        AskingError::Late => true,
        AskingError::Tool(_) | AskingError::Journal(_) => false,
    }
}

#[cfg(test)]
mod tests;
