//! Who waits for the answer to an ask that the harness itself posted.
//!
//! Such an answer goes to its waiter, ahead of both lanes, and is never put before the model: a turn may wait for
//! the very answer that would wait for the turn's end. The wait is on disk before the ask is posted and until the
//! end, so that a later life withdraws an ask whose waiter is gone.

use std::{collections::HashMap, time::Duration};

use tokio::sync::oneshot;

use crate::{
    ports::{Call, CallError, CallResult, Gateway, Journal, JournalError, Wait},
    seen::Delivery,
    tools::{ToolError, post_ask_under},
};

/// How long to wait before a server that could not be reached is asked again.
const AGAIN: Duration = Duration::from_secs(2);

/// How a wait ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A person answered; say [`Inbox::took`](crate::inbox::Inbox::took) once the answer was taken.
    Answered(Box<Delivery>),
    /// The ask was withdrawn or its request ran out. It is not a "no".
    Withdrawn,
    /// The ask was never posted.
    NotPosted {
        /// Why.
        reason: String,
    },
}

/// What becomes of a delivery.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// Nobody waits for it.
    Unclaimed(Box<Delivery>),
    /// Its waiter has it.
    Given,
    /// It may be for an ask whose post has not come back yet.
    Parked,
}

#[derive(Debug)]
struct Waiter {
    wait: Wait,
    tell: Option<oneshot::Sender<Outcome>>,
    given: Option<Box<Delivery>>,
}

/// Everybody in this process who waits.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    waiters: HashMap<String, Waiter>,
    parked: Vec<Delivery>,
}

impl Waiters {
    /// Begins a wait; the ask may be posted once this returns.
    pub(crate) fn register(
        &mut self,
        journal: &mut dyn Journal,
        wait: Wait,
        tell: oneshot::Sender<Outcome>,
    ) -> Result<(), JournalError> {
        journal.wait(&wait)?;
        self.waiters.insert(wait.key.clone(), Waiter { wait, tell: Some(tell), given: None });
        Ok(())
    }

    /// Notes the id of the ask that was posted; gives what was parked, to be looked at again.
    pub(crate) fn posted(
        &mut self,
        journal: &mut dyn Journal,
        key: &str,
        ask_id: &str,
    ) -> Result<Vec<Delivery>, JournalError> {
        if let Some(waiter) = self.waiters.get_mut(key) {
            waiter.wait.ask_id = Some(ask_id.to_owned());
            journal.wait(&waiter.wait)?;
        }
        Ok(std::mem::take(&mut self.parked))
    }

    /// Looks whether somebody waits for a delivery, and gives it to them.
    pub(crate) fn claim(&mut self, delivery: Box<Delivery>) -> Claim {
        let Some(ask_id) = delivery.message.answer().map(|ask| ask.ask_id.clone()) else {
            return Claim::Unclaimed(delivery);
        };
        let posting = self.waiters.values().any(|waiter| waiter.wait.ask_id.is_none());
        let waits = |waiter: &&mut Waiter| waiter.wait.ask_id.as_ref() == Some(&ask_id);
        let Some(waiter) = self.waiters.values_mut().find(waits) else {
            if !posting {
                return Claim::Unclaimed(delivery);
            }
            if self.parked.iter().all(|parked| parked.message.id != delivery.message.id) {
                self.parked.push(*delivery);
            }
            return Claim::Parked;
        };
        if waiter.given.is_some() {
            return Claim::Given;
        }
        let told = waiter.tell.take().map(|tell| tell.send(Outcome::Answered(delivery.clone())));
        if told.is_some_and(|told| told.is_ok()) {
            waiter.given = Some(delivery);
            return Claim::Given;
        }
        Claim::Unclaimed(delivery)
    }

    /// The message that a waiter took; its wait is over once that is acknowledged.
    pub(crate) fn taken(&mut self, key: &str) -> Option<String> {
        self.waiters.get_mut(key)?.given.take().map(|delivery| delivery.message.id)
    }

    /// Forgets whoever waits and tells them how it ended; gives what now has to go another way. The wait stays on
    /// disk.
    pub(crate) fn dismiss(&mut self, key: &str, outcome: Outcome) -> (Option<Wait>, Vec<Delivery>) {
        let Some(waiter) = self.waiters.remove(key) else { return (None, Vec::new()) };
        if let Some(tell) = waiter.tell {
            // Whoever waited may be gone.
            drop(tell.send(outcome));
        }
        let mut freed = std::mem::take(&mut self.parked);
        freed.extend(waiter.given.map(|delivery| *delivery));
        (Some(waiter.wait), freed)
    }

    /// Forgets everybody who waits and tells them that nobody will answer; what they were given comes again.
    pub(crate) fn dismiss_all(&mut self) -> Vec<Wait> {
        let dismissed = self.waiters.drain().map(|(_, waiter)| {
            if let Some(tell) = waiter.tell {
                // Whoever waited may be gone.
                drop(tell.send(Outcome::Withdrawn));
            }
            waiter.wait
        });
        dismissed.collect()
    }

    /// The key under which somebody waits for this ask.
    pub(crate) fn key_of(&self, ask_id: &str) -> Option<String> {
        let waits = |waiter: &&Waiter| waiter.wait.ask_id.as_deref() == Some(ask_id);
        self.waiters.values().find(waits).map(|waiter| waiter.wait.key.clone())
    }

    pub(crate) fn knows(&self, key: &str) -> bool {
        self.waiters.contains_key(key)
    }
}

/// Posts the ask of a wait and gives its id, however long the server cannot be reached.
///
/// # Errors
///
/// [`ToolError`] that says why there is and will be no such ask.
pub(crate) async fn post(gateway: &dyn Gateway, wait: &Wait) -> Result<String, ToolError> {
    loop {
        match post_once(gateway, wait).await {
            Err(ToolError::Failed { code, .. }) if !is_final(&code) => tokio::time::sleep(AGAIN).await,
            done => return done,
        }
    }
}

/// Posts the ask of a wait and gives its id; a repeat finds the same ask.
async fn post_once(gateway: &dyn Gateway, wait: &Wait) -> Result<String, ToolError> {
    let posted = post_ask_under(gateway, wait.key.clone(), &wait.key, wait.ask.clone()).await?;
    Ok(posted.ask_id.unwrap_or_default())
}

/// What became of an ask whose waiter is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// Nobody is asked any more.
    Withdrawn,
    /// The answer was first: it comes as any message does.
    Answered,
}

/// Withdraws an ask whose waiter is gone, however long the server cannot be reached; an answer that was first is left
/// to come.
pub(crate) async fn withdraw(gateway: &dyn Gateway, wait: &Wait) -> Left {
    loop {
        match withdraw_once(gateway, wait).await {
            Some(left) => return left,
            None => tokio::time::sleep(AGAIN).await,
        }
    }
}

/// None if the server cannot say.
async fn withdraw_once(gateway: &dyn Gateway, wait: &Wait) -> Option<Left> {
    let ask_id = match &wait.ask_id {
        Some(ask_id) => ask_id.clone(),
        // The earlier life died around its post: the same post under the same key says which ask it was.
        None => match post_once(gateway, wait).await {
            Ok(ask_id) => ask_id,
            Err(ToolError::Failed { code, .. }) if !ends_withdrawal(&code) => return None,
            Err(_) => return Some(Left::Withdrawn),
        },
    };
    match gateway.call(&wait.key, Call::CancelAsk { ask_id }).await {
        Ok(CallResult::CancelAsk) => Some(Left::Withdrawn),
        Err(CallError::Refused { code, .. }) if code == "already_exists" => Some(Left::Answered),
        // An ask that is not there, or no longer ours to see, cannot be withdrawn and asks nobody for us.
        Err(CallError::Refused { code, .. }) if ends_withdrawal(&code) => Some(Left::Withdrawn),
        Ok(_) | Err(_) => None,
    }
}

/// True if nothing is left to withdraw. A runner denies every call once the session is over, and then a later life
/// has to do it.
fn ends_withdrawal(code: &str) -> bool {
    code != "permission_denied" && is_final(code)
}

/// True if the same call will never succeed.
pub(crate) fn is_final(code: &str) -> bool {
    matches!(
        code,
        "not_found" | "permission_denied" | "invalid_argument" | "already_exists" | "failed_precondition"
    )
}
