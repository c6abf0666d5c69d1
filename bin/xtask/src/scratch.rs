//! A directory for everything the tests put in the place for temporary files.

use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Removed with all its contents when dropped, so that a killed test leaves no file behind.
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes an empty directory that only this user can enter.
    pub(crate) fn new() -> Result<Self, Error> {
        let base = std::env::temp_dir();
        let names = (0_u32..).map(|n| base.join(format!("compass-xtask-{}-{n}", std::process::id())));
        for path in names {
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io(format!("create {}", path.display()))(error)),
            }
        }
        Err(Error::Tool(format!("no free name for a directory in {}", base.display())))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            eprintln!("xtask: could not remove {}: {error}", self.path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_with_everything_in_it() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().to_path_buf();
        fs::create_dir_all(path.join("a/b")).unwrap();
        fs::write(path.join("a/b/c"), "x").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }
}
