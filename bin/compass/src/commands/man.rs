//! `compass man`: the manual pages of this program.

use std::{fs, path::PathBuf};

use crate::{failure::Failure, output::Output};

/// Options of `compass man`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Directory to write the page of every command to [default: print the program's page]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints one page or writes all of them.
pub(crate) fn run(args: &Args, command: clap::Command) -> Result<(), Failure> {
    if let Some(dir) = &args.dir {
        let failed = |error: std::io::Error| Failure::Local(format!("{}: {error}", dir.display()));
        fs::create_dir_all(dir).map_err(failed)?;
        return clap_mangen::generate_to(command, dir).map_err(failed);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    let page = String::from_utf8(page).map_err(|error| Failure::Local(error.to_string()))?;
    Output::new(false).safe(&page)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_that_is_shown_gets_a_page() {
        let dir = tempfile::tempdir().unwrap();
        let pages = dir.path().join("man");
        run(&Args { dir: Some(pages.clone()) }, Cli::command()).unwrap();
        let mut names: Vec<String> = fs::read_dir(&pages)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        for page in ["compass.1", "compass-asks.1", "compass-token-create.1"] {
            assert!(names.iter().any(|name| name == page), "{page} is missing in {names:?}");
        }
        assert!(names.iter().all(|name| !name.contains("demo-agent")), "{names:?}");
        let text = fs::read_to_string(pages.join("compass-asks.1")).unwrap();
        assert!(text.contains("Example:"), "{text}");
    }
}
