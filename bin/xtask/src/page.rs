//! The page: its packages, its code, its build, and the browser that drives it.

mod browser;
mod folders;
mod node;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::args::{Group, PageTask};
use crate::error::Error;
use crate::process::Runner;
use crate::run::{self, Run, cargo};
use crate::scratch::Scratch;
use node::Node;

/// Where the page's source is, from the top of the checkout.
const SOURCE: &str = "adapters/web/ui";
/// Where the built page is committed, from the top of the checkout.
const BUILT: &str = "adapters/web/assets";
/// The committed code that is generated from the contract, from the page's source.
const GENERATED: &str = "src/gen";
/// What to do about committed files that are old.
const REFRESH: &str = "run `cargo xtask page --write` and commit what changed";

/// What the steps of the page are run with.
pub(crate) struct Tools {
    node: Node,
    browser: PathBuf,
}

impl Tools {
    /// Finds or fetches Node.js, npm and the browser.
    pub(crate) fn obtain(run: &mut Run<'_>) -> Result<Self, Error> {
        let runner = run.runner();
        let node = run.timed(Group::Page, "node at hand", || Node::obtain(runner))?;
        let browser = run.timed(Group::Page, "chromium at hand", || browser::obtain(runner))?;
        println!("chromium: {}", browser.display());
        Ok(Self { node, browser })
    }
}

/// Runs one task of the page and prints the table of times, also after a failure.
pub(crate) fn run(task: &PageTask, runner: &Runner) -> Result<(), Error> {
    run::timed(runner, |run| match task {
        PageTask::Check { long } => {
            let tools = Tools::obtain(run)?;
            program(run)?;
            check(run, &tools, *long)
        }
        PageTask::Write => {
            let runner = run.runner();
            let node = run.timed(Group::Page, "node at hand", || Node::obtain(runner))?;
            write(run, &node)
        }
        PageTask::Screenshots(directory) => {
            let tools = Tools::obtain(run)?;
            packages(run, &tools.node)?;
            program(run)?;
            let mut pictures = script(run, &tools.node, "screenshots")?;
            pictures.env("COMPASS_SCREENSHOTS", absolute(directory)?);
            test(run, &tools, "screenshots", pictures)
        }
    })
}

/// Every check of the page; the program is built already.
pub(crate) fn check(run: &mut Run<'_>, tools: &Tools, long: bool) -> Result<(), Error> {
    packages(run, &tools.node)?;
    let scratch = Scratch::new()?;
    generated(run, &tools.node, scratch.path())?;
    for (name, title) in [("check", "types"), ("lint", "page lints"), ("test", "page tests")] {
        let command = script(run, &tools.node, name)?;
        run.step(Group::Page, title, command)?;
    }
    built(run, &tools.node, scratch.path())?;
    let mut bundle = script(run, &tools.node, "bundle")?;
    bundle.arg("--").arg(run.root().join(BUILT));
    run.step(Group::Page, "bundle", bundle)?;
    for (name, title) in [("e2e", "browser tests"), ("bench", "page measurements")] {
        let mut command = script(run, &tools.node, name)?;
        if long {
            command.env("COMPASS_LONG", "1");
        }
        test(run, tools, title, command)?;
    }
    Ok(())
}

/// Writes what is committed: the generated code and the built page.
fn write(run: &mut Run<'_>, node: &Node) -> Result<(), Error> {
    packages(run, node)?;
    let target = source(run).join(GENERATED);
    let scratch = Scratch::new()?;
    let fresh = generate(run, node, scratch.path())?;
    run.timed(Group::Page, "generated code written", || replace(&fresh, &target))?;
    let fresh = scratch.path().join("built");
    build(run, node, "build", &source(run), &fresh)?;
    let target = run.root().join(BUILT);
    run.timed(Group::Page, "built page written", || replace(&fresh, &target))
}

/// Installs exactly what the lock file names, unless that is what is there.
fn packages(run: &mut Run<'_>, node: &Node) -> Result<(), Error> {
    let source = source(run);
    let lock = source.join("package-lock.json");
    let wanted = fs::read(&lock).map_err(Error::io(format!("read {}", lock.display())))?;
    let mark = source.join("node_modules/.installed-from");
    // No mark yet, or one that cannot be read: both mean to install.
    if fs::read(&mark).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let mut install = node.npm(&["ci", "--silent", "--no-audit", "--no-fund"])?;
    install.current_dir(&source);
    run.step(Group::Page, "npm packages", install)?;
    fs::write(&mark, wanted).map_err(Error::io(format!("write {}", mark.display())))
}

/// The committed code is what the contract generates.
fn generated(run: &mut Run<'_>, node: &Node, scratch: &Path) -> Result<(), Error> {
    let committed = source(run).join(GENERATED);
    let fresh = generate(run, node, scratch)?;
    run.timed(Group::Page, "generated code is fresh", || {
        equal((&fresh, "the contract"), (&committed, "the checkout"), &format!("{SOURCE}/{GENERATED}"))
    })
}

/// Generates the code from the contract into `scratch`; gives its folder.
fn generate(run: &mut Run<'_>, node: &Node, scratch: &Path) -> Result<PathBuf, Error> {
    let output = scratch.join("generated");
    let mut command = script(run, node, "gen")?;
    command.args(["--", "--output"]).arg(&output);
    run.step(Group::Page, "generated code", command)?;
    Ok(output.join(GENERATED))
}

/// Builds in two folders, at another time zone and home; both have to equal what is committed.
fn built(run: &mut Run<'_>, node: &Node, scratch: &Path) -> Result<(), Error> {
    let here = scratch.join("built");
    build(run, node, "build", &source(run), &here)?;
    let elsewhere = scratch.join("another place/ui");
    let original = source(run);
    run.timed(Group::Page, "a second place", || folders::copy(&original, &elsewhere))?;
    let there = scratch.join("built again");
    build(run, node, "second build", &elsewhere, &there)?;
    let committed = run.root().join(BUILT);
    run.timed(Group::Page, "builds are equal", || {
        equal((&here, "the first build"), (&there, "the second build"), "the built page")?;
        equal((&here, "a fresh build"), (&committed, "the checkout"), BUILT)
    })
}

fn build(run: &mut Run<'_>, node: &Node, name: &str, source: &Path, output: &Path) -> Result<(), Error> {
    let mut command = node.npm(&["run", "--silent", "build", "--", "--emptyOutDir", "--outDir"])?;
    command.arg(output).current_dir(source);
    if name != "build" {
        command.env("TZ", "Pacific/Kiritimati").env("LC_ALL", "C");
    }
    run.step(Group::Page, name, command)
}

fn equal(
    (left, left_name): (&Path, &str),
    (right, right_name): (&Path, &str),
    what: &str,
) -> Result<(), Error> {
    let (left, right) = (folders::contents(left)?, folders::contents(right)?);
    let lines = folders::differences((&left, left_name), (&right, right_name));
    if lines.is_empty() {
        println!("{what}: {} files equal", left.len());
        return Ok(());
    }
    Err(Error::Old { what: what.to_owned(), differences: lines, refresh: REFRESH })
}

fn replace(fresh: &Path, target: &Path) -> Result<(), Error> {
    if target.exists() {
        fs::remove_dir_all(target).map_err(Error::io(format!("remove {}", target.display())))?;
    }
    folders::copy(fresh, target)?;
    println!("{}: {} files", target.display(), folders::contents(target)?.len());
    Ok(())
}

/// Builds the program as `cargo run` does.
fn program(run: &mut Run<'_>) -> Result<(), Error> {
    run.step(Group::Page, "build of compass", cargo(&["build", "--bin", "compass"]))
}

/// A command that drives the built program with the browser and has to leave nothing running.
fn test(run: &mut Run<'_>, tools: &Tools, name: &str, mut command: Command) -> Result<(), Error> {
    let scratch = Scratch::new()?;
    command.env("COMPASS_BIN", run::program()?).env("COMPASS_CHROMIUM", &tools.browser);
    command.env("TMPDIR", scratch.path());
    run.test(Group::Page, name, command)
}

fn script(run: &Run<'_>, node: &Node, name: &str) -> Result<Command, Error> {
    let mut command = node.npm(&["run", "--silent", name])?;
    command.current_dir(source(run));
    Ok(command)
}

fn source(run: &Run<'_>) -> PathBuf {
    run.root().join(SOURCE)
}

fn absolute(directory: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(directory).map_err(Error::io(format!("find {}", directory.display())))
}
