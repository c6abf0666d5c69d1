//! `compass token`: creates, lists and revokes tokens, and sign-in secrets for people.

use serde_json::json;

use super::context::Context;
use crate::{
    config::Connection,
    directory::Directory,
    failure::Failure,
    output::{self, Output},
    render,
    server::sign_in_link,
};

/// Options of `compass token`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Creates a token and prints it once
    #[command(after_help = "Example:\n  compass token create --agent deploy-bot")]
    Create {
        #[command(flatten)]
        whose: Whose,
        #[command(flatten)]
        connection: Connection,
    },
    /// Creates a sign-in secret for a person and prints it once, and the page's link to standard error; it works once
    #[command(after_help = "Example:\n  compass token sign-in ana")]
    SignIn {
        /// Handle of the person
        #[arg(value_name = "HANDLE")]
        person: String,
        #[command(flatten)]
        connection: Connection,
    },
    /// Lists tokens without their secrets
    #[command(after_help = "Example:\n  compass token list --account deploy-bot")]
    List {
        /// Handle of the account [default: yours]
        #[arg(long, value_name = "HANDLE")]
        account: Option<String>,
        #[command(flatten)]
        connection: Connection,
    },
    /// Makes a token useless; repeating it is fine
    #[command(after_help = "Example:\n  compass token revoke 4f0c2b9d8e7a4c11a0b3d5e6f7081920")]
    Revoke {
        /// Id of the token, from `compass token list`
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        connection: Connection,
    },
}

#[derive(clap::Args, Debug)]
#[group(multiple = false)]
struct Whose {
    /// Handle of an agent [default: a token of your own]
    #[arg(long, value_name = "HANDLE")]
    agent: Option<String>,
    /// Name of a runner; administrators only [default: a token of your own]
    #[arg(long, value_name = "NAME")]
    runner: Option<String>,
    /// Handle of a person; administrators only [default: a token of your own]
    #[arg(long, value_name = "HANDLE")]
    person: Option<String>,
}

/// Runs the wanted part.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    match args.command {
        Command::Create { whose, connection } => create(&whose, &connection).await,
        Command::SignIn { person, connection } => sign_in(&person, &connection).await,
        Command::List { account, connection } => list(account.as_deref(), &connection).await,
        Command::Revoke { id, connection } => revoke(&id, &connection).await,
    }
}

async fn create(whose: &Whose, connection: &Connection) -> Result<(), Failure> {
    let context = Context::open(connection).await?;
    let client = &context.client;
    if let Some(runner) = &whose.runner {
        let token = client.issue_runner_token(runner).await?;
        return secret(context.out, "token", &token);
    }
    let account = match (&whose.agent, &whose.person) {
        (Some(handle), _) => Directory::load(client).await?.agent(handle)?.id.clone(),
        (None, Some(handle)) => Directory::load(client).await?.person(handle)?.id.clone(),
        (None, None) => client.who_am_i().await?,
    };
    secret(context.out, "token", &client.issue_token(&account).await?)
}

async fn sign_in(person: &str, connection: &Connection) -> Result<(), Failure> {
    let context = Context::open(connection).await?;
    let account = Directory::load(&context.client).await?.person(person)?.id.clone();
    let value = context.client.issue_sign_in(&account).await?;
    let link = sign_in_link(&context.config.url, &value);
    if context.out.is_json() {
        return context.out.json(&json!({ "secret": value, "link": link }));
    }
    output::remark(&format!("in a browser they sign in with {}", render::line(&link)));
    secret(context.out, "secret", &value)
}

async fn list(account: Option<&str>, connection: &Connection) -> Result<(), Failure> {
    let context = Context::open(connection).await?;
    let names = Directory::load(&context.client).await?;
    let account =
        account.map(|handle| names.by_handle(handle)).transpose()?.map(|account| account.id.as_str());
    let tokens = context.client.tokens(account).await?;
    let now = context.client.server_time_unix_ms();
    for token in tokens {
        if context.out.is_json() {
            context.out.json(&token)?;
            continue;
        }
        let whose = match (&token.account_id, &token.runner_id) {
            (Some(account), _) => names.account(account),
            (None, runner) => format!("runner {}", render::line(runner.as_deref().unwrap_or_default())),
        };
        let expires = token
            .expires_at_unix_ms
            .map_or_else(|| "never expires".to_owned(), |at| format!("expires {}", render::moment(at)));
        let age = render::age(now, token.created_at_unix_ms);
        context.out.line(&format!("{}  {whose}  created {age}  {expires}", render::line(&token.id)))?;
    }
    Ok(())
}

async fn revoke(id: &str, connection: &Connection) -> Result<(), Failure> {
    let context = Context::open(connection).await?;
    context.client.revoke_token_by_id(id).await?;
    if context.out.is_json() {
        return context.out.json(&json!({ "id": id, "revoked": true }));
    }
    context.out.line(&format!("revoked token {}", render::line(id)))
}

/// Prints nothing but the secret, so that a script can take it.
fn secret(out: Output, name: &str, value: &str) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(&json!({ name: value }));
    }
    out.line(&render::line(value))
}
