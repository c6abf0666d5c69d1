//! The inbox of a session: both lanes, the journal that backs them, and those who wait for answers.
//!
//! The mark "begun" is on disk before a message is handed over and "taken" before it is acknowledged, so one process
//! hands a message over at most once, and a later life does so again only if the earlier one died in between, and
//! then says so.

use std::collections::BTreeMap;

use tokio::sync::oneshot;

use crate::{
    lanes::{Effect, Handed, Lanes, Reason, Turns},
    ports::{Journal, JournalError, Mark, Wait},
    seen::Delivery,
    tools::PostAskParams,
    waiters::{Claim, Outcome, Waiters},
};

/// Everything that reaches one session. What its methods return is to be done, in order.
#[derive(Debug)]
pub struct Inbox<J> {
    journal: J,
    lanes: Lanes,
    waiters: Waiters,
    owner: String,
    counts: BTreeMap<Reason, u64>,
}

impl<J: Journal> Inbox<J> {
    /// An inbox over what earlier lives left in the journal; `owner` names this process among the agent's.
    pub fn new(journal: J, turns: Turns, owner: impl Into<String>) -> Self {
        Self {
            journal,
            lanes: Lanes::new(turns),
            waiters: Waiters::default(),
            owner: owner.into(),
            counts: BTreeMap::new(),
        }
    }

    /// Takes a delivery in. An answer that somebody waits for goes to them, ahead of the lanes.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if a mark cannot be read or written; nothing may be handed over then.
    pub fn arrive(&mut self, delivery: Delivery) -> Result<Vec<Effect>, JournalError> {
        let id = delivery.message.id.as_str();
        let fresh = !id.is_empty() && self.lanes.is_new(id);
        let mark = if fresh { self.journal.mark(id)? } else { None };
        if !fresh || mark == Some(Mark::Taken) {
            let effects = self.lanes.arrive(delivery, mark);
            return self.recorded(effects);
        }
        match self.waiters.claim(Box::new(delivery)) {
            Claim::Unclaimed(delivery) => {
                let effects = self.lanes.arrive(*delivery, mark);
                self.recorded(effects)
            }
            Claim::Given | Claim::Parked => Ok(Vec::new()),
        }
    }

    /// The harness is in a turn.
    pub fn turn_started(&mut self) {
        self.lanes.turn_started();
    }

    /// The harness ended its turn.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if a mark cannot be written; nothing may be handed over then.
    pub fn turn_ended(&mut self) -> Result<Vec<Effect>, JournalError> {
        let effects = self.lanes.turn_ended();
        self.recorded(effects)
    }

    /// The harness streams, or no longer does.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if a mark cannot be written; nothing may be handed over then.
    pub fn streaming(&mut self, streaming: bool) -> Result<Vec<Effect>, JournalError> {
        let effects = self.lanes.streaming(streaming);
        self.recorded(effects)
    }

    /// The harness took these. Those that an earlier life took are acknowledged again.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if the marks cannot be written; nothing may be acknowledged then.
    pub fn accepted(&mut self, message_ids: &[String]) -> Result<Vec<Effect>, JournalError> {
        let mut again = Vec::new();
        for id in message_ids {
            if !self.lanes.is_under_way(id) && self.journal.mark(id)? == Some(Mark::Taken) {
                again.push(id.clone());
            }
        }
        let mut effects = self.lanes.accepted(message_ids);
        if !again.is_empty() {
            effects.push(Effect::Acknowledge(again));
        }
        self.recorded(effects)
    }

    /// The harness did not take these: they count as never seen, and only the server brings them back.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if that cannot be written.
    pub fn refused(&mut self, message_ids: &[String]) -> Result<Vec<Effect>, JournalError> {
        let under_way = |id: &&String| self.lanes.is_under_way(id);
        let refused: Vec<String> = message_ids.iter().filter(under_way).cloned().collect();
        let effects = self.lanes.refused(message_ids);
        if !refused.is_empty() {
            self.journal.refuse(&refused)?;
        }
        self.recorded(effects)
    }

    /// True if the message was handed over in this life or taken in any.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if the marks cannot be read.
    pub fn knows(&mut self, message_id: &str) -> Result<bool, JournalError> {
        Ok(self.lanes.was_handed_over(message_id) || self.journal.mark(message_id)? == Some(Mark::Taken))
    }

    /// How often something was counted.
    pub fn count(&self, reason: Reason) -> u64 {
        self.counts.get(&reason).copied().unwrap_or_default()
    }

    /// Begins a wait for the answer to an ask that the harness posts itself. The ask may be posted under `key`
    /// once this returns; [`Self::posted`] or [`Self::end_wait`] is due after that. `tell` learns how it ends.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if the wait is not on disk; nothing may be posted then.
    pub fn wait(
        &mut self,
        key: &str,
        ask: PostAskParams,
        keep: bool,
        tell: oneshot::Sender<Outcome>,
    ) -> Result<Wait, JournalError> {
        let wait = Wait { key: key.to_owned(), owner: self.owner.clone(), ask, ask_id: None, keep };
        self.waiters.register(&mut self.journal, wait.clone(), tell)?;
        Ok(wait)
    }

    /// Notes which ask was posted under a key. Answers that came before are looked at again.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if that is not on disk.
    pub fn posted(&mut self, key: &str, ask_id: &str) -> Result<Vec<Effect>, JournalError> {
        let parked = self.waiters.posted(&mut self.journal, key, ask_id)?;
        self.arrive_all(parked)
    }

    /// The waiter took its answer: it is acknowledged, and the wait is over.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if that is not on disk; nothing may be acknowledged then.
    pub fn took(&mut self, key: &str) -> Result<Vec<Effect>, JournalError> {
        let Some(message_id) = self.waiters.taken(key) else { return Ok(Vec::new()) };
        let taken = self.lanes.taken_elsewhere(&message_id);
        let mut effects = self.recorded(vec![taken])?;
        effects.extend(self.end_wait(key, Outcome::Withdrawn)?);
        Ok(effects)
    }

    /// Ends a wait. Whoever still waits is told `outcome`; an answer that was not taken goes down the lanes.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if that is not on disk.
    pub fn end_wait(&mut self, key: &str, outcome: Outcome) -> Result<Vec<Effect>, JournalError> {
        self.journal.end_wait(key)?;
        let (_, freed) = self.waiters.dismiss(key, outcome);
        self.arrive_all(freed)
    }

    /// Nobody waits under this key any more. Its ask is still to be withdrawn, so the wait that is given stays on disk
    /// until [`Self::end_wait`].
    ///
    /// # Errors
    ///
    /// [`JournalError`] if a mark cannot be read or written.
    pub fn gave_up(&mut self, key: &str) -> Result<(Option<Wait>, Vec<Effect>), JournalError> {
        let (wait, freed) = self.waiters.dismiss(key, Outcome::Withdrawn);
        Ok((wait, self.arrive_all(freed)?))
    }

    /// True if somebody in this process waits under this key.
    pub fn is_waiting(&self, key: &str) -> bool {
        self.waiters.knows(key)
    }

    /// The ask was withdrawn; whoever waits for its answer is told so.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if that is not on disk.
    pub fn withdrawn(&mut self, ask_id: &str) -> Result<Vec<Effect>, JournalError> {
        match self.waiters.key_of(ask_id) {
            Some(key) => self.end_wait(&key, Outcome::Withdrawn),
            None => Ok(Vec::new()),
        }
    }

    /// The waits of earlier lives whose asks are to be withdrawn; end each once that is done.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if the waits cannot be read.
    pub fn left_behind(&mut self) -> Result<Vec<Wait>, JournalError> {
        let mut waits = self.journal.waits()?;
        waits.retain(|wait| wait.owner != self.owner && !wait.keep && !self.waiters.knows(&wait.key));
        Ok(waits)
    }

    /// Forgets everybody in this process who waits; gives those whose asks are to be withdrawn. The waits stay on disk
    /// until [`Self::forget`].
    pub fn leave(&mut self) -> Vec<Wait> {
        let mut waits = self.waiters.dismiss_all();
        waits.retain(|wait| !wait.keep && wait.ask_id.is_some());
        waits
    }

    /// Takes a wait off the disk, of which this process hands nothing over any more.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if that is not on disk.
    pub fn forget(&mut self, key: &str) -> Result<(), JournalError> {
        self.journal.end_wait(key)
    }

    fn arrive_all(&mut self, deliveries: Vec<Delivery>) -> Result<Vec<Effect>, JournalError> {
        let mut effects = Vec::new();
        for delivery in deliveries {
            effects.extend(self.arrive(delivery)?);
        }
        Ok(effects)
    }

    /// Puts the marks on disk that have to be there before the effects.
    fn recorded(&mut self, effects: Vec<Effect>) -> Result<Vec<Effect>, JournalError> {
        let ids = |batch: &[Handed]| {
            let fresh = batch.iter().filter(|handed| !handed.delivered_before);
            fresh.map(|handed| handed.delivery.message.id.clone()).collect::<Vec<_>>()
        };
        for effect in &effects {
            match effect {
                Effect::Inject { batch, .. } => self.begin(&ids(batch))?,
                Effect::Interrupt(handed) => self.begin(&ids(std::slice::from_ref(&**handed)))?,
                Effect::Acknowledge(ids) => self.take(ids)?,
                Effect::Count(reason) => *self.counts.entry(*reason).or_default() += 1,
            }
        }
        Ok(effects)
    }

    fn begin(&mut self, ids: &[String]) -> Result<(), JournalError> {
        if ids.is_empty() { Ok(()) } else { self.journal.begin(ids) }
    }

    fn take(&mut self, ids: &[String]) -> Result<(), JournalError> {
        let mut fresh = Vec::new();
        for id in ids {
            if self.journal.mark(id)? != Some(Mark::Taken) {
                fresh.push(id.clone());
            }
        }
        if fresh.is_empty() { Ok(()) } else { self.journal.take(&fresh) }
    }
}

#[cfg(test)]
mod tests;
