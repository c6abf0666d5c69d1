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

fn at(path: &Path) -> impl Fn(std::io::Error) -> Failure + '_ {
    move |error| Failure::Local(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
