//! The administrator's one-time sign-in: in a file of the owner's, and on a terminal.

use std::{
    fs::{self, OpenOptions},
    io::{self, IsTerminal as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use super::page;
use crate::{defaults, failure::Failure};

/// Writes the secret to its file, whole and with mode 0600, and shows what to do with it if a person watches.
///
/// # Errors
///
/// [`Failure::Local`] that names the file.
pub(crate) fn hand_out(data_dir: &Path, page_url: &str, secret: &str) -> Result<(), Failure> {
    let path = data_dir.join(defaults::SIGN_IN_FILE);
    write(&path, secret).map_err(|error| Failure::Local(format!("{}: {error}", path.display())))?;
    let mut err = io::stderr().lock();
    if err.is_terminal() {
        let link = page::sign_in_link(page_url, secret);
        writeln!(err, "First sign-in of the administrator, which works once:")?;
        writeln!(err, "  in a browser: {link}")?;
        writeln!(err, "  or here:      compass login {secret}")?;
    }
    writeln!(err, "The administrator's one-time sign-in is in {}", path.display())?;
    Ok(())
}

fn write(path: &Path, secret: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // Created anew, so that an old file's wider mode cannot stay.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{secret}")?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_file_is_its_owners_alone_and_holds_the_newest_secret() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join(defaults::SIGN_IN_FILE);
        fs::write(&path, "old").expect("written");
        hand_out(dir.path(), "http://localhost", "new").expect("handed out");
        assert_eq!(fs::read_to_string(&path).expect("read"), "new\n");
        assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
    }
}
