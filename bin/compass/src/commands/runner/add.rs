//! `compass runner add`: a profile for an agent that is named by its handle.

use std::path::PathBuf;

use super::file::{self, Agent, Harness, Restart, Wake};
use crate::{commands::context::Context, config::Connection, directory::Directory, failure::Failure, render};

/// Options of `compass runner add`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Handle of the agent
    #[arg(value_name = "HANDLE")]
    handle: String,
    /// File to write it into; it is made if there is none
    #[arg(long, value_name = "FILE", required = true)]
    config: PathBuf,
    /// Directory the program runs in [default: the current one]
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// When the program is launched again
    #[arg(long, value_enum, default_value_t = Restart::OnFailure)]
    restart: Restart,
    /// What wakes the agent
    #[arg(long, value_enum, default_value_t = Wake::Mention)]
    wake: Wake,
    /// What the program speaks
    #[arg(long, value_enum, default_value_t = Harness::JsonLines)]
    harness: Harness,
    #[command(flatten)]
    connection: Connection,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    command: Vec<String>,
}

/// Looks the agent up and writes it down.
pub(super) async fn run(args: &Args) -> Result<(), Failure> {
    let context = Context::open(&args.connection).await?;
    let names = Directory::load(&context.client).await?;
    let account = names.agent(&args.handle).map_err(|unknown| {
        let handle = args.handle.trim_start_matches('@');
        Failure::Usage(format!("{unknown}; `compass agent create {handle}` makes an agent of yours"))
    })?;
    let directory = match &args.directory {
        Some(directory) => std::path::absolute(directory)?,
        None => std::env::current_dir()?,
    };
    let (program, rest) = args
        .command
        .split_first()
        .ok_or_else(|| Failure::Usage("say after -- which program is the agent".to_owned()))?;
    let agent = Agent {
        args: rest.to_vec(),
        restart: args.restart,
        wake: args.wake,
        harness: args.harness,
        ..Agent::new(account.id.clone(), account.handle.clone(), directory, program.clone())
    };
    file::append(&args.config, &agent)?;
    if context.out.is_json() {
        return context.out.json(&agent);
    }
    let (handle, path) = (render::line(&account.handle), args.config.display());
    context
        .out
        .line(&format!("added @{handle} to {path}; a runner that runs takes it in when it starts again"))
}
