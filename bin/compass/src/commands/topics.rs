//! `compass topics`: lists a channel's topics, and changes them.

use std::collections::HashMap;

use compass_client::{
    ChannelName, Client,
    model::{ReadPosition, Topic},
};
use serde::Serialize;

use super::context::{Context, channel_name, is_id};
use crate::{config::Connection, failure::Failure, render};

/// Options of `compass topics`.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Name or id of the channel
    #[arg(long, value_name = "CHANNEL", required = true)]
    channel: Option<String>,
    /// Archived topics as well [default: no]
    #[arg(long)]
    archived: bool,
    #[command(flatten)]
    connection: Connection,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Gives a topic another name; the name of another topic joins the two
    #[command(after_help = "Example:\n  compass topics rename --channel releases --topic 4.2 4.3")]
    Rename {
        #[command(flatten)]
        target: Target,
        /// The new name
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Hides a topic from lists
    #[command(after_help = "Example:\n  compass topics archive --channel releases --topic 4.2")]
    Archive {
        #[command(flatten)]
        target: Target,
    },
    /// Shows an archived topic in lists again
    #[command(after_help = "Example:\n  compass topics revive --channel releases --topic 4.2")]
    Revive {
        #[command(flatten)]
        target: Target,
    },
}

/// Which topic, and where the server is.
#[derive(clap::Args, Debug)]
struct Target {
    /// Name or id of the channel
    #[arg(long, value_name = "CHANNEL")]
    channel: String,
    /// Name or id of the topic
    #[arg(long, value_name = "TOPIC")]
    topic: String,
    #[command(flatten)]
    connection: Connection,
}

/// A topic as machines read it.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    topic: &'a Topic,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<&'a ReadPosition>,
}

/// Lists or changes.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    match args.command {
        None => list(&args.connection, &args.channel.unwrap_or_default(), args.archived).await,
        Some(Command::Rename { target, name }) => change(&target, Some(name), None).await,
        Some(Command::Archive { target }) => change(&target, None, Some(true)).await,
        Some(Command::Revive { target }) => change(&target, None, Some(false)).await,
    }
}

/// Lists, latest activity first.
async fn list(connection: &Connection, channel: &str, archived: bool) -> Result<(), Failure> {
    let context = Context::open(connection).await?;
    let (topics, positions) = context.client.topics_read(&channel_name(channel), archived).await?;
    let positions: HashMap<&str, &ReadPosition> =
        positions.iter().map(|position| (position.topic_id.as_str(), position)).collect();
    for topic in &topics {
        print(&context, topic, positions.get(topic.id.as_str()).copied())?;
    }
    Ok(())
}

async fn change(target: &Target, name: Option<String>, archived: Option<bool>) -> Result<(), Failure> {
    let context = Context::open(&target.connection).await?;
    let id = topic_id(&context.client, &channel_name(&target.channel), &target.topic).await?;
    let topic = context.client.update_topic(&id, name, archived).await?;
    print(&context, &topic, None)
}

/// The id of a topic given by name or id, archived ones included.
async fn topic_id(client: &Client, channel: &ChannelName, wanted: &str) -> Result<String, Failure> {
    let topics = client.topics(channel, true).await?;
    let named = |topic: &&Topic| topic.name == wanted.trim();
    let alike = |topic: &&Topic| topic.name.to_lowercase() == wanted.trim().to_lowercase();
    let found = topics.iter().find(named).or_else(|| topics.iter().find(alike));
    match found {
        Some(topic) => Ok(topic.id.clone()),
        None if is_id(wanted) && topics.iter().any(|topic| topic.id == wanted) => Ok(wanted.to_owned()),
        None => Err(Failure::Usage(format!("no topic {wanted:?} in this channel"))),
    }
}

fn print(context: &Context, topic: &Topic, read: Option<&ReadPosition>) -> Result<(), Failure> {
    if context.out.is_json() {
        return context.out.json(&Line { topic, read });
    }
    context.out.line(&format!(
        "{}  {:>5} messages  {:>5} unread  {:>2} open asks  {}{}{}  {}",
        render::line(&topic.id),
        topic.message_count,
        read.map_or_else(|| "-".to_owned(), |read| read.unread_count.to_string()),
        topic.open_ask_count,
        render::age(context.client.server_time_unix_ms(), topic.last_activity_unix_ms),
        if topic.archived { "  archived" } else { "" },
        if topic.braked { "  paused: 30 agent messages without a person" } else { "" },
        render::line(&topic.name),
    ))
}
