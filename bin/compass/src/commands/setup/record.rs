//! What a setup changed, so that it can be undone to the byte: one file per changed file, in the state directory.

use std::{
    fs,
    io::{ErrorKind, Write as _},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::fail;
use crate::failure::Failure;

/// The files of setups.
pub(super) struct Records {
    folder: PathBuf,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The file.
    pub(super) path: PathBuf,
    /// What it held before; none if it was not there.
    pub(super) before: Option<String>,
    /// The digest of what it held after.
    pub(super) after_sha256: String,
    /// Its folder was made for it.
    pub(super) made_folder: bool,
    /// It was edited between two setups, so that what it held before is no longer what an undo gives back.
    pub(super) edited: bool,
}

impl Record {
    /// True if the file still holds what the setup wrote.
    pub(super) fn is_after(&self, now: Option<&str>) -> bool {
        now.is_some_and(|now| digest(now) == self.after_sha256)
    }
}

impl Records {
    /// Records below the state directory.
    pub(super) fn below(state: &Path) -> Self {
        Self { folder: state.join("setup") }
    }

    /// The record of a file.
    pub(super) fn find(&self, path: &Path) -> Result<Option<Record>, Failure> {
        let file = self.file(path);
        match fs::read(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            read => {
                let text = read.map_err(|error| fail(&file, &error))?;
                serde_json::from_slice(&text).map(Some).map_err(|error| fail(&file, &error))
            }
        }
    }

    /// Keeps a record, synced before the file itself is written.
    pub(super) fn keep(&self, record: &Record) -> Result<(), Failure> {
        let file = self.file(&record.path);
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        made.map_err(|error| fail(&self.folder, &error))?;
        let mut fresh = tempfile::NamedTempFile::new_in(&self.folder).map_err(|error| fail(&file, &error))?;
        fresh.write_all(&serde_json::to_vec(record)?).map_err(|error| fail(&file, &error))?;
        fresh.as_file().sync_all().map_err(|error| fail(&file, &error))?;
        fresh.persist(&file).map_err(|error| fail(&file, &error))?;
        Ok(())
    }

    /// Forgets a record.
    pub(super) fn forget(&self, path: &Path) -> Result<(), Failure> {
        let file = self.file(path);
        match fs::remove_file(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(|error| fail(&file, &error)),
        }
    }

    fn file(&self, path: &Path) -> PathBuf {
        self.folder.join(digest(&path.to_string_lossy()) + ".json")
    }
}

/// The SHA-256 of a text, in hexadecimal digits.
pub(super) fn digest(text: &str) -> String {
    format!("{:x}", Sha256::digest(text.as_bytes()))
}
