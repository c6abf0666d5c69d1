//! ACP: an agent that speaks the Agent Client Protocol, with Compass as its client.
//!
//! Messages become its prompts, what it does becomes events for those who watch, and what it wants to be permitted or
//! told becomes an ask. Files and terminals are not offered to it: it works with its own.

mod activity;
mod connection;
mod elicitation;
mod lines;
mod permission;
mod requests;
mod run;
mod setup;
#[cfg(test)]
mod tests;
mod turns;

use std::path::PathBuf;

use compass_agent::{
    guard::Randomness,
    inbox::Inbox,
    ports::{Gateway, Journal, Link},
    session::{self, Ended, RunError},
};
use futures::future::BoxFuture;
use tokio::io::{AsyncBufRead, AsyncWrite};

/// How a program of tools is started that speaks MCP on its standard input and output.
#[derive(Debug, Clone)]
pub struct ToolServer {
    /// The program, an absolute path.
    pub program: PathBuf,
    /// What it is given.
    pub args: Vec<String>,
    /// Variables that are set for it.
    pub env: Vec<(String, String)>,
}

/// What an agent is told, and what is kept of it.
pub struct Settings {
    /// The agent's account.
    pub account_id: String,
    /// Where it works, an absolute path.
    pub directory: PathBuf,
    /// Its tools of the conversation.
    pub tools: ToolServer,
    /// Keeps the id of its conversation, so that a later life can go on with it.
    pub session_file: PathBuf,
    /// Names this process among the agent's; begins the keys of its asks.
    pub life: String,
    /// What the fences of prompts are made of.
    pub random: Box<Randomness>,
    /// The time in milliseconds since 1970.
    pub now_unix_ms: Box<dyn Fn() -> i64 + Send + Sync>,
}

/// Runs until the agent's program ends, the link ends, `stop` comes, or the journal fails.
///
/// # Errors
///
/// [`RunError`] if the agent cannot be spoken to, which its text explains, or the journal fails.
pub async fn run<J: Journal>(
    link: &mut dyn Link,
    gateway: &dyn Gateway,
    inbox: &mut Inbox<J>,
    settings: Settings,
    input: impl AsyncBufRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
    stop: BoxFuture<'static, ()>,
) -> Result<Ended, RunError> {
    let mut agent = run::Agent::new(settings, input, output, stop);
    session::run(link, gateway, inbox, &mut agent).await
}
