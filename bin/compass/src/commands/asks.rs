//! `compass asks`: every open ask, oldest first, with its age and where it is.

use std::collections::BTreeSet;

use compass_client::model::{Ask, AskState, OpenAsk};
use serde_json::json;

use super::context::{Context, all_open_asks};
use crate::{config::Connection, directory::Directory, failure::Failure, output::Output, render, show};

/// Options of `compass asks`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Name or id of the channel [default: all channels]
    #[arg(long, value_name = "CHANNEL")]
    channel: Option<String>,
    /// Show the options too [default: the questions only]
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    connection: Connection,
}

/// Lists.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let context = Context::open(&args.connection).await?;
    let (names, mut entries) = load(&context, args.channel.as_deref()).await?;
    entries.reverse();
    let now = context.client.server_time_unix_ms();
    let out = context.out;
    for entry in &entries {
        for ask in open(entry) {
            if out.is_json() {
                print_json(out, entry, ask)?;
            } else {
                print(out, entry, ask, &names, now, args.full)?;
            }
        }
    }
    if entries.is_empty() && !out.is_json() {
        out.line("no open asks")?;
    }
    Ok(())
}

/// The open asks, newest first, with the names needed to show them.
pub(crate) async fn load(
    context: &Context,
    channel: Option<&str>,
) -> Result<(Directory, Vec<OpenAsk>), Failure> {
    let client = &context.client;
    let mut names = Directory::load(client).await?;
    let channel = channel.map(|wanted| names.channel_id(wanted)).transpose()?;
    let entries = all_open_asks(client, channel.as_deref()).await?;
    let channels: BTreeSet<_> = entries.iter().map(|entry| entry.channel_id.as_str()).collect();
    for channel in channels {
        names.load_topics(client, channel).await?;
    }
    Ok((names, entries))
}

/// The asks of an entry that are still open.
pub(crate) fn open(entry: &OpenAsk) -> impl Iterator<Item = &Ask> {
    entry.message.asks().filter(|ask| ask.state == AskState::Open)
}

/// One line of ours about an open ask.
pub(crate) fn headline(entry: &OpenAsk, ask: &Ask, names: &Directory, now: Option<i64>) -> String {
    format!(
        "ask {}  {}  {}  {}  {}",
        render::line(&ask.ask_id),
        names.account(&entry.message.author_account_id),
        names.topic(&entry.message.topic_id),
        render::age(now, entry.message.at_unix_ms),
        counted(ask.questions.len()),
    )
}

/// The same with the first line of what is asked, for a list to choose from.
pub(crate) fn listed(entry: &OpenAsk, ask: &Ask, names: &Directory, now: Option<i64>) -> String {
    let first = ask
        .questions
        .first()
        .and_then(|question| question.question.lines().find(|line| !line.trim().is_empty()));
    format!("{}  {}", headline(entry, ask, names, now), render::line(first.unwrap_or_default()))
}

fn counted(questions: usize) -> String {
    if questions == 1 { "1 question".to_owned() } else { format!("{questions} questions") }
}

fn print(
    out: Output,
    entry: &OpenAsk,
    ask: &Ask,
    names: &Directory,
    now: Option<i64>,
    full: bool,
) -> Result<(), Failure> {
    out.line(&headline(entry, ask, names, now))?;
    for (at, question) in ask.questions.iter().enumerate() {
        if full {
            out.safe(&show::question(at, question, out.width()))?;
        } else {
            out.body(&question.question, render::BODY)?;
        }
    }
    Ok(())
}

fn print_json(out: Output, entry: &OpenAsk, ask: &Ask) -> Result<(), Failure> {
    let message = &entry.message;
    out.json(&json!({
        "channel_id": entry.channel_id,
        "topic_id": message.topic_id,
        "message_id": message.id,
        "author_account_id": message.author_account_id,
        "at_unix_ms": message.at_unix_ms,
        "ask": ask,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_question_is_no_questions() {
        assert_eq!([counted(1), counted(2)], ["1 question", "2 questions"]);
    }
}
