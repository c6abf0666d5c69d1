//! A change of one file: shown as a diff, recorded, and written at once or not at all.

use std::{
    fs,
    io::{self, ErrorKind, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use similar::TextDiff;

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
        let now = self.now()?;
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
        let now = self.now()?;
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
            records.forget(&self.path)?;
            return Ok(None);
        }
        let removes_folder = after.is_none() && known.is_some_and(|record| record.made_folder);
        Ok(Some(Change { path: self.path.clone(), before: now, after, record: None, removes_folder }))
    }

    fn now(&self) -> Result<Option<String>, Failure> {
        match fs::read_to_string(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            read => read.map(Some).map_err(|error| fail(&self.path, &error)),
        }
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

    /// Records the change and writes the file.
    pub(super) fn write(&self, records: &Records) -> Result<(), Failure> {
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
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        // A new file gets what the user's mask leaves; one that was there keeps its mode.
        let fresh = fs::Permissions::from_mode(0o666);
        let mut file = tempfile::Builder::new().prefix(".compass-").permissions(fresh).tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        if let Ok(data) = fs::metadata(&self.path) {
            file.as_file().set_permissions(data.permissions())?;
        }
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
