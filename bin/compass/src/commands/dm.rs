//! `compass dm`: opens a direct conversation, and says something in it.

use compass_client::{ChannelName, NewPost, TopicName};
use compass_domain::message::DraftBlock;
use serde_json::json;

use super::{context::Context, post::with_key};
use crate::{config::Connection, failure::Failure, render, system};

/// Options of `compass dm`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Handle of the person or agent
    #[arg(value_name = "HANDLE")]
    peer: String,
    /// What to say [default: nothing, the conversation is only opened]
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// Topic to say it under
    #[arg(long, value_name = "TOPIC", default_value = "general")]
    topic: String,
    #[command(flatten)]
    connection: Connection,
}

/// Opens, then posts.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let context = Context::open(&args.connection).await?;
    let peer = args.peer.trim_start_matches('@');
    let direct = context.client.open_dm(peer).await?;
    let message = match args.text {
        None => None,
        Some(text) => {
            let key = system::fresh_key();
            let post = NewPost {
                channel: Some(ChannelName::Id(direct.channel.id.clone())),
                topic: TopicName::Name(args.topic),
                existing_topic_only: false,
                blocks: vec![DraftBlock::Text(text)],
                key: key.clone(),
            };
            Some(context.client.post(post).await.map_err(|error| with_key(error, key))?)
        }
    };
    if context.out.is_json() {
        return context.out.json(&json!({
            "channel": direct.channel, "created": direct.created, "message": message,
        }));
    }
    let opened = if direct.created { "opened" } else { "found" };
    let (id, name) = (render::line(&direct.channel.id), render::line(&direct.channel.name));
    context.out.line(&format!("{opened} #{name}, id {id}"))?;
    if let Some(message) = message {
        context.out.line(&format!("posted, id {}", render::line(&message.id)))?;
    }
    Ok(())
}
