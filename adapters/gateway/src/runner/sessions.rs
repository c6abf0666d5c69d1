//! The sessions this runner runs, in a file: what is launched again after a crash of the runner itself.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Mutex,
};

use compass_domain::AccountId;
use serde::{Deserialize, Serialize};

use super::life::locked;

/// Name of the file in the state directory.
const FILE: &str = "sessions.json";

/// The file and what it says.
#[derive(Debug)]
pub(super) struct SessionsFile {
    path: PathBuf,
    sessions: Mutex<BTreeMap<String, String>>,
}

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionsError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "{path} cannot be read: {reason}; without it no session is continued: remove it to start without"
    )]
    Corrupt { path: PathBuf, reason: String },
    #[error("the file of sessions was not written: {0}")]
    Interrupted(String),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    /// Session ids by account id.
    sessions: BTreeMap<String, String>,
}

impl SessionsFile {
    /// Reads the file of a state directory; there may be none yet.
    ///
    /// # Errors
    ///
    /// [`SessionsError`] that names the file.
    pub(super) fn open(state: &Path) -> Result<Self, SessionsError> {
        let path = state.join(FILE);
        let sessions = match fs::read(&path) {
            Ok(bytes) => {
                let stored: Stored = serde_json::from_slice(&bytes).map_err(|error| {
                    SessionsError::Corrupt { path: path.clone(), reason: error.to_string() }
                })?;
                stored.sessions
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(source) => return Err(SessionsError::Io { path, source }),
        };
        Ok(Self { path, sessions: Mutex::new(sessions) })
    }

    /// The sessions that ran, by account. What is no account id is left out.
    pub(super) fn all(&self) -> Vec<(AccountId, String)> {
        let sessions = locked(&self.sessions);
        let parsed = sessions.iter().filter_map(|(account, id)| Some((account.parse().ok()?, id.clone())));
        parsed.collect()
    }

    /// Notes that the account runs this session, or none. It is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// [`SessionsError::Io`]; the file says what it said before.
    pub(super) fn note(&self, account: AccountId, session_id: Option<&str>) -> Result<(), SessionsError> {
        let mut sessions = locked(&self.sessions);
        let mut changed = sessions.clone();
        match session_id {
            Some(id) => changed.insert(account.to_string(), id.to_owned()),
            None => changed.remove(&account.to_string()),
        };
        if changed == *sessions {
            return Ok(());
        }
        self.write(&changed).map_err(|source| SessionsError::Io { path: self.path.clone(), source })?;
        *sessions = changed;
        Ok(())
    }

    fn write(&self, sessions: &BTreeMap<String, String>) -> io::Result<()> {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        let bytes = serde_json::to_vec_pretty(&Stored { sessions: sessions.clone() })?;
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(&bytes)?;
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        // The new name is on the disk only when its directory is.
        File::open(directory)?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_come_back_after_a_crash() {
        let state = tempfile::tempdir().unwrap();
        let (one, two) = (AccountId::from_bytes([1; 16]), AccountId::from_bytes([2; 16]));
        let file = SessionsFile::open(state.path()).unwrap();
        assert!(file.all().is_empty());
        file.note(one, Some("a")).unwrap();
        file.note(two, Some("b")).unwrap();
        file.note(one, Some("c")).unwrap();
        file.note(two, None).unwrap();
        let again = SessionsFile::open(state.path()).unwrap();
        assert_eq!(again.all(), [(one, "c".to_owned())]);
        let left: Vec<_> = fs::read_dir(state.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "no half-written file stays");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named_and_kept() {
        let state = tempfile::tempdir().unwrap();
        let path = state.path().join(FILE);
        for text in ["", "{", "{\"sessions\": [1]}", "{\"sessions\": {}, \"more\": 1}"] {
            fs::write(&path, text).unwrap();
            let error = SessionsFile::open(state.path()).unwrap_err().to_string();
            assert!(error.contains("sessions.json"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn a_write_that_fails_changes_nothing() {
        let state = tempfile::tempdir().unwrap();
        let file = SessionsFile::open(state.path()).unwrap();
        let path = state.path().to_owned();
        drop(state);
        let error = file.note(AccountId::from_bytes([1; 16]), Some("a")).unwrap_err();
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        assert!(file.all().is_empty());
    }
}
