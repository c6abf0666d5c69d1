//! What the test command needs: checks, tests, and a PostgreSQL server that comes and goes with them.

mod args;
mod error;
mod orphans;
mod page;
mod plan;
mod postgres;
mod process;
mod report;
mod run;
mod scratch;
mod tools;

use std::ffi::OsString;
use std::process::ExitCode;

use args::{Command, USAGE};
use error::Error;
use plan::Plan;
use process::Runner;

fn main() -> ExitCode {
    let command = match args::parse(std::env::args_os().skip(1)) {
        Ok(command) => command,
        Err(message) => {
            eprintln!("xtask: {message}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(command: Command) -> Result<ExitCode, Error> {
    match command {
        Command::Help => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        Command::Postgres { program, arguments } => with_postgres(&program, &arguments),
        Command::Steps { groups, long } => {
            Plan::new(&groups, long).run(&Runner::new()?).map(|()| ExitCode::SUCCESS)
        }
        Command::Page(task) => page::run(&task, &Runner::new()?).map(|()| ExitCode::SUCCESS),
    }
}

fn with_postgres(program: &OsString, arguments: &[OsString]) -> Result<ExitCode, Error> {
    let runner = Runner::new()?;
    let servers = postgres::Servers::start(&runner)?;
    let code = runner.interactive(program, arguments, &servers.environment_with_path()?);
    servers.stop()?;
    Ok(ExitCode::from(code?))
}
