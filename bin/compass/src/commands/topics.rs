//! `compass topics`: lists a channel's topics.

use super::context::{Context, channel_name};
use crate::{config::Connection, failure::Failure, render};

/// Options of `compass topics`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Name or id of the channel
    #[arg(long, value_name = "CHANNEL")]
    channel: String,
    /// Archived topics as well [default: no]
    #[arg(long)]
    archived: bool,
    #[command(flatten)]
    connection: Connection,
}

/// Lists, latest activity first.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let context = Context::open(&args.connection).await?;
    let topics = context.client.topics(&channel_name(&args.channel), args.archived).await?;
    let now = context.client.server_time_unix_ms();
    for topic in topics {
        if context.out.is_json() {
            context.out.json(&topic)?;
            continue;
        }
        context.out.line(&format!(
            "{}  {:>5} messages  {:>2} open asks  {}{}  {}",
            render::line(&topic.id),
            topic.message_count,
            topic.open_ask_count,
            render::age(now, topic.last_activity_unix_ms),
            if topic.archived { "  archived" } else { "" },
            render::line(&topic.name),
        ))?;
    }
    Ok(())
}
