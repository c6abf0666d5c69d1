//! The agent a command acts as: its token, its id, and how the first one comes about.

use std::io::{self, BufRead as _, IsTerminal as _};

use compass_client::{Client, ClientError};

use crate::{
    commands::{agent::save_token, context::Context},
    config::{Config, Connection},
    directory::Directory,
    failure::Failure,
    output, render,
};

const NO_AGENT: &str = "no agent is set up; name one with --agent, it is made if need be";

/// Which agent a command acts as.
#[derive(clap::Args, Debug, Clone, Default)]
pub(crate) struct AgentArgs {
    /// Handle of the agent to act as; made for you if it does not exist [default: the saved one]
    #[arg(long, env = "COMPASS_AGENT", value_name = "HANDLE")]
    pub(crate) agent: Option<String>,
}

/// An agent's connection.
pub(crate) struct Identity {
    /// Connected as the agent.
    pub(crate) client: Client,
    /// The agent's token.
    pub(crate) token: String,
    /// Where the server is.
    pub(crate) url: String,
}

impl Identity {
    /// Finds the agent's token, as [`Credentials::find`] does; the signed-in person is asked first which agent to make,
    /// unless one was named.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if there is neither an agent nor a person that could make one.
    pub(crate) async fn open(connection: &Connection, args: &AgentArgs) -> Result<Self, Failure> {
        let Credentials { url, token } = find(connection, args, ask_for_a_handle).await?;
        let client = Client::connect(&url, Some(&token)).await?;
        Ok(Self { client, token, url })
    }
}

/// Where the server is, and an agent's token for it.
pub(crate) struct Credentials {
    /// Where the server is.
    pub(crate) url: String,
    /// The agent's token.
    pub(crate) token: String,
}

impl Credentials {
    /// Finds the agent's token: the given one, the saved one, or one of an agent made now by the signed-in person.
    /// Nobody is asked anything, and nothing is connected to if there is a token.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if no agent is set up or nobody is signed in that could make it.
    pub(crate) async fn find(connection: &Connection, args: &AgentArgs) -> Result<Self, Failure> {
        find(connection, args, || Err(Failure::Usage(NO_AGENT.to_owned()))).await
    }
}

async fn find(
    connection: &Connection,
    args: &AgentArgs,
    unnamed: impl FnOnce() -> Result<String, Failure>,
) -> Result<Credentials, Failure> {
    let config = Config::load(connection)?;
    let token = match (config.given_token(), config.agent(args.agent.as_deref())) {
        (Some(token), _) => {
            if let Some(named) = &args.agent {
                let me = Client::connect(&config.url, Some(token)).await?.who_am_i().await?;
                check_owner(&me.handle, named)?;
            }
            token.to_owned()
        }
        (None, Some((_, Some(token)))) => token,
        (None, Some((handle, None))) => make(connection, &handle).await?,
        (None, None) => make(connection, &unnamed()?).await?,
    };
    Ok(Credentials { url: config.url, token })
}

/// Refuses a given token that is not that of the agent which is named beside it. A server that does not tell the owner's
/// handle lets every token pass.
///
/// # Errors
///
/// [`Failure::Usage`] that names both.
pub(crate) fn check_owner(owner: &str, named: &str) -> Result<(), Failure> {
    let named = named.trim();
    if owner.is_empty() || named.is_empty() || owner == named {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "the token that is given with --token or COMPASS_TOKEN is that of {owner:?}, but --agent or COMPASS_AGENT names \
         {named:?}: leave one of the two out"
    )))
}

fn ask_for_a_handle() -> Result<String, Failure> {
    if !output::is_interactive() || !io::stdin().is_terminal() {
        return Err(Failure::Usage(NO_AGENT.to_owned()));
    }
    output::remark("No agent is set up yet. Type a handle to create one and press Enter; nothing to leave.");
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    match line.trim() {
        "" => Err(Failure::Usage("no agent was created and nothing was asked".to_owned())),
        handle => Ok(handle.to_owned()),
    }
}

/// Creates the agent as the signed-in person, or takes the person's agent of that handle, and saves its token.
async fn make(connection: &Connection, handle: &str) -> Result<String, Failure> {
    let mut context = Context::open(connection).await?;
    let account_id = match context.client.create_agent(handle, "", None).await {
        Ok(account) => {
            let made = render::line(handle);
            output::remark(&format!("created agent @{made}, which did not exist, and saved its token"));
            account.id
        }
        Err(ClientError::Refused { code: "already_exists", .. }) => {
            Directory::load(&context.client).await?.agent(handle)?.id.clone()
        }
        Err(error) => return Err(error.into()),
    };
    save_token(&mut context, &account_id, handle).await?;
    let saved = context.config.agent(Some(handle)).and_then(|(_, token)| token);
    saved.ok_or_else(|| Failure::Local(format!("the token of agent {handle} was not saved")))
}
