//! `compass agent`: creates agents, moves them in the tree and attaches them.

use serde_json::json;

use super::{agent_attach, agent_hook, agent_mcp, agent_run, context::Context, setup};
use crate::{config::Connection, directory::Directory, failure::Failure, render};

/// Options of `compass agent`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Creates an agent of yours with its home channel, and saves a token of it beside your login
    #[command(after_help = "Example:\n  compass agent create deploy-bot --display-name \"Deploys\"")]
    Create(CreateArgs),
    /// Puts an agent of yours below another one, or below nobody; its own agents come along
    #[command(after_help = "Example:\n  compass agent move deploy-bot --under release-lead")]
    Move(MoveArgs),
    /// Attaches a program as an agent: JSON lines on standard input and output
    #[command(after_help = "Example:\n  compass agent attach --agent deploy-bot")]
    Attach(agent_attach::Args),
    /// Handles one event of Claude Code, as JSON on standard input: hands messages over, asks what its model asks
    #[command(
        after_help = "Exit code: 0, also if there is nothing to say or Compass cannot be reached; 1 if the output was not \
                      written, and then nothing was acknowledged. Never 2, which would block the session.\n\nExample:\n  \
                      compass agent hook --agent deploy-bot"
    )]
    Hook(agent_hook::Args),
    /// Puts Compass into the settings of an agent program, or takes it out again
    #[command(after_help = "Example:\n  compass agent setup claude-code --project . --agent deploy-bot")]
    Setup(setup::Args),
    /// Runs an agent's program under its runner, JSON lines on the program's standard input and output
    #[command(
        after_help = "A runner starts this itself and sets the environment it needs. Exit code: that of the program, \
                      128 and the signal's number if a signal ended it.\n\nExample:\n  compass agent run --socket \
                      a.sock --state-dir state --account-id 0195e0c2 -- ./bot"
    )]
    Run(agent_run::Args),
    /// Serves an agent's tools over the Model Context Protocol on standard input and output
    #[command(
        after_help = "A client of the protocol starts this itself. Messages for the agent come with the results of its \
                      tools. The server's /mcp is the same over HTTP, for an agent's token.\n\nExample:\n  compass \
                      agent mcp --agent deploy-bot"
    )]
    Mcp(agent_mcp::Args),
}

#[derive(clap::Args, Debug)]
struct CreateArgs {
    /// Handle of the new agent: lower-case letters, digits, `.`, `_`, `-`
    #[arg(value_name = "HANDLE")]
    handle: String,
    /// Name shown beside the handle [default: none]
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    display_name: String,
    /// Handle of the agent it reports to [default: none]
    #[arg(long, value_name = "HANDLE")]
    parent: Option<String>,
    /// Create and save no token [default: one is saved in the login file]
    #[arg(long)]
    no_token: bool,
    #[command(flatten)]
    connection: Connection,
}

#[derive(clap::Args, Debug)]
struct MoveArgs {
    /// Handle of the agent
    #[arg(value_name = "HANDLE")]
    handle: String,
    /// Handle of the agent it reports to from now on [default: nobody, with --root]
    #[arg(long, value_name = "HANDLE", required_unless_present = "root", conflicts_with = "root")]
    under: Option<String>,
    /// Let it report to nobody [default: --under says to whom]
    #[arg(long)]
    root: bool,
    #[command(flatten)]
    connection: Connection,
}

/// Runs the wanted part.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    match args.command {
        Command::Create(args) => create(&args).await,
        Command::Move(args) => place(&args).await,
        Command::Attach(args) => agent_attach::run(args).await,
        Command::Hook(args) => agent_hook::run(args).await,
        Command::Setup(args) => setup::run(&args),
        Command::Run(args) => agent_run::run(args).await,
        Command::Mcp(args) => agent_mcp::run(args).await,
    }
}

async fn create(args: &CreateArgs) -> Result<(), Failure> {
    let mut context = Context::open(&args.connection).await?;
    let parent = match &args.parent {
        Some(handle) => Some(Directory::load(&context.client).await?.agent(handle)?.id.clone()),
        None => None,
    };
    let account = context.client.create_agent(&args.handle, &args.display_name, parent.as_deref()).await?;
    let saved =
        if args.no_token { None } else { Some(save_token(&mut context, &account.id, &args.handle).await?) };
    if context.out.is_json() {
        return context.out.json(&json!({ "account": account, "token_saved_in": saved }));
    }
    let created =
        format!("created agent @{}, id {}", render::line(&account.handle), render::line(&account.id));
    context.out.line(&created)?;
    if let Some(path) = saved {
        context.out.line(&format!("its token is saved in {path}; commands use it with --agent"))?;
    }
    Ok(())
}

async fn place(args: &MoveArgs) -> Result<(), Failure> {
    let context = Context::open(&args.connection).await?;
    let names = Directory::load(&context.client).await?;
    let agent = names.agent(&args.handle)?;
    let parent = match &args.under {
        Some(handle) => Some(names.agent(handle)?),
        None => None,
    };
    let parent_id = parent.map(|parent| parent.id.as_str());
    let account = context.client.reparent_agent(&agent.id, parent_id).await?;
    if context.out.is_json() {
        return context.out.json(&account);
    }
    let handle = render::line(&account.handle);
    context.out.line(&match parent {
        Some(parent) => format!("@{handle} reports to @{}", render::line(&parent.handle)),
        None => format!("@{handle} reports to nobody"),
    })
}

/// Issues a token for an agent of the signed-in person and saves it; tells where.
pub(crate) async fn save_token(
    context: &mut Context,
    account_id: &str,
    handle: &str,
) -> Result<String, Failure> {
    let token = context.client.issue_token(account_id).await?;
    Ok(context.config.save_agent(handle, &token)?.display().to_string())
}
