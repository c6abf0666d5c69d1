//! `compass demo`: the main job from end to end, in processes of its own and without a trace afterwards.

mod agent;
mod children;

use std::{
    io::{self, Write as _},
    path::Path,
    time::Duration,
};

use compass_client::{Client, model::OpenAsk};

use super::answer;
use crate::{config, defaults, failure::Failure, output, render, show};

pub(crate) use agent::{AgentArgs, run as run_agent};

use self::children::Child;

/// Handle of the agent that asks.
const AGENT: &str = "deploy-bot";
/// How long the parts have to come up.
const START: Duration = Duration::from_secs(30);

/// Options of `compass demo`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {}

/// Starts a server and an agent that asks; the person at the terminal answers; the agent prints what it got.
pub(crate) async fn run(_: Args) -> Result<(), Failure> {
    if !output::is_interactive() {
        return Err(Failure::Usage("the demo needs a terminal to answer in".to_owned()));
    }
    let home = tempfile::Builder::new().prefix("compass-demo-").tempdir()?;
    output::remark("Starting a server of its own; it keeps nothing when the demo ends.");
    let (server, url) = Child::server(home.path(), START).await?;
    let result = conversation(home.path(), &url).await;
    server.end().await;
    result
}

async fn conversation(home: &Path, url: &str) -> Result<(), Failure> {
    let person = sign_in(home, url).await?;
    let agent = person.create_agent(AGENT, "Deploy bot", None).await?;
    let token = person.issue_token(&agent.id).await?;
    output::remark("An agent, a process of its own, attaches and asks.");
    let mut agent = Child::agent(url, &token, home)?;
    let entry = tokio::select! {
        entry = first_ask(&person) => entry?,
        ended = agent.wait() => return Err(ended),
    };
    let ask = entry.message.asks().next().cloned();
    let ask = ask.ok_or_else(|| Failure::Local("the ask went away".to_owned()))?;
    output::remark("It waits for a decision of yours:");
    for (at, question) in ask.questions.iter().enumerate() {
        let shown = show::question(at, question, output::Output::new(false).width());
        io::stderr().lock().write_all(shown.as_bytes())?;
    }
    let ask_id = ask.ask_id.clone();
    let Some(answers) = answer::at_terminal(ask).await? else {
        output::remark("Nothing was sent, so the ask would stay open; the demo ends here.");
        return agent.stop().await;
    };
    person.answer(&ask_id, answers).await?;
    output::remark(&format!("You answered ask {}; the server delivers it.", render::line(&ask_id)));
    agent.finished(START).await?;
    output::remark("That is all: asked once, answered once, delivered and acknowledged.");
    output::remark("Start your own server with: compass serve");
    Ok(())
}

async fn sign_in(home: &Path, url: &str) -> Result<Client, Failure> {
    let secret = config::read_secret(&home.join(defaults::SIGN_IN_FILE))?;
    let signed_in =
        Client::connect(url, None).await?.trade_sign_in(&secret).await.map_err(Failure::SignIn)?;
    Ok(Client::connect(url, Some(&signed_in.token)).await?)
}

/// Waits for the agent's ask to stand in the inbox.
async fn first_ask(person: &Client) -> Result<OpenAsk, Failure> {
    loop {
        let page = person.open_asks(None, &compass_client::Page::default()).await?;
        if let Some(entry) = page.into_iter().next() {
            return Ok(entry);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
