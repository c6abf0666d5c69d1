//! `compass search`: finds messages.

use std::collections::BTreeSet;

use compass_client::{Client, ClientError, model::Message};

use super::context::Context;
use crate::{config::Connection, directory::Directory, failure::Failure, show};

/// Options of `compass search`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What to look for
    #[arg(value_name = "WORD", required = true)]
    words: Vec<String>,
    /// Name or id of the channel [default: all channels]
    #[arg(long, value_name = "CHANNEL")]
    channel: Option<String>,
    /// At most N messages, up to 200
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: u32,
    #[command(flatten)]
    connection: Connection,
}

/// Searches and prints, the best first.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let context = Context::open(&args.connection).await?;
    let client = &context.client;
    let mut names = Directory::load(client).await?;
    let channel = args.channel.map(|wanted| names.channel_id(&wanted)).transpose()?;
    let found = client.search(&args.words.join(" "), channel.as_deref(), args.limit).await?;
    if context.out.is_json() {
        return found.iter().try_for_each(|message| context.out.json(message));
    }
    if found.is_empty() {
        return context.out.line("nothing found");
    }
    load_topics(client, &mut names, &found).await?;
    let now = client.server_time_unix_ms();
    let shown = |message: &Message| show::message(message, &names, now, context.out.width());
    found.iter().try_for_each(|message| context.out.safe(&shown(message)))
}

/// Reads the topics of channels until those of the messages are known.
async fn load_topics(client: &Client, names: &mut Directory, found: &[Message]) -> Result<(), ClientError> {
    let mut unknown: BTreeSet<&str> = found.iter().map(|message| message.topic_id.as_str()).collect();
    for channel in names.channel_ids() {
        names.load_topics(client, &channel).await?;
        unknown.retain(|topic| names.channel_of(topic).is_none());
        if unknown.is_empty() {
            break;
        }
    }
    Ok(())
}
