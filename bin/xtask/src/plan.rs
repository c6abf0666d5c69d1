//! The steps of a run, in order; the first that fails ends it.

use std::path::Path;
use std::process::Command;

use crate::args::Group;
use crate::error::Error;
use crate::page;
use crate::postgres::{self, Servers};
use crate::process::Runner;
use crate::run::{self, Run, cargo};
use crate::scratch::Scratch;
use crate::tools;

/// The package whose tests drive the built program.
const END_TO_END: &str = "compass-e2e";

/// What to run.
pub(crate) struct Plan {
    groups: Vec<Group>,
    long: bool,
}

impl Plan {
    pub(crate) fn new(groups: &[Group], long: bool) -> Self {
        Self { groups: groups.to_vec(), long }
    }

    /// Runs the steps and prints the table of times, also after a failure.
    pub(crate) fn run(&self, runner: &Runner) -> Result<(), Error> {
        run::timed(runner, |run| self.steps(run))
    }

    fn steps(&self, run: &mut Run<'_>) -> Result<(), Error> {
        let tests = self.groups.iter().any(|group| matches!(group, Group::Unit | Group::EndToEnd));
        let page = self.groups.contains(&Group::Page);
        // A machine without a server, npm or a browser should say so before the long steps, not after them.
        if tests {
            postgres::binaries(run.runner())?;
        }
        let page = if page { Some(page::Tools::obtain(run)?) } else { None };
        if self.groups.contains(&Group::Lint) {
            lints(run)?;
        }
        if tests {
            build(run)?;
            let scratch = Scratch::new()?;
            let servers = Servers::start(run.runner())?;
            let result = self.tests(run, &servers, scratch.path());
            let stopped = servers.stop();
            result?;
            stopped?;
        }
        match page {
            Some(tools) => page::check(run, &tools, self.long),
            None => Ok(()),
        }
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
            command.env("COMPASS_BIN", run::program()?);
            run.test(Group::EndToEnd, "end-to-end tests", command)?;
        }
        Ok(())
    }
}

fn lints(run: &mut Run<'_>) -> Result<(), Error> {
    let runner = run.runner();
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
