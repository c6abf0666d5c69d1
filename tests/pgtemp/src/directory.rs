//! The server's private directory: short enough for a socket, plain enough for a shell and a URL.

use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Error;
use crate::account::Account;

/// The shortest limit of a socket's path among the systems in use, less the socket's own file name.
const LONGEST: usize = 103 - "/.s.PGSQL.65535".len();

/// A directory of mode 0700 and the user it was given to, where that is not the caller.
pub(crate) type Owned = (PathBuf, Option<Account>);

/// Makes the directory under the system's place for temporary files.
pub(crate) fn create() -> Result<Owned, Error> {
    let preferred = std::env::temp_dir();
    for base in [preferred.as_path(), Path::new("/tmp")] {
        if let Some(made) = create_under(base)? {
            return Ok(made);
        }
    }
    Err(Error::NoDirectory(preferred))
}

fn create_under(base: &Path) -> Result<Option<Owned>, Error> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = base.join(format!("compass-pg-{}-{count}", std::process::id()));
        if !fits(&dir) {
            return Ok(None);
        }
        match DirBuilder::new().mode(0o700).create(&dir) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(Error::io("create", &dir)(error)),
        }
        match Account::needed(&dir) {
            Ok(None) => return Ok(Some((dir, None))),
            Ok(Some(account)) if account.reaches(base) => {
                chown(&dir, Some(account.uid), Some(account.gid)).map_err(Error::io("hand over", &dir))?;
                return Ok(Some((dir, Some(account))));
            }
            Ok(Some(_)) => {
                fs::remove_dir(&dir).map_err(Error::io("remove", &dir))?;
                return Ok(None);
            }
            Err(error) => {
                fs::remove_dir(&dir).map_err(Error::io("remove", &dir))?;
                return Err(error);
            }
        }
    }
}

fn fits(dir: &Path) -> bool {
    dir.is_absolute()
        && dir.to_str().is_some_and(|text| {
            text.len() <= LONGEST && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-".contains(&b))
        })
}

/// Copies a tree and gives the copy to `account`.
pub(crate) fn copy_for(account: Account, from: &Path, to: &Path) -> Result<(), Error> {
    let meta = fs::symlink_metadata(from).map_err(Error::io("inspect", from))?;
    if meta.is_symlink() {
        let target = fs::read_link(from).map_err(Error::io("read", from))?;
        symlink(target, to).map_err(Error::io("create", to))?;
    } else if meta.is_dir() {
        fs::create_dir(to).map_err(Error::io("create", to))?;
        for entry in fs::read_dir(from).map_err(Error::io("list", from))? {
            let name = entry.map_err(Error::io("list", from))?.file_name();
            copy_for(account, &from.join(&name), &to.join(&name))?;
        }
    } else {
        fs::copy(from, to).map_err(Error::io("copy", from))?;
    }
    lchown(to, Some(account.uid), Some(account.gid)).map_err(Error::io("hand over", to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_a_socket_shell_or_url_cannot_hold_is_refused() {
        assert!(fits(Path::new("/tmp/compass-pg-1-0")));
        assert!(!fits(Path::new("tmp/relative")));
        assert!(!fits(Path::new("/tmp/with space")));
        assert!(!fits(Path::new("/tmp/per%cent")));
        assert!(!fits(Path::new(&format!("/{}", "a".repeat(LONGEST)))));
        assert!(fits(Path::new(&format!("/{}", "a".repeat(LONGEST - 1)))));
    }
}
