//! `compass channels`: lists channels, and makes one.

use compass_client::model::Channel;

use super::context::Context;
use crate::{config::Connection, failure::Failure, output::Output, render};

/// Options of `compass channels`.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    connection: Connection,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Lists the channels you can see
    #[command(after_help = "Example:\n  compass channels list --json")]
    List {
        #[command(flatten)]
        connection: Connection,
    },
    /// Creates a channel that you are a member of
    #[command(after_help = "Example:\n  compass channels create releases --member ana --member deploy-bot")]
    Create {
        /// Name of the channel
        #[arg(value_name = "NAME")]
        name: String,
        /// Handle of a member beside you; repeatable [default: none]
        #[arg(long = "member", value_name = "HANDLE")]
        members: Vec<String>,
        #[command(flatten)]
        connection: Connection,
    },
}

/// Lists or creates.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    match args.command.unwrap_or(Command::List { connection: args.connection }) {
        Command::List { connection } => list(&connection).await,
        Command::Create { name, members, connection } => create(&connection, &name, members).await,
    }
}

async fn list(connection: &Connection) -> Result<(), Failure> {
    let context = Context::open(connection).await?;
    for channel in context.client.channels().await? {
        print(context.out, &channel)?;
    }
    Ok(())
}

async fn create(connection: &Connection, name: &str, members: Vec<String>) -> Result<(), Failure> {
    let context = Context::open(connection).await?;
    let members = members.iter().map(|handle| handle.trim_start_matches('@').to_owned()).collect();
    print(context.out, &context.client.create_channel(name, members).await?)
}

fn print(out: Output, channel: &Channel) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(channel);
    }
    let members = channel.member_account_ids.len();
    let (id, name) = (render::line(&channel.id), render::line(&channel.name));
    out.line(&format!("{id}  {members:>3} members  {}  #{name}", channel.kind))
}
