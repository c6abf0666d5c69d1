//! A change of one file: shown as a diff, recorded, and written at once or not at all.

use std::{
    fs,
    io::{self, ErrorKind, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use similar::TextDiff;
use tempfile::NamedTempFile;

use super::{
    edit::{Entries, Wanted},
    fail,
    record::{Record, Records, digest},
};
use crate::failure::Failure;

/// A file that is to have entries of ours.
pub(super) struct Target {
    path: PathBuf,
    entries: Entries,
}

/// What becomes of a file.
#[derive(Debug)]
pub(super) struct Change {
    path: PathBuf,
    before: Option<String>,
    after: Option<String>,
    /// What is known of it afterwards; nothing once it is undone.
    record: Option<Record>,
    removes_folder: bool,
}

impl Target {
    /// A file; through links, the file they lead to, whether it is there or not.
    ///
    /// # Errors
    ///
    /// A [`Failure`] that names the link if one leads nowhere.
    pub(super) fn new(path: &Path, entries: Entries) -> Result<Self, Failure> {
        Ok(Self { path: resolved(path)?, entries })
    }

    /// What a setup changes; nothing if it is set up as wanted.
    pub(super) fn set_up(&self, wanted: &Wanted, records: &Records) -> Result<Option<Change>, Failure> {
        let now = read(&self.path)?;
        let put = self.entries.put(now.as_deref(), wanted).map_err(|error| fail(&self.path, &error))?;
        if now.as_ref() == Some(&put) {
            return Ok(None);
        }
        let after_sha256 = digest(&put);
        let record = match records.find(&self.path)? {
            // What was there before the first setup is what an undo gives back.
            Some(known) if known.is_after(now.as_deref()) => Record { after_sha256, ..known },
            Some(known) if known.before == now => Record { after_sha256, ..known },
            _ => {
                let bare = now.as_deref().map(|now| self.entries.take_out(now, None));
                let bare = bare.transpose().map_err(|error| fail(&self.path, &error))?;
                let made_folder = self.path.parent().is_some_and(|folder| !folder.exists());
                // Among entries of ours it cannot be told what was before them; a file without any is what was before.
                let edited = bare != now;
                Record { path: self.path.clone(), before: now.clone(), after_sha256, made_folder, edited }
            }
        };
        let path = self.path.clone();
        Ok(Some(Change { path, before: now, after: Some(put), record: Some(record), removes_folder: false }))
    }

    /// What an undo changes; nothing if there is nothing of ours.
    pub(super) fn undone(&self, records: &Records) -> Result<Option<Change>, Failure> {
        let now = read(&self.path)?;
        let known = records.find(&self.path)?;
        let after = match (&known, &now) {
            (_, None) => None,
            (Some(record), Some(_)) if record.is_after(now.as_deref()) && !record.edited => {
                record.before.clone()
            }
            (known, Some(text)) => {
                let before =
                    known.as_ref().filter(|record| !record.edited).map(|record| record.before.as_deref());
                let out = self
                    .entries
                    .take_out(text, before.flatten())
                    .map_err(|error| fail(&self.path, &error))?;
                let was_absent = before == Some(None);
                Some(out).filter(|out| !(was_absent && out.trim() == "{}"))
            }
        };
        if after == now {
            return Ok(None);
        }
        let removes_folder = after.is_none() && known.is_some_and(|record| record.made_folder);
        Ok(Some(Change { path: self.path.clone(), before: now, after, record: None, removes_folder }))
    }

    /// Drops what is known of a file that has nothing of ours any more.
    pub(super) fn forget(&self, records: &Records) -> Result<(), Failure> {
        records.forget(&self.path)
    }
}

impl Change {
    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What was done, in a word.
    pub(super) fn told(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "created",
            (_, None) => "removed",
            _ => "changed",
        }
    }

    /// The change for a person.
    pub(super) fn diff(&self) -> String {
        let (before, after) = (self.before.as_deref().unwrap_or(""), self.after.as_deref().unwrap_or(""));
        let name = |text: &Option<String>| match text {
            Some(_) => self.path.display().to_string(),
            None => "/dev/null".to_owned(),
        };
        let diff = TextDiff::from_lines(before, after);
        diff.unified_diff().header(&name(&self.before), &name(&self.after)).to_string()
    }

    /// Records the change and writes the file, if it is still what the change was made from.
    pub(super) fn write(&self, records: &Records) -> Result<(), Failure> {
        // Claude Code writes its own settings at any time, and a person may take long to say yes.
        if read(&self.path)? != self.before {
            return Err(fail(
                &self.path,
                &"it was changed meanwhile and is left as it is; run the setup again",
            ));
        }
        if let Some(record) = &self.record {
            records.keep(record)?;
        }
        let written = match &self.after {
            Some(text) => self.write_text(text),
            None => self.remove(),
        };
        written.map_err(|error| fail(&self.path, &error))?;
        if self.record.is_none() { records.forget(&self.path) } else { Ok(()) }
    }

    fn write_text(&self, text: &str) -> io::Result<()> {
        let mut file = beside(&self.path)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }

    fn remove(&self) -> io::Result<()> {
        fs::remove_file(&self.path)?;
        if self.removes_folder
            && let Some(folder) = self.path.parent()
        {
            // Somebody may have put other things there.
            match fs::remove_dir(folder) {
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {}
                removed => removed?,
            }
        }
        Ok(())
    }
}

/// What is in a file; none if there is no file.
fn read(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(|error| fail(path, &error)),
    }
}

/// An empty file to take the place of `path`. A new one gets what the user's mask leaves; one that was there keeps its
/// mode, from the start: nobody else may read what is written to it, not for a moment.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".compass-");
    let Some(mode) = fs::metadata(path).ok().map(|data| data.permissions()) else {
        return builder.permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder);
    };
    let file = builder.tempfile_in(folder)?;
    file.as_file().set_permissions(mode)?;
    Ok(file)
}

/// The path without links: the same before and after the file and its folders are made.
fn resolved(path: &Path) -> Result<PathBuf, Failure> {
    match path.canonicalize() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if path.symlink_metadata().is_ok() {
                return Err(fail(path, &"it is a link that leads nowhere; remove it first"));
            }
            match (path.parent(), path.file_name()) {
                (Some(folder), Some(name)) => Ok(resolved(folder)?.join(name)),
                _ => Err(fail(path, &error)),
            }
        }
        found => found.map_err(|error| fail(path, &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_the_place_of_a_file_has_its_mode_before_anything_is_in_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("settings.json");
        for mode in [0o600, 0o640, 0o664, 0o400] {
            fs::write(&path, "secret").expect("written");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
            let data = beside(&path).expect("a file").as_file().metadata().expect("its data");
            assert_eq!((data.permissions().mode() & 0o777, data.len()), (mode, 0));
            fs::remove_file(&path).expect("removed");
        }
        assert!(beside(&folder.path().join("new/file")).is_ok(), "its folder is made");
    }
}
