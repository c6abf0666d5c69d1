//! The text a model reads for a page of messages.
//!
//! Every mark of ours carries the fence of this one render, and whatever shares a line with a mark goes through the
//! guard, so that no content can pose as a message, as a topic or as an ask.

use crate::{
    guard::{Fence, Randomness, flat},
    records,
    seen::{SeenAsk, SeenBlock, SeenMessage, SeenQuestion},
};

/// How a question stands.
#[derive(Clone, Copy)]
enum Mark {
    /// Nobody has answered it.
    Ask,
    /// Its ask has its answer.
    Answered,
    /// Its ask was withdrawn.
    Withdrawn,
    /// This is the message that answers it.
    Answer,
}

/// Renders a page, which comes newest first, oldest first and by topic; an empty page is an empty text.
///
/// `topic` is the name of the one topic the page is of, if it was asked for by name.
pub fn render(page: &[SeenMessage], topic: Option<&str>, random: &Randomness) -> String {
    if page.is_empty() {
        return String::new();
    }
    let contents: Vec<&str> = page.iter().flat_map(SeenMessage::texts).chain(topic).collect();
    let fence = Fence::mint(random, &contents);
    let says = format!("{}, oldest first in each topic.", records::count(page.len(), "message"));
    let mut text = records::framing("transcript", &says, records::IN_RECORDS, &fence);
    for (topic_id, messages) in topics(page) {
        let name = topic.map_or_else(String::new, |name| format!(" {}", flat(name)));
        let topic_id = fence.attr(topic_id);
        records::put(&mut text, format_args!("<topic {fence} id=\"{topic_id}\">{name}\n"));
        for message in messages {
            let shown = match records::blocks(message, &fence, |block| of_ask(block, &fence)) {
                empty if empty.is_empty() => format!("{}\n", records::nothing_to_show(&fence)),
                shown => shown,
            };
            text.push_str(&records::record(message, message.author(), &[&shown], &fence));
        }
    }
    text
}

/// The messages by topic, in the order in which each topic was seen first from the oldest on.
fn topics(page: &[SeenMessage]) -> Vec<(&str, Vec<&SeenMessage>)> {
    let mut topics: Vec<(&str, Vec<&SeenMessage>)> = Vec::new();
    for message in page.iter().rev() {
        match topics.iter_mut().find(|(id, _)| *id == message.topic_id) {
            Some((_, messages)) => messages.push(message),
            None => topics.push((&message.topic_id, vec![message])),
        }
    }
    topics
}

fn of_ask(block: &SeenBlock, fence: &Fence) -> Option<String> {
    match block {
        SeenBlock::Ask { ask } => {
            Some(lines(ask, Mark::of(ask), |question| Mark::in_ask(ask, question), fence))
        }
        SeenBlock::AskAnswer { ask, .. } => Some(lines(ask, Mark::Answer, |_| Mark::Answer, fence)),
        SeenBlock::Text { .. } | SeenBlock::Unknown => None,
    }
}

/// One line for each question that says something, or one for the ask as a whole.
fn lines(ask: &SeenAsk, whole: Mark, of: impl Fn(&SeenQuestion) -> Mark, fence: &Fence) -> String {
    let id = fence.attr(&ask.ask_id);
    let line = |question: &SeenQuestion| {
        let (mark, asked) = (of(question), flat(&question.question));
        let blank = asked.trim().is_empty() && !question.is_settled();
        let line = || format!("[{} {fence} id=\"{id}\"] {asked}{}", mark.word(), mark.end(question, fence));
        (!blank).then(line)
    };
    let lines: Vec<String> = ask.questions.iter().filter_map(line).collect();
    if lines.is_empty() { format!("[{} {fence} id=\"{id}\"]", whole.word()) } else { lines.join("\n") }
}

impl Mark {
    fn of(ask: &SeenAsk) -> Self {
        if ask.cancelled {
            Self::Withdrawn
        } else if ask.answered {
            Self::Answered
        } else {
            Self::Ask
        }
    }

    fn in_ask(ask: &SeenAsk, question: &SeenQuestion) -> Self {
        match Self::of(ask) {
            Self::Ask if question.is_settled() => Self::Answered,
            mark => mark,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Answered => "answered",
            Self::Withdrawn => "withdrawn",
            Self::Answer => "answer",
        }
    }

    /// What follows the question: labels, then what was written, then whether time settled it.
    fn end(self, question: &SeenQuestion, fence: &Fence) -> String {
        if matches!(self, Self::Ask | Self::Withdrawn) {
            return String::new();
        }
        if !question.is_settled() {
            return " → (skipped)".to_owned();
        }
        let mut said: Vec<String> = question.chosen_labels().into_iter().map(flat).collect();
        if !question.custom_text.is_empty() {
            said.push(flat(&question.custom_text));
        }
        let said = if said.is_empty() { String::new() } else { format!(" → {}", said.join(", ")) };
        let how = if question.timed_out { format!(" (timed out {fence})") } else { String::new() };
        said + &how
    }
}

#[cfg(test)]
mod tests;
