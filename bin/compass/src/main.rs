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
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misused(&error),
    };
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

/// Shows help or what is wrong with the command line. A hook that ends with 2 would block the session it serves.
fn misused(error: &clap::Error) -> ExitCode {
    // Nothing can be done if that cannot be shown.
    let _ = error.print();
    let is_hook = std::env::args_os().skip(1).take(2).eq(["agent", "hook"]);
    match u8::try_from(error.exit_code()) {
        Ok(2) if is_hook => ExitCode::FAILURE,
        Ok(code) => ExitCode::from(code),
        Err(_) => ExitCode::FAILURE,
    }
}
