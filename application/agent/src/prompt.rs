//! The text a model reads for delivered messages.
//!
//! Every mark of ours carries the fence of this one render, every name and value goes through the guard, and each
//! message stands in a record of its own. So no content can pose as a message, as a header or as a cue of ours.

use crate::{
    guard::{Fence, Randomness, flat},
    lanes::Handed,
    records::{self, put},
    seen::{Handles, SeenAsk, SeenBlock, SeenQuestion},
};

/// Bytes of a prompt beside its messages and their headers, at the most.
pub const FRAME_BYTES: usize = 1024;

/// A reader that asked nothing.
const NOBODY: &str = "";

/// When the messages that wait follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// With the prompt after this turn.
    NextTurn,
    /// With the next result of a tool, or before the next prompt, whichever is first.
    NextOccasion,
    /// With the prompt after this turn, for which another one was cut short.
    CutShort,
}

/// Renders a batch as one prompt of the agent `reader` and says how many more messages wait; an empty batch is an
/// empty text.
pub fn render(batch: &[Handed], waiting: usize, reader: &str, random: &Randomness) -> String {
    render_with(Rest::NextTurn, batch, waiting, reader, random)
}

/// As [`render`], for messages for which a turn was cut short; says that its work is not done.
pub fn render_interrupting(batch: &[Handed], reader: &str, random: &Randomness) -> String {
    render_with(Rest::CutShort, batch, 0, reader, random)
}

/// As [`render`], for a reader whose further messages follow on another way.
pub fn render_with(
    rest: Rest,
    batch: &[Handed],
    waiting: usize,
    reader: &str,
    random: &Randomness,
) -> String {
    if batch.is_empty() {
        return String::new();
    }
    let all: Vec<&str> = batch.iter().flat_map(contents).collect();
    let fence = Fence::mint(random, &all);
    let says = format!("{} delivered to you.", records::count(batch.len(), "message"));
    let mut text = records::framing("messages", &says, records::IN_RECORDS, &fence);
    for (first, section) in sections(batch) {
        text.push('\n');
        header(&mut text, first, &fence);
        for (index, handed) in section.into_iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            record(&mut text, handed, reader, &fence);
        }
    }
    text.push('\n');
    if rest == Rest::CutShort {
        put(
            &mut text,
            format_args!(
                "[interrupted {fence}] Your turn was cut short for this. Its work is not done: go on with it \
                 afterwards, unless the messages say otherwise.\n"
            ),
        );
    }
    if waiting > 0 {
        let when = match rest {
            Rest::NextTurn | Rest::CutShort => "after this turn",
            Rest::NextOccasion => "with the next call of a Compass tool or the next prompt",
        };
        let waiting = records::count(waiting, "message");
        put(&mut text, format_args!("[waiting {fence}] {waiting} more; they follow {when}.\n"));
    }
    put(
        &mut text,
        format_args!(
            "[reply {fence}] To answer, call comms_post_message and name the channel and the topic.\n"
        ),
    );
    text
}

/// Says in one line that a message is too long for where it would stand, and how to read it; `waiting` more wait
/// behind it.
pub fn announce(handed: &Handed, waiting: usize, random: &Randomness) -> String {
    let contents: Vec<&str> = contents(handed).collect();
    let fence = Fence::mint(random, &contents);
    let delivery = &handed.delivery;
    let behind = if waiting > 0 {
        format!(" {} more behind it.", records::count(waiting, "message"))
    } else {
        String::new()
    };
    format!(
        "[message waits {fence}] A message waits for you in channel {}, topic {}, from {}, id \"{}\". It is too long \
         to stand here: call any Compass tool, such as comms_list_messages, and the result brings it whole.{behind}\n",
        channel(handed, &fence),
        flat(topic(handed)),
        fence.attr(author(handed)),
        fence.attr(&delivery.message.id),
    )
}

/// Bytes a message adds to a prompt at the most, its header included, whoever reads it.
pub fn cost(handed: &Handed) -> usize {
    // Any fence has the same length, so one that is known to everybody will do for measuring.
    let fence = Fence::mint(&|| [0; 8], &[]);
    let mut text = "\n\n".to_owned();
    header(&mut text, handed, &fence);
    record(&mut text, handed, NOBODY, &fence);
    text.len()
}

/// What an answered ask of the account `asker` says to the agent `reader`, from its own snapshot alone but for what
/// accounts are called.
///
/// Lines of it are never empty, and every value is on one line.
pub fn answer(ask: &SeenAsk, asker: &str, handles: &Handles, reader: &str, fence: &Fence) -> String {
    // Everyone in a channel is delivered its answers, whoever asked.
    let whose = if asker == reader && reader != NOBODY {
        "Your ask".to_owned()
    } else {
        format!("The ask of {}", fence.attr(handles.name(asker)))
    };
    let mut text = format!(
        "[answer {fence} id=\"{}\"] {whose} was answered by {}.",
        fence.attr(&ask.ask_id),
        fence.attr(handles.name(&ask.answered_by_account_id))
    );
    for question in &ask.questions {
        put(&mut text, format_args!("\n[question {fence}] {}", flat(&question.question)));
        if !question.is_settled() {
            put(&mut text, format_args!("\n[skipped {fence}] The person skipped this question."));
        }
        if question.timed_out {
            put(&mut text, format_args!("\n[timed out {fence}] Time settled this question, not a person."));
        }
        if !question.chosen_option_ids.is_empty() {
            put(&mut text, format_args!("\n[chosen {fence}] {}", chosen(question, fence)));
        }
        if !question.custom_text.is_empty() {
            put(&mut text, format_args!("\n[written {fence}] {}", flat(&question.custom_text)));
        }
    }
    text
}

fn chosen(question: &SeenQuestion, fence: &Fence) -> String {
    let label = |id: &String| match question.options.iter().find(|option| option.id == *id) {
        Some(option) => flat(&option.label),
        None => format!("{} (unknown option {fence})", flat(id)),
    };
    question.chosen_option_ids.iter().map(label).collect::<Vec<_>>().join(", ")
}

/// The messages by channel and topic, in the order in which each pair was seen first.
fn sections(batch: &[Handed]) -> Vec<(&Handed, Vec<&Handed>)> {
    let place = |handed: &Handed| {
        let delivery = &handed.delivery;
        (delivery.channel_name.clone(), topic(handed).to_owned(), delivery.message.topic_id.clone())
    };
    let mut sections: Vec<(&Handed, Vec<&Handed>)> = Vec::new();
    for handed in batch {
        match sections.iter_mut().find(|(first, _)| place(first) == place(handed)) {
            Some((_, section)) => section.push(handed),
            None => sections.push((handed, vec![handed])),
        }
    }
    sections
}

fn topic(handed: &Handed) -> &str {
    let delivery = &handed.delivery;
    if delivery.topic_name.is_empty() { &delivery.message.topic_id } else { &delivery.topic_name }
}

fn header(text: &mut String, first: &Handed, fence: &Fence) {
    let channel = channel(first, fence);
    let topic_id = fence.attr(&first.delivery.message.topic_id);
    put(text, format_args!("[channel {fence}] {channel}\n"));
    put(text, format_args!("[topic {fence} id=\"{topic_id}\"] {}\n", flat(topic(first))));
}

fn channel(handed: &Handed, fence: &Fence) -> String {
    match handed.delivery.channel_name.as_str() {
        "" => format!("(unknown channel {fence})"),
        name => flat(name),
    }
}

fn author(handed: &Handed) -> &str {
    let delivery = &handed.delivery;
    if delivery.from_handle.is_empty() { delivery.message.author() } else { &delivery.from_handle }
}

fn record(text: &mut String, handed: &Handed, reader: &str, fence: &Fence) {
    let delivery = &handed.delivery;
    let message = &delivery.message;
    let before = if handed.delivered_before {
        format!("[delivered before {fence}] You may have read this message already.\n")
    } else {
        String::new()
    };
    // A bare ask says nothing here: it is for people.
    let shown = records::blocks(message, fence, |block| match block {
        SeenBlock::AskAnswer { ask, asker_account_id } => {
            Some(answer(ask, asker_account_id, &message.handles, reader, fence))
        }
        _ => None,
    });
    text.push_str(&records::record(message, author(handed), &[&before, &shown], fence));
}

/// Every text of a delivery that somebody else chose.
fn contents(handed: &Handed) -> impl Iterator<Item = &str> {
    let delivery = &handed.delivery;
    let names = [&delivery.channel_name, &delivery.topic_name, &delivery.from_handle];
    names.into_iter().map(String::as_str).chain(delivery.message.texts())
}

#[cfg(test)]
mod tests;
