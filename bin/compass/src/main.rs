//! The binary `compass`: composition root and command line.

mod ask_file;
mod cli;
mod commands;
mod config;
mod defaults;
mod directory;
mod failure;
mod output;
mod picker;
mod render;
mod server;
mod show;
mod system;
mod table;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failure::Failure::from(error).report(),
    };
    let ended = runtime.block_on(cli.run());
    // A thread that reads standard input cannot be stopped, and nobody has to close ours for us to end.
    runtime.shutdown_background();
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
