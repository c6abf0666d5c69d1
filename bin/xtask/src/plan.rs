//! The steps of a run, in order; the first that fails ends it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::args::Group;
use crate::error::Error;
use crate::postgres::{self, Servers};
use crate::process::Runner;
use crate::report::{self, Line};
use crate::scratch::Scratch;
use crate::{orphans, tools};

/// The package whose tests drive the built program.
const END_TO_END: &str = "compass-e2e";

/// What to run.
pub(crate) struct Plan {
    groups: Vec<Group>,
    long: bool,
}

/// A run under way: what the steps share and how long they took.
struct Run<'a> {
    runner: &'a Runner,
    root: PathBuf,
    lines: Vec<Line>,
}

impl Plan {
    pub(crate) fn new(groups: &[Group], long: bool) -> Self {
        Self { groups: groups.to_vec(), long }
    }

    /// Runs the steps and prints the table of times, also after a failure.
    pub(crate) fn run(&self, runner: &Runner) -> Result<(), Error> {
        orphans::adopt();
        let mut run = Run { runner, root: root()?, lines: Vec::new() };
        let result = self.steps(&mut run);
        println!("{}", report::table(&run.lines));
        result
    }

    fn steps(&self, run: &mut Run<'_>) -> Result<(), Error> {
        let tests = self.groups.iter().any(|group| *group != Group::Lint);
        if tests {
            // A machine without a server should say so before the long steps, not after them.
            postgres::binaries(run.runner)?;
        }
        if self.groups.contains(&Group::Lint) {
            lints(run)?;
        }
        if tests {
            build(run)?;
            let scratch = Scratch::new()?;
            let servers = Servers::start(run.runner)?;
            let result = self.tests(run, &servers, scratch.path());
            let stopped = servers.stop();
            result?;
            stopped?;
        }
        Ok(())
    }

    fn tests(&self, run: &mut Run<'_>, servers: &Servers, scratch: &Path) -> Result<(), Error> {
        let prepared = |mut command: Command| {
            command.envs(servers.environment().iter().map(|(name, value)| (name, value)));
            command.env("TMPDIR", scratch);
            if self.long {
                command.env("COMPASS_LONG", "1");
            }
            command
        };
        if self.groups.contains(&Group::Unit) {
            let doc = cargo(&["test", "--workspace", "--doc"]);
            run.test(Group::Unit, "documentation tests", prepared(doc))?;
            run.test(Group::Unit, "unit and integration tests", prepared(unit()))?;
        }
        if self.groups.contains(&Group::EndToEnd) {
            let mut command = prepared(end_to_end());
            command.env("COMPASS_BIN", program()?);
            run.test(Group::EndToEnd, "end-to-end tests", command)?;
        }
        Ok(())
    }
}

impl Run<'_> {
    fn step(&mut self, group: Group, name: &str, mut command: Command) -> Result<(), Error> {
        command.current_dir(&self.root);
        let runner = self.runner;
        self.timed(group, name, || runner.run(name, &mut command))
    }

    fn test(&mut self, group: Group, name: &str, mut command: Command) -> Result<(), Error> {
        command.current_dir(&self.root);
        let runner = self.runner;
        self.timed(group, name, || runner.run_leaving_nothing(name, &mut command))
    }

    fn timed<T>(
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
}

fn lints(run: &mut Run<'_>) -> Result<(), Error> {
    let runner = run.runner;
    run.step(Group::Lint, "formatting", cargo(&["fmt", "--all", "--check"]))?;
    let machete = run.timed(Group::Lint, "cargo-machete at hand", || tools::MACHETE.obtain(runner))?;
    run.step(Group::Lint, "unused dependencies", Command::new(machete))?;
    let deny = run.timed(Group::Lint, "cargo-deny at hand", || tools::DENY.obtain(runner))?;
    let mut check = Command::new(deny);
    check.args(["--workspace", "check", "--hide-inclusion-graph", "licenses", "bans", "sources"]);
    run.step(Group::Lint, "licences, bans, sources", check)?;
    run.step(
        Group::Lint,
        "clippy",
        cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
    )?;
    let mut doc = cargo(&["doc", "--workspace", "--no-deps", "--quiet"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    run.step(Group::Lint, "documentation", doc)
}

/// One build of everything, so that the tests' own time is what the tests take.
fn build(run: &mut Run<'_>) -> Result<(), Error> {
    run.step(Group::Lint, "build", cargo(&["build", "--workspace", "--all-targets"]))
}

fn unit() -> Command {
    if tools::has_nextest() {
        let filter = format!("not package({END_TO_END})");
        cargo(&["nextest", "run", "--workspace", "--filterset", &filter])
    } else {
        cargo(&["test", "--workspace", "--all-targets", "--exclude", END_TO_END])
    }
}

fn end_to_end() -> Command {
    if tools::has_nextest() {
        // Selected by filter and not by package, as another selection would build the dependencies again.
        cargo(&["nextest", "run", "--workspace", "--filterset", &format!("package({END_TO_END})")])
    } else {
        cargo(&["test", "--package", END_TO_END, "--all-targets"])
    }
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = tools::cargo();
    command.args(arguments);
    command
}

/// The program under test: built beside this one.
fn program() -> Result<PathBuf, Error> {
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
