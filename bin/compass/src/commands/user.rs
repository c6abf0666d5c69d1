//! `compass user`: creates people.

use serde_json::json;

use super::context::Context;
use crate::{config::Connection, failure::Failure, render, server::sign_in_link};

/// Options of `compass user`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Creates a person and prints the secret they sign in with; administrators only
    #[command(after_help = "Example:\n  compass user create ana --display-name \"Ana Lima\"")]
    Create(CreateArgs),
}

#[derive(clap::Args, Debug)]
struct CreateArgs {
    /// Handle of the new person: lower-case letters, digits, `.`, `_`, `-`
    #[arg(value_name = "HANDLE")]
    handle: String,
    /// Name shown beside the handle [default: none]
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    display_name: String,
    #[command(flatten)]
    connection: Connection,
}

/// Runs the wanted part.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let Command::Create(args) = args.command;
    let context = Context::open(&args.connection).await?;
    let account = context.client.create_user(&args.handle, &args.display_name).await?;
    let secret = context.client.issue_sign_in(&account.id).await?;
    let link = sign_in_link(&context.config.url, &secret);
    if context.out.is_json() {
        return context.out.json(&json!({ "account": account, "secret": secret, "link": link }));
    }
    let created = format!("created @{}, id {}", render::line(&account.handle), render::line(&account.id));
    context.out.line(&created)?;
    context.out.line(&format!("they sign in once, in a browser: {}", render::line(&link)))?;
    context.out.line(&format!("or at a terminal: compass login {}", render::line(&secret)))
}
