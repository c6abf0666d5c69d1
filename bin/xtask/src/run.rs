//! A run under way: its steps, and how long they took.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::args::Group;
use crate::error::Error;
use crate::process::Runner;
use crate::report::{self, Line};
use crate::{orphans, tools};

/// What the steps share.
pub(crate) struct Run<'a> {
    runner: &'a Runner,
    root: PathBuf,
    lines: Vec<Line>,
}

/// Does the work and prints the table of times, also after a failure.
pub(crate) fn timed(
    runner: &Runner,
    work: impl FnOnce(&mut Run<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    orphans::adopt();
    let mut run = Run { runner, root: root()?, lines: Vec::new() };
    let result = work(&mut run);
    println!("{}", report::table(&run.lines));
    result
}

impl<'a> Run<'a> {
    pub(crate) fn runner(&self) -> &'a Runner {
        self.runner
    }

    /// The top of the checkout.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Runs a command, at the top of the checkout unless it says otherwise.
    pub(crate) fn step(&mut self, group: Group, name: &str, mut command: Command) -> Result<(), Error> {
        self.place(&mut command);
        let runner = self.runner;
        self.timed(group, name, || runner.run(name, &mut command))
    }

    /// The same, and nothing that the command starts may outlive it.
    pub(crate) fn test(&mut self, group: Group, name: &str, mut command: Command) -> Result<(), Error> {
        self.place(&mut command);
        let runner = self.runner;
        self.timed(group, name, || runner.run_leaving_nothing(name, &mut command))
    }

    /// Does some work as a step.
    pub(crate) fn timed<T>(
        &mut self,
        group: Group,
        name: &str,
        work: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        println!("\n==> {name}");
        let start = Instant::now();
        let result = work();
        let line = Line { group, name: name.to_owned(), took: start.elapsed(), passed: result.is_ok() };
        self.lines.push(line);
        result
    }

    fn place(&self, command: &mut Command) {
        if command.get_current_dir().is_none() {
            command.current_dir(&self.root);
        }
    }
}

/// A command of cargo.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = tools::cargo();
    command.args(arguments);
    command
}

/// The program under test: built beside this one.
pub(crate) fn program() -> Result<PathBuf, Error> {
    let this = std::env::current_exe().map_err(Error::io("find this program"))?;
    Ok(this.with_file_name("compass"))
}

/// The top of the checkout that cargo runs this program for.
fn root() -> Result<PathBuf, Error> {
    let manifest =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let root = Path::new(&manifest).join("../..");
    root.canonicalize().map_err(Error::io(format!("find {}", root.display())))
}
