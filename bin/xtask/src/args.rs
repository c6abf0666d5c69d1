//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

/// A part of the whole run, each with its own share of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    /// Formatting, lints, documentation, dependencies, and the build of everything.
    Lint,
    /// Every test but the end-to-end ones.
    Unit,
    /// The tests that drive the built program.
    EndToEnd,
    /// The page: its code, its build, and the browser that drives it.
    Page,
}

/// What to do with the page beside checking it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PageTask {
    /// Every check of the page alone.
    Check { long: bool },
    /// Generated code and the built page, written to where they are committed.
    Write,
    /// Pictures of every view into this directory.
    Screenshots(PathBuf),
}

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Steps { groups: Vec<Group>, long: bool },
    Page(PageTask),
    Postgres { program: OsString, arguments: Vec<OsString> },
}

pub(crate) const USAGE: &str = "\
Usage: cargo xtask COMMAND

  test [--long]      every check and every test; brings its own PostgreSQL
  lint               formatting, clippy, rustdoc, cargo-deny, cargo-machete
  unit [--long]      unit, integration and documentation tests
  e2e [--long]       builds compass, then the end-to-end tests
  page [--long]      the page: packages, lints, tests, two builds, browser tests, measurements
  page --write       generates and builds the page into where it is committed
  page --screenshots DIR
                     pictures of every view in both themes and at 320 px
  postgres -- CMD    runs CMD beside temporary PostgreSQL servers

--long sets COMPASS_LONG=1: more trials in the tests that race or kill, and the page's measurements in full.

PostgreSQL comes from COMPASS_TEST_DATABASE_URL (a running server, used as it is; with
COMPASS_TEST_DURABLE_DATABASE_URL beside it for the tests that need durability), else from the binaries in
COMPASS_PG_BIN, else from the system, else it is fetched into the user's cache directory.
The page is built with one version of Node.js, which npm fetches into the user's cache directory; its tests drive
the Chromium that COMPASS_CHROMIUM names or the system has, installed by apt-get where that may be.

Example: cargo xtask postgres -- sh -c 'psql \"$COMPASS_TEST_DATABASE_URL\" -c \"select version()\"'";

/// Reads the arguments after the program's name.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Command, String> {
    let mut arguments = arguments;
    let Some(name) = arguments.next() else { return Err("a command is missing".to_owned()) };
    let rest: Vec<OsString> = arguments.collect();
    let groups = match name.to_str() {
        Some("help" | "--help" | "-h") => return Ok(Command::Help),
        Some("postgres") => return postgres(rest),
        Some("page") => return page(rest),
        Some("test") => vec![Group::Lint, Group::Unit, Group::EndToEnd, Group::Page],
        Some("lint") => vec![Group::Lint],
        Some("unit") => vec![Group::Unit],
        Some("e2e") => vec![Group::EndToEnd],
        _ => return Err(format!("unknown command {}", name.display())),
    };
    let tests = groups != [Group::Lint];
    match rest.iter().find(|option| !(tests && *option == "--long")) {
        Some(option) if option == "--help" || option == "-h" => Ok(Command::Help),
        Some(option) => Err(format!("unknown option {} of {}", option.display(), name.display())),
        None => Ok(Command::Steps { groups, long: !rest.is_empty() }),
    }
}

fn page(rest: Vec<OsString>) -> Result<Command, String> {
    let mut rest = rest.into_iter();
    let task = match rest.next() {
        None => PageTask::Check { long: false },
        Some(option) => match option.to_str() {
            Some("--help" | "-h") => return Ok(Command::Help),
            Some("--long") => PageTask::Check { long: true },
            Some("--write") => PageTask::Write,
            Some("--screenshots") => {
                PageTask::Screenshots(rest.next().ok_or("--screenshots needs a directory")?.into())
            }
            _ => return Err(format!("unknown option {} of page", option.display())),
        },
    };
    match rest.next() {
        Some(more) => Err(format!("page takes one option, not {} as well", more.display())),
        None => Ok(Command::Page(task)),
    }
}

fn postgres(rest: Vec<OsString>) -> Result<Command, String> {
    let mut rest = rest.into_iter().peekable();
    if rest.peek().is_some_and(|first| first == "--help" || first == "-h") {
        return Ok(Command::Help);
    }
    rest.next_if(|first| first == "--");
    let program = rest.next().ok_or("postgres needs a command to run: postgres -- CMD")?;
    Ok(Command::Postgres { program, arguments: rest.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn test_runs_every_group_in_order() {
        let groups = vec![Group::Lint, Group::Unit, Group::EndToEnd, Group::Page];
        assert_eq!(parsed("test"), Ok(Command::Steps { groups: groups.clone(), long: false }));
        assert_eq!(parsed("test --long"), Ok(Command::Steps { groups, long: true }));
    }

    #[test]
    fn an_option_that_means_nothing_is_refused() {
        assert!(parsed("lint --long").is_err());
        assert!(parsed("unit --fast").is_err());
        assert!(parsed("deploy").is_err());
        assert!(parsed("").is_err());
    }

    #[test]
    fn page_takes_one_task() {
        assert_eq!(parsed("page"), Ok(Command::Page(PageTask::Check { long: false })));
        assert_eq!(parsed("page --long"), Ok(Command::Page(PageTask::Check { long: true })));
        assert_eq!(parsed("page --write"), Ok(Command::Page(PageTask::Write)));
        assert_eq!(parsed("page --screenshots x"), Ok(Command::Page(PageTask::Screenshots("x".into()))));
        assert!(parsed("page --screenshots").is_err());
        assert!(parsed("page --write --long").is_err());
        assert!(parsed("page --quick").is_err());
    }

    #[test]
    fn postgres_takes_the_command_and_leaves_its_options_alone() {
        let expected =
            Command::Postgres { program: "psql".into(), arguments: vec!["-c".into(), "--".into()] };
        assert_eq!(parsed("postgres -- psql -c --"), Ok(expected));
        assert!(parsed("postgres --").is_err());
    }
}
