//! One server per data directory, held by a lock on a file that names the process.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::Path,
};

use fs4::fs_std::FileExt as _;

use crate::failure::Failure;

/// The lock; the operating system lets go of it with the process, however that ends.
#[derive(Debug)]
pub(crate) struct DataDirLock {
    _file: File,
}

impl DataDirLock {
    /// Makes the directory if it is not there, and takes its lock.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] that names the process which holds it.
    pub(crate) fn take(dir: &Path) -> Result<Self, Failure> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(at(dir))?;
        let path = dir.join("lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(&path).map_err(at(&path))?;
        if !file.try_lock_exclusive().map_err(at(&path))? {
            let mut pid = String::new();
            file.read_to_string(&mut pid).map_err(at(&path))?;
            let dir = dir.display();
            let pid = pid.trim();
            return Err(Failure::Usage(format!("another server (pid {pid}) already uses {dir}")));
        }
        file.set_len(0).map_err(at(&path))?;
        file.seek(SeekFrom::Start(0)).map_err(at(&path))?;
        writeln!(file, "{}", std::process::id()).map_err(at(&path))?;
        Ok(Self { _file: file })
    }
}

/// Makes a file that only its owner reads, if there is none; SQLite gives the files beside it the same mode.
///
/// # Errors
///
/// [`Failure::Local`] that names the file.
pub(crate) fn make_private(path: &Path) -> Result<(), Failure> {
    let made = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
    made.map(drop).map_err(at(path))
}

fn at(path: &Path) -> impl Fn(std::io::Error) -> Failure + '_ {
    move |error| Failure::Local(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_database_is_its_owners_alone_and_an_old_one_is_left_as_it_is() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("database");
        let mode = || fs::metadata(&path).expect("a file").permissions().mode() & 0o777;
        make_private(&path).expect("made");
        assert_eq!(mode(), 0o600);
        fs::write(&path, "kept").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("changed");
        make_private(&path).expect("there");
        assert_eq!((mode(), fs::read_to_string(&path).expect("read")), (0o640, "kept".to_owned()));
    }

    #[test]
    fn a_second_server_is_refused_and_told_the_pid() {
        let dir = tempfile::tempdir().expect("a directory");
        let held = DataDirLock::take(dir.path()).expect("free");
        let refused = DataDirLock::take(dir.path()).expect_err("held");
        assert!(refused.to_string().contains(&format!("pid {}", std::process::id())), "{refused}");
        assert_eq!(refused.code(), 2);
        drop(held);
        DataDirLock::take(dir.path()).expect("free again");
    }
}
