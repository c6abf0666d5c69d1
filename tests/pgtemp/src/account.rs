//! The user a server runs as: the caller's own, or `nobody` when the caller is root.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::Error;

/// An unprivileged user and its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl Account {
    /// The user to switch to, told from a file the caller just made; `None` where the caller is unprivileged.
    pub(crate) fn needed(made: &Path) -> Result<Option<Self>, Error> {
        if !running_as_root(made)? {
            return Ok(None);
        }
        let path = Path::new("/etc/passwd");
        let users = fs::read_to_string(path).map_err(Error::io("read", path))?;
        parse(&users, "nobody").map(Some).ok_or(Error::NoUnprivilegedUser)
    }

    /// Whether this user can walk down to `path` and read it.
    pub(crate) fn reaches(self, path: &Path) -> bool {
        path.ancestors().all(|step| {
            fs::metadata(step).is_ok_and(|meta| {
                let mode = meta.mode();
                if meta.uid() == self.uid { mode & 0o500 == 0o500 } else { mode & 0o001 == 0o001 }
            })
        })
    }
}

/// A new file belongs to whoever made it, which tells the effective user without any unsafe call.
fn running_as_root(made: &Path) -> Result<bool, Error> {
    let meta = fs::metadata(made).map_err(Error::io("inspect", made))?;
    Ok(meta.uid() == 0)
}

fn parse(users: &str, name: &str) -> Option<Account> {
    let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    let uid = fields.next()?.parse().ok()?;
    let gid = fields.next()?.parse().ok()?;
    Some(Account { uid, gid })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_its_whole_name() {
        let users = "root:x:0:0::/root:/bin/sh\nnobody2:x:7:8::/:/x\nnobody:x:65534:65533:n:/:/x\n";
        assert_eq!(parse(users, "nobody"), Some(Account { uid: 65534, gid: 65533 }));
        assert_eq!(parse(users, "body"), None);
    }

    #[test]
    fn a_line_without_numbers_is_no_user() {
        assert_eq!(parse("nobody:x:many:1::/:/x", "nobody"), None);
        assert_eq!(parse("nobody:x", "nobody"), None);
    }

    #[test]
    fn a_closed_parent_is_out_of_reach() {
        let stranger = Account { uid: u32::MAX - 7, gid: u32::MAX - 7 };
        assert!(stranger.reaches(Path::new("/")));
        assert!(!stranger.reaches(Path::new("/no/such/place")));
    }
}
