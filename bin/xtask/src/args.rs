//! The command line.

use std::ffi::OsString;

/// A part of the whole run, each with its own share of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    /// Formatting, lints, documentation, dependencies, and the build of everything.
    Lint,
    /// Every test but the end-to-end ones.
    Unit,
    /// The tests that drive the built program.
    EndToEnd,
}

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Steps { groups: Vec<Group>, long: bool },
    Postgres { program: OsString, arguments: Vec<OsString> },
}

pub(crate) const USAGE: &str = "\
Usage: cargo xtask COMMAND

  test [--long]      every check and every test; brings its own PostgreSQL
  lint               formatting, clippy, rustdoc, cargo-deny, cargo-machete
  unit [--long]      unit, integration and documentation tests
  e2e [--long]       builds compass, then the end-to-end tests
  postgres -- CMD    runs CMD beside temporary PostgreSQL servers

--long sets COMPASS_LONG=1: more trials in the tests that race or kill.

PostgreSQL comes from COMPASS_TEST_DATABASE_URL (a running server, used as it is; with
COMPASS_TEST_DURABLE_DATABASE_URL beside it for the tests that need durability), else from the binaries in
COMPASS_PG_BIN, else from the system, else it is fetched into the user's cache directory.

Example: cargo xtask postgres -- sh -c 'psql \"$COMPASS_TEST_DATABASE_URL\" -c \"select version()\"'";

/// Reads the arguments after the program's name.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Command, String> {
    let mut arguments = arguments;
    let Some(name) = arguments.next() else { return Err("a command is missing".to_owned()) };
    let rest: Vec<OsString> = arguments.collect();
    let groups = match name.to_str() {
        Some("help" | "--help" | "-h") => return Ok(Command::Help),
        Some("postgres") => return postgres(rest),
        Some("test") => vec![Group::Lint, Group::Unit, Group::EndToEnd],
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
        let groups = vec![Group::Lint, Group::Unit, Group::EndToEnd];
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
    fn postgres_takes_the_command_and_leaves_its_options_alone() {
        let expected =
            Command::Postgres { program: "psql".into(), arguments: vec!["-c".into(), "--".into()] };
        assert_eq!(parsed("postgres -- psql -c --"), Ok(expected));
        assert!(parsed("postgres --").is_err());
    }
}
