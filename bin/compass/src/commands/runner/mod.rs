//! `compass runner`: runs agents on this machine for a server somewhere else.

mod add;
mod file;
mod parts;
mod run;

use std::path::PathBuf;

use crate::{config::Connection, defaults, failure::Failure, output::Output, server::LogFormat};

/// Options of `compass runner`.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(clap::Args, Debug)]
struct RunArgs {
    /// File with the agents of this runner
    #[arg(long, value_name = "FILE", required = true)]
    config: Option<PathBuf>,
    /// Directory of what must survive the runner [default: the platform's state directory]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// File with the runner's token [default: --token says it]
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    token_file: Option<PathBuf>,
    #[command(flatten)]
    connection: Connection,
    /// What to log: a level, or levels per module such as info,compass_gateway=debug
    #[arg(long, env = "COMPASS_LOG", value_name = "FILTER", default_value = defaults::LOG)]
    log: String,
    /// How the log reads
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Says whether a runner could run with a configuration on this machine
    #[command(after_help = "Example:\n  compass runner check --config runner.toml")]
    Check(CheckArgs),
    /// Writes an agent of yours into a configuration
    #[command(
        after_help = "Example:\n  compass runner add deploy-bot --config runner.toml -- ./deploy-bot --quiet"
    )]
    Add(add::Args),
    /// Becomes the program of an agent
    #[command(hide = true, after_help = "Example:\n  compass runner exec --parent 1234 -- ./deploy-bot")]
    Exec(parts::ExecArgs),
    /// Ends the agents of a runner that was killed
    #[command(hide = true, after_help = "Example:\n  compass runner guard")]
    Guard,
}

#[derive(clap::Args, Debug)]
struct CheckArgs {
    /// File with the agents of the runner
    #[arg(long, value_name = "FILE", required = true)]
    config: PathBuf,
}

/// Runs the wanted part.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    match args.command {
        None => run::run(args.run).await,
        Some(Command::Check(args)) => check(&args),
        Some(Command::Add(args)) => add::run(&args).await,
        Some(Command::Exec(args)) => parts::exec(&args),
        Some(Command::Guard) => parts::guard(),
    }
}

fn check(args: &CheckArgs) -> Result<(), Failure> {
    let configuration = file::read(&args.config)?;
    if let Some(directory) = &configuration.socket_dir {
        compass_gateway::runner::check_sockets(&std::path::absolute(directory)?)
            .map_err(|reason| file::at(&args.config, &format!("socket_dir: {reason}")))?;
    }
    for (index, profile) in configuration.profiles.iter().enumerate() {
        compass_gateway::runner::check(profile)
            .map_err(|error| file::wrong(&args.config, index, error.field, &error.reason))?;
    }
    let agents = configuration.profiles.len();
    let plural = if agents == 1 { "agent" } else { "agents" };
    Output::new(false).line(&format!("{}: {agents} {plural}, all can be run", args.config.display()))
}
