//! `compass read`: shows messages, oldest first.

use std::collections::BTreeMap;

use compass_client::{ChannelName, TopicName, model::Message};

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
    /// Note the shown topics as read up to what is shown [default: no]
    #[arg(long)]
    mark: bool,
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
    if args.mark {
        for (topic, seq) in newest(&messages) {
            client.mark_read(topic, seq).await?;
        }
    }
    Ok(())
}

/// The newest place of each topic among the messages.
fn newest(messages: &[Message]) -> BTreeMap<&str, u64> {
    let mut newest = BTreeMap::new();
    for message in messages {
        let seq: &mut u64 = newest.entry(message.topic_id.as_str()).or_default();
        *seq = message.channel_seq.max(*seq);
    }
    newest
}
