//! `compass completions`: what a shell needs to complete this program's commands and options.

use clap_complete::Shell;

use crate::{failure::Failure, output::Output};

/// Options of `compass completions`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// For which shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// Prints the shell's script.
pub(crate) fn run(args: &Args, mut command: clap::Command) -> Result<(), Failure> {
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    let script = String::from_utf8(script).map_err(|error| Failure::Local(error.to_string()))?;
    Output::new(false).safe(&script)
}
