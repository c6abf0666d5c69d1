//! The browser that the page's tests drive.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::process::Runner;
use crate::tools::{answers, succeeds};

/// The program of another browser of the Chromium family.
const OTHER: &str = "COMPASS_CHROMIUM";
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The browser that is named or installed, else the system's package.
pub(crate) fn obtain(runner: &Runner) -> Result<PathBuf, Error> {
    if let Some(named) = std::env::var_os(OTHER).filter(|value| !value.is_empty()) {
        let program = PathBuf::from(named);
        return if answers(&program) {
            Ok(program)
        } else {
            Err(Error::Tool(format!("{OTHER} names {}, which does not run", program.display())))
        };
    }
    if let Some(found) = installed() {
        return Ok(found);
    }
    let missing = || {
        Error::Tool(format!(
            "the page's tests need Chromium: install it (apt-get install chromium), or set {OTHER} to its program"
        ))
    };
    if !rustix::process::geteuid().is_root() || !succeeds(Command::new("apt-get").arg("--version")) {
        return Err(missing());
    }
    println!("chromium is not installed: fetching it");
    runner.run("apt-get update", Command::new("apt-get").arg("update"))?;
    let mut install = Command::new("apt-get");
    // Without any font a page has no text to look at.
    install.args(["install", "--yes", "--no-install-recommends", "chromium", "fonts-dejavu-core"]);
    install.env("DEBIAN_FRONTEND", "noninteractive");
    runner.run("apt-get install chromium", &mut install)?;
    installed().ok_or_else(missing)
}

/// The full path, as the tests start it by that.
fn installed() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let places: Vec<PathBuf> = std::env::split_paths(&path).filter(|place| place.is_absolute()).collect();
    let candidates = NAMES.iter().flat_map(|name| places.iter().map(move |place| place.join(name)));
    candidates.filter(|program| Path::is_file(program)).find(|program| answers(program))
}
