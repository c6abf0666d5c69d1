//! What an agent without a delivering session is handed beside prompts: whole messages, oldest first, within a limit.
//!
//! The mark "begun" is on disk before a text is given away and "taken" before its messages are acknowledged. One
//! caller of all the agent's processes is at it at a time, so a message comes twice only if its first text may have
//! been lost, and then says so.

use std::collections::HashSet;

use crate::{
    guard::Randomness,
    lanes::{BATCH_MESSAGES, Handed},
    ports::{CallError, HandOver, Journal, JournalError, Mailbox, Mark},
    prompt::{self, Rest},
    seen::Delivery,
};

/// Pages that are read at the most while all they hold was taken before.
const PAGES: usize = 8;

/// How much one text may hold, its frame included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Characters as programs in JavaScript count them: one beyond U+FFFF counts twice.
    Characters(usize),
    /// Bytes of UTF-8.
    Bytes(usize),
}

/// What becomes of a message that is larger than the limit by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oversized {
    /// It goes alone and whole.
    Whole,
    /// One line says that it waits, and is no receipt for it.
    Announced,
}

/// The limit of one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How much fits.
    pub size: Size,
    /// What becomes of more.
    pub oversized: Oversized,
}

impl Limits {
    /// For the output of a command hook: 9,000 characters, below what Claude Code cuts off.
    pub const HOOK: Self = Self { size: Size::Characters(9_000), oversized: Oversized::Announced };
    /// For the result of a tool: 16 KiB beside the tool's own text.
    pub const TOOL_RESULT: Self = Self { size: Size::Bytes(16 * 1024), oversized: Oversized::Whole };

    /// True if the text fits.
    pub fn hold(self, text: &str) -> bool {
        match self.size {
            Size::Characters(most) => text.encode_utf16().count() <= most,
            Size::Bytes(most) => text.len() <= most,
        }
    }
}

/// A text for the model. It acknowledges nothing until [`took`] says that it got there; dropped, its messages come
/// again and say that they may have been read.
#[derive(Debug, Default)]
pub struct Picked {
    /// For the model; empty if there is nothing to say.
    pub text: String,
    /// The messages that stand in it whole.
    pub message_ids: Vec<String>,
    /// How many more wait, an announced one included.
    pub waiting: usize,
    /// The message that it announces, which is none of them.
    pub announced: Option<String>,
    hold: Option<HandOver>,
}

/// Why nothing could be picked up, or acknowledged.
#[derive(Debug, thiserror::Error)]
pub enum PickupError {
    /// The server did not do its part.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The marks cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Picks up what the agent `reader`, an account id, is owed and may be handed now: no answer that a living process
/// waits for, and nothing that was taken before; that is acknowledged again.
///
/// Nothing is picked up while another process or call of the agent is between this and [`took`].
///
/// # Errors
///
/// [`PickupError`]; nothing was handed over then.
pub async fn pick_up(
    mailbox: &dyn Mailbox,
    journal: &mut dyn Journal,
    limits: Limits,
    reader: &str,
    random: &Randomness,
) -> Result<Picked, PickupError> {
    let Some(hold) = journal.hand_over()? else { return Ok(Picked::default()) };
    let (ready, behind) = owed(mailbox, journal).await?;
    let mut picked = fit(&ready, behind, limits, reader, random);
    let taken = picked.message_ids.len();
    let fresh = ready.iter().take(taken).filter(|handed| !handed.delivered_before);
    let fresh: Vec<String> = fresh.map(|handed| handed.delivery.message.id.clone()).collect();
    if !fresh.is_empty() {
        journal.begin(&fresh)?;
    }
    picked.hold = Some(hold);
    Ok(picked)
}

/// Says that the text got there: its messages are marked as taken, then acknowledged. Call it after the flush.
///
/// # Errors
///
/// [`PickupError`]. Messages that were marked and not acknowledged are acknowledged by the next [`pick_up`].
pub async fn took(
    mailbox: &dyn Mailbox,
    journal: &mut dyn Journal,
    picked: Picked,
) -> Result<(), PickupError> {
    if picked.message_ids.is_empty() {
        return Ok(());
    }
    journal.take(&picked.message_ids)?;
    mailbox.acknowledge(&picked.message_ids).await?;
    // Others may be at it from here on: what was taken is on the server too.
    drop(picked.hold);
    Ok(())
}

/// What may be handed over, oldest first, and how many more are owed behind it.
async fn owed(mailbox: &dyn Mailbox, journal: &mut dyn Journal) -> Result<(Vec<Handed>, usize), PickupError> {
    let awaited: HashSet<_> = journal.live_waits()?.into_iter().filter_map(|wait| wait.ask_id).collect();
    let page = u32::try_from(BATCH_MESSAGES).unwrap_or(u32::MAX);
    let mut pages = 0;
    loop {
        pages += 1;
        let owed = mailbox.fetch(page, None).await?;
        let (mut ready, mut taken) = (Vec::new(), Vec::new());
        for delivery in owed.deliveries {
            let id = &delivery.message.id;
            if id.is_empty() || is_awaited(&delivery, &awaited) {
                continue;
            }
            match journal.mark(id)? {
                Some(Mark::Taken) => taken.push(id.clone()),
                mark => ready.push(Handed { delivery, delivered_before: mark.is_some() }),
            }
        }
        if !taken.is_empty() {
            mailbox.acknowledge(&taken).await?;
        }
        let behind = usize::try_from(owed.waiting).unwrap_or(usize::MAX);
        if !ready.is_empty() || taken.is_empty() || behind == 0 || pages == PAGES {
            return Ok((ready, behind));
        }
    }
}

fn is_awaited(delivery: &Delivery, awaited: &HashSet<String>) -> bool {
    delivery.message.answer().is_some_and(|ask| awaited.contains(&ask.ask_id))
}

/// As many messages from the front as fit.
fn fit(ready: &[Handed], behind: usize, limits: Limits, reader: &str, random: &Randomness) -> Picked {
    let Some(first) = ready.first() else { return Picked { waiting: behind, ..Picked::default() } };
    let render = |count: usize| {
        let (batch, rest) = ready.split_at(count);
        let waiting = behind.saturating_add(rest.len());
        let text = prompt::render_with(Rest::NextOccasion, batch, waiting, reader, random);
        let message_ids = batch.iter().map(|handed| handed.delivery.message.id.clone()).collect();
        Picked { text, message_ids, waiting, ..Picked::default() }
    };
    let fitting = (1..=ready.len()).map(render).take_while(|picked| limits.hold(&picked.text));
    match (fitting.last(), limits.oversized) {
        (Some(picked), _) => picked,
        (None, Oversized::Whole) => render(1),
        (None, Oversized::Announced) => {
            let waiting = behind.saturating_add(ready.len());
            let text = prompt::announce(first, waiting - 1, random);
            let announced = Some(first.delivery.message.id.clone());
            Picked { text, waiting, announced, ..Picked::default() }
        }
    }
}

#[cfg(test)]
mod tests;
