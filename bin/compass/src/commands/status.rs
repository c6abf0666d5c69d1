//! `compass status`: what an agent says it is doing, shown or set.

use compass_client::{Client, RosterScope};
use serde_json::json;

use crate::{
    config::{Config, Connection},
    failure::Failure,
    output::Output,
    render,
};

/// Options of `compass status`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What the agent is doing, at most 140 characters; without it the present status is shown
    #[arg(value_name = "ACTIVITY")]
    activity: Option<String>,
    /// Handle of the agent to act as [default: the saved one]
    #[arg(long, env = "COMPASS_AGENT", value_name = "HANDLE")]
    agent: Option<String>,
    #[command(flatten)]
    connection: Connection,
}

/// Sets or shows.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let config = Config::load(&args.connection)?;
    let token = match (config.given_token(), config.agent(args.agent.as_deref())) {
        (Some(token), _) => token.to_owned(),
        (None, Some((_, Some(token)))) => token,
        (None, Some((handle, None))) => {
            return Err(Failure::Usage(format!(
                "no token of agent {handle:?} is saved; see compass agent create"
            )));
        }
        (None, None) => return Err(Failure::Usage("no agent is set up; name one with --agent".to_owned())),
    };
    let client = Client::connect(&config.url, Some(&token)).await?;
    let out = Output::new(args.connection.json);
    match args.activity {
        Some(activity) => set(&client, out, &activity).await,
        None => show(&client, out).await,
    }
}

async fn set(client: &Client, out: Output, activity: &str) -> Result<(), Failure> {
    client.agent_set_status(activity).await?;
    if out.is_json() {
        return out.json(&json!({ "activity": activity }));
    }
    out.line("the status is set")
}

async fn show(client: &Client, out: Output) -> Result<(), Failure> {
    let me = client.who_am_i().await?.account_id;
    let entries = client.roster(RosterScope::Subtree, None).await?;
    let Some(entry) = entries.into_iter().find(|entry| entry.agent_account_id == me) else {
        return Err(Failure::Usage("the token is not an agent's".to_owned()));
    };
    if out.is_json() {
        return out.json(&entry);
    }
    let activity = match (&entry.activity, entry.activity_at_unix_ms) {
        (Some(activity), Some(at)) => {
            format!("  {}  {}", render::line(activity), render::age(client.server_time_unix_ms(), at))
        }
        _ => String::new(),
    };
    out.line(&format!("@{}  {}{activity}", render::line(&entry.handle), entry.presence))
}
