//! The agent's turns: prompts one after the other, what proves that one was taken, and what cuts one short.

use std::{collections::VecDeque, time::Duration};

use agent_client_protocol::v1::schema::{SessionUpdate, StopReason};
use compass_agent::{
    guard::Randomness,
    lanes::{BATCH_BYTES, BATCH_MESSAGES, Handed},
    ports::HarnessEvent,
    prompt,
};
use tokio::time::Instant;

use super::connection::TurnError;

/// How long a turn that is to be cut short may go on.
pub(super) const CANCEL: Duration = Duration::from_secs(30);

/// What is to be prompted.
#[derive(Debug)]
pub(super) enum Prompt {
    /// Messages, and how many more wait.
    Messages(Vec<Handed>, usize),
    /// Messages for which a turn was cut short.
    Interrupting(Vec<Handed>),
    /// This text.
    Text(String),
}

/// A turn that runs.
#[derive(Debug)]
struct Turn {
    number: u64,
    prompt: Prompt,
    /// The agent showed that it took the prompt.
    accepted: bool,
    /// Until when it has to end, because it is cut short.
    ends_by: Option<Instant>,
}

/// What a turn came to.
#[derive(Debug, Default)]
pub(super) struct TurnEnd {
    /// For the core, in order.
    pub(super) events: Vec<HarnessEvent>,
    /// For people who watch.
    pub(super) remark: Option<String>,
}

/// The turn that runs and what waits for its end.
#[derive(Debug, Default)]
pub(super) struct Turns {
    number: u64,
    running: Option<Turn>,
    waiting: VecDeque<Prompt>,
    /// Messages the running turn is cut short for.
    steers: Vec<Handed>,
}

impl Prompt {
    fn messages(&self) -> &[Handed] {
        match self {
            Self::Messages(batch, _) | Self::Interrupting(batch) => batch,
            Self::Text(_) => &[],
        }
    }

    fn ids(&self) -> Vec<String> {
        self.messages().iter().map(|handed| handed.delivery.message.id.clone()).collect()
    }

    /// The same for a reader who may have read it already.
    fn once_more(mut self) -> Self {
        if let Self::Messages(batch, _) | Self::Interrupting(batch) = &mut self {
            for handed in batch {
                handed.delivered_before = true;
            }
        }
        self
    }

    fn render(&self, reader: &str, random: &Randomness) -> String {
        match self {
            Self::Messages(batch, waiting) => prompt::render(batch, *waiting, reader, random),
            Self::Interrupting(batch) => prompt::render_interrupting(batch, reader, random),
            Self::Text(text) => text.clone(),
        }
    }
}

impl Turns {
    /// The number of the turn that runs.
    pub(super) fn running(&self) -> Option<u64> {
        self.running.as_ref().map(|turn| turn.number)
    }

    /// True if the turn that runs is being cut short.
    pub(super) fn is_cut_short(&self) -> bool {
        self.running.as_ref().is_some_and(|turn| turn.ends_by.is_some())
    }

    /// When the turn that is cut short has to be over.
    pub(super) fn ends_by(&self) -> Option<Instant> {
        self.running.as_ref()?.ends_by
    }

    /// Queues a prompt.
    pub(super) fn queue(&mut self, prompt: Prompt) {
        self.waiting.push_back(prompt);
    }

    /// Takes a message in that cannot wait for the turn's end; true if the agent is to be told to end the turn.
    pub(super) fn interrupt(&mut self, message: Handed) -> bool {
        let Some(turn) = &mut self.running else {
            self.queue(Prompt::Messages(vec![message], 0));
            return false;
        };
        self.steers.push(message);
        let first = turn.ends_by.is_none();
        turn.ends_by.get_or_insert_with(|| Instant::now() + CANCEL);
        first
    }

    /// Begins the next turn, if none runs and something waits; gives its number and its text.
    pub(super) fn begin(&mut self, reader: &str, random: &Randomness) -> Option<(u64, String)> {
        if self.running.is_some() {
            return None;
        }
        let prompt = self.waiting.pop_front()?;
        self.number += 1;
        let text = prompt.render(reader, random);
        self.running = Some(Turn { number: self.number, prompt, accepted: false, ends_by: None });
        Some((self.number, text))
    }

    /// The agent did something that shows that it took the prompt.
    pub(super) fn evidence(&mut self) -> Option<HarnessEvent> {
        let turn = self.running.as_mut().filter(|turn| !turn.accepted)?;
        turn.accepted = true;
        accepted(turn.prompt.ids())
    }

    /// The turn of this number is over; what waits follows, a message it was cut short for first.
    pub(super) fn ended(&mut self, number: u64, how: Result<StopReason, TurnError>) -> TurnEnd {
        let mut end = TurnEnd::default();
        let Some(turn) = self.running.take_if(|turn| turn.number == number) else { return end };
        let asked = turn.ends_by.is_some();
        let cut = asked && matches!(how, Err(_) | Ok(StopReason::Cancelled));
        let (took, remark) = match how {
            // What it had not taken is before nobody, and stays begun: a later life says so.
            Err(TurnError::Gone) => return end,
            _ if cut => (turn.accepted, None),
            Ok(reason) => (true, remark(reason)),
            Err(TurnError::Failed(reason)) if turn.accepted => {
                (true, Some(format!("The agent's turn failed: {reason}")))
            }
            Err(TurnError::Failed(reason)) => {
                let message_ids = turn.prompt.ids();
                end.remark = Some(format!("The agent refused a prompt: {reason}"));
                if !message_ids.is_empty() {
                    end.events.push(HarnessEvent::Refused { message_ids, reason });
                }
                return end;
            }
        };
        end.remark = remark;
        if took && !turn.accepted {
            end.events.extend(accepted(turn.prompt.ids()));
        } else if !took {
            // Cut short before it showed that it had read anything: nobody knows, so it reads that once more.
            self.waiting.push_front(turn.prompt.once_more());
        }
        for (place, batch) in batches(std::mem::take(&mut self.steers)).into_iter().enumerate().rev() {
            let interrupts = cut && place == 0;
            let prompt = if interrupts { Prompt::Interrupting(batch) } else { Prompt::Messages(batch, 0) };
            self.waiting.push_front(prompt);
        }
        end
    }
}

/// Messages in prompts of the usual size; one that fits none goes alone.
fn batches(messages: Vec<Handed>) -> Vec<Vec<Handed>> {
    let mut batches: Vec<Vec<Handed>> = Vec::new();
    let mut bytes = 0;
    for message in messages {
        bytes += prompt::cost(&message);
        match batches.last_mut() {
            Some(batch) if batch.len() < BATCH_MESSAGES && bytes <= BATCH_BYTES => batch.push(message),
            _ => {
                bytes = prompt::FRAME_BYTES + prompt::cost(&message);
                batches.push(vec![message]);
            }
        }
    }
    batches
}

fn accepted(ids: Vec<String>) -> Option<HarnessEvent> {
    (!ids.is_empty()).then_some(HarnessEvent::Accepted(ids))
}

fn remark(reason: StopReason) -> Option<String> {
    let remark = match reason {
        StopReason::EndTurn => return None,
        StopReason::MaxTokens => "The agent's turn ended at its limit of tokens.",
        StopReason::MaxTurnRequests => "The agent's turn ended at its limit of requests.",
        StopReason::Refusal => "The agent refused to go on with a prompt.",
        StopReason::Cancelled => "The agent's turn was cancelled by the agent itself.",
        _ => "The agent's turn ended for a reason this version of Compass does not know.",
    };
    Some(remark.to_owned())
}

/// True if an update shows that the agent works on its prompt.
pub(super) fn is_evidence(update: &SessionUpdate) -> bool {
    matches!(
        update,
        SessionUpdate::UserMessageChunk(_)
            | SessionUpdate::AgentMessageChunk(_)
            | SessionUpdate::AgentThoughtChunk(_)
            | SessionUpdate::ToolCall(_)
            | SessionUpdate::ToolCallUpdate(_)
            | SessionUpdate::Plan(_)
    )
}

#[cfg(test)]
mod tests;
