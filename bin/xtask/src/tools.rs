//! Cargo itself and the cargo tools that the checks need.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::Error;
use crate::process::Runner;

/// A cargo subcommand that is installed where it is absent.
pub(crate) struct Tool {
    name: &'static str,
    version: &'static str,
}

pub(crate) const DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };
pub(crate) const MACHETE: Tool = Tool { name: "cargo-machete", version: "0.9.2" };

impl Tool {
    /// The program: the one on the path, else the kept one, else a fresh build of it.
    pub(crate) fn obtain(&self, runner: &Runner) -> Result<PathBuf, Error> {
        if answers(Path::new(self.name)) {
            return Ok(PathBuf::from(self.name));
        }
        let root = kept()?.join(format!("{}-{}", self.name, self.version));
        let program = root.join("bin").join(self.name);
        if answers(&program) {
            return Ok(program);
        }
        println!("{} {} is not installed: building it into {}", self.name, self.version, root.display());
        let build = root.join("build");
        let mut install = cargo();
        install
            .args(["install", self.name, "--version", self.version, "--locked", "--quiet", "--root"])
            .arg(&root);
        // Quick to build matters more than quick to run: it runs for seconds.
        install.args([
            "--profile",
            "dev",
            "--config",
            "profile.dev.opt-level=0",
            "--config",
            "profile.dev.debug=false",
        ]);
        install.env("CARGO_TARGET_DIR", &build);
        runner.run(&format!("installing {}", self.name), &mut install)?;
        std::fs::remove_dir_all(&build).map_err(Error::io(format!("remove {}", build.display())))?;
        Ok(program)
    }
}

/// Whether cargo's test runner of choice is installed.
pub(crate) fn has_nextest() -> bool {
    let mut command = cargo();
    command.args(["nextest", "--version"]);
    succeeds(&mut command)
}

/// The cargo that runs this program, without what it told this program about itself.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for name in std::env::vars_os().map(|(name, _)| name).filter(is_about_this_package) {
        command.env_remove(name);
    }
    command
}

fn is_about_this_package(name: &OsString) -> bool {
    name.to_str().is_some_and(|name| {
        ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix))
            || ["CARGO_BIN_NAME", "CARGO_CRATE_NAME"].contains(&name)
    })
}

/// Where fetched tools stay between runs.
pub(crate) fn kept() -> Result<PathBuf, Error> {
    let cache = compass_pgtemp::cache_dir();
    let cache = cache
        .ok_or_else(|| Error::Tool("neither XDG_CACHE_HOME nor HOME says where to keep tools".to_owned()))?;
    Ok(cache.join("tools"))
}

/// Whether a program is there and runs.
pub(crate) fn answers(program: &Path) -> bool {
    succeeds(Command::new(program).arg("--version"))
}

pub(crate) fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
