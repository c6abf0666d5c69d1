//! `compass post`: posts a message, or an ask of a person's own.

use std::{
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
};

use clap::builder::NonEmptyStringValueParser;
use compass_client::{ClientError, NewPost, TopicName};
use compass_domain::message::DraftBlock;

use super::context::{Context, channel_name, read_input};
use crate::{ask_file, config::Connection, failure::Failure, output, render, system};

/// Options of `compass post`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The text; words are joined by spaces [default: standard input]
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
    /// Name or id of the channel
    #[arg(long, value_name = "CHANNEL")]
    channel: String,
    /// Name of the topic; made if need be
    #[arg(long, value_name = "TOPIC")]
    topic: String,
    /// Refuse to make a topic [default: no]
    #[arg(long)]
    existing_topic: bool,
    /// Post the ask in this JSON file (`-`: standard input), after the text if there is one [default: none]
    #[arg(long, value_name = "FILE")]
    ask: Option<PathBuf>,
    /// Posting again with the same key gives the same message [default: a new key]
    #[arg(long, value_name = "KEY", value_parser = NonEmptyStringValueParser::new())]
    key: Option<String>,
    #[command(flatten)]
    connection: Connection,
}

/// Posts.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let blocks = blocks(&args)?;
    let context = Context::open(&args.connection).await?;
    let key = args.key.clone().unwrap_or_else(system::fresh_key);
    let post = NewPost {
        channel: Some(channel_name(&args.channel)),
        topic: TopicName::Name(args.topic.clone()),
        existing_topic_only: args.existing_topic,
        blocks,
        key: key.clone(),
    };
    let message = context.client.post(post).await.map_err(|error| with_key(error, key))?;
    let out = context.out;
    if args.ask.is_some() {
        output::remark(
            "an ask posted by a person stays open until a person answers it; it cannot be withdrawn",
        );
    }
    if out.is_json() {
        return out.json(&message);
    }
    out.line(&format!("posted message {}", render::line(&message.id)))?;
    for ask in message.asks() {
        out.line(&format!("posted ask {}", render::line(&ask.ask_id)))?;
    }
    Ok(())
}

/// A lost result is worth repeating, and only the key makes that safe.
pub(crate) fn with_key(error: ClientError, key: String) -> Failure {
    if error.is_transient() { Failure::Post { error, key } } else { error.into() }
}

fn blocks(args: &Args) -> Result<Vec<DraftBlock>, Failure> {
    let mut blocks = Vec::new();
    if let Some(text) = text(args)? {
        blocks.push(DraftBlock::Text(text));
    }
    if let Some(path) = &args.ask {
        let ask = ask_file::parse(&read_input(path)?)
            .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
        blocks.push(DraftBlock::Ask(ask));
    }
    Ok(blocks)
}

fn text(args: &Args) -> Result<Option<String>, Failure> {
    match args.text.as_slice() {
        [] if args.ask.is_some() => return Ok(None),
        [] => {}
        [dash] if dash == "-" => {}
        words if words.iter().any(|word| !word.trim().is_empty()) => return Ok(Some(words.join(" "))),
        _ => return Err(without_text()),
    }
    if io::stdin().is_terminal() {
        output::remark("write the text, then press Ctrl-D");
    }
    let text = read_input(Path::new("-"))?;
    if text.trim().is_empty() {
        return Err(without_text());
    }
    Ok(Some(text))
}

fn without_text() -> Failure {
    Failure::Usage("there is no text to post".to_owned())
}
