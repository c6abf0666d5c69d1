//! `compass read`: shows messages, oldest first.

use compass_client::{ChannelName, TopicName};

use super::context::{Context, all_messages};
use crate::{config::Connection, directory::Directory, failure::Failure, show};

/// Options of `compass read`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Name or id of the channel
    #[arg(long, value_name = "CHANNEL")]
    channel: String,
    /// Name of the topic [default: all]
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// Only the newest N messages [default: all]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    connection: Connection,
}

/// Reads every page, then prints from the oldest on.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let context = Context::open(&args.connection).await?;
    let client = &context.client;
    let mut names = Directory::load(client).await?;
    let channel = names.channel_id(&args.channel)?;
    names.load_topics(client, &channel).await?;
    let topic = args.topic.map(TopicName::Name);
    let messages = all_messages(client, &ChannelName::Id(channel), topic.as_ref(), args.limit).await?;
    let now = client.server_time_unix_ms();
    for message in messages.iter().rev() {
        if context.out.is_json() {
            context.out.json(message)?;
        } else {
            context.out.safe(&show::message(message, &names, now, context.out.width()))?;
        }
    }
    Ok(())
}
