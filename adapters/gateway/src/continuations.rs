//! For what a session was made to go on at its end: one small file per session, beside the journal of its agent.

use std::{
    fs,
    io::{ErrorKind, Write as _},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use compass_agent::ports::{Continuations, Continued, JournalError};

/// How long the file of a session that was not heard of again stays.
const KEPT: Duration = Duration::from_hours(7 * 24);
/// Bytes of a session id at the most.
const ID_BYTES: usize = 128;

/// The records of one agent's sessions: a count on the first line, the announced message's id on the second.
#[derive(Debug)]
pub struct FileContinuations {
    folder: PathBuf,
}

impl FileContinuations {
    /// The records of an agent below `state`, in `agents/<account id>/continuations`.
    ///
    /// # Errors
    ///
    /// [`JournalError`] that names the folder.
    pub fn open(state: &Path, account_id: &str) -> Result<Self, JournalError> {
        if account_id.is_empty() || !account_id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(JournalError(format!("{account_id:?} is not an account id")));
        }
        let folder = state.join("agents").join(account_id).join("continuations");
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(in_file(&folder))?;
        Ok(Self { folder })
    }

    fn file(&self, session_id: &str) -> Result<PathBuf, JournalError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if session_id.is_empty() || session_id.len() > ID_BYTES || !session_id.bytes().all(fits) {
            return Err(JournalError(format!("{session_id:?} is not a session id")));
        }
        Ok(self.folder.join(session_id))
    }

    /// Removes the files of sessions that are long over.
    fn tidy(&self) -> Result<(), JournalError> {
        for entry in fs::read_dir(&self.folder).map_err(in_file(&self.folder))? {
            let entry = entry.map_err(in_file(&self.folder))?;
            let age = entry.metadata().and_then(|data| data.modified()).ok().and_then(|at| at.elapsed().ok());
            if age.is_some_and(|age| age > KEPT) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }
}

impl Continuations for FileContinuations {
    fn get(&mut self, session_id: &str) -> Result<Continued, JournalError> {
        let path = self.file(session_id)?;
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Continued::default()),
            read => {
                let text = read.map_err(in_file(&path))?;
                let mut lines = text.lines();
                let count = lines.next().unwrap_or_default().parse();
                let count =
                    count.map_err(|_| JournalError(format!("{}: {text:?} has no count", path.display())))?;
                Ok(Continued { count, announced: lines.next().map(str::to_owned) })
            }
        }
    }

    fn set(&mut self, session_id: &str, continued: &Continued) -> Result<(), JournalError> {
        let path = self.file(session_id)?;
        if *continued == Continued::default() {
            remove(&path)?;
            return self.tidy();
        }
        let lines: Vec<_> =
            std::iter::once(continued.count.to_string()).chain(continued.announced.clone()).collect();
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).map_err(in_file(&path))?;
        writeln!(file, "{}", lines.join("\n")).map_err(in_file(&path))?;
        file.as_file().sync_all().map_err(in_file(&path))?;
        file.persist(&path).map_err(|error| in_file(&path)(error.error))?;
        Ok(())
    }
}

fn remove(path: &Path) -> Result<(), JournalError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(in_file(path)),
    }
}

fn in_file(path: &Path) -> impl Fn(std::io::Error) -> JournalError + '_ {
    move |error| JournalError(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_survives_the_process_until_it_is_reset() {
        let state = tempfile::tempdir().expect("a folder");
        let open = || FileContinuations::open(state.path(), "a1").expect("opens");
        let record =
            |count, announced: Option<&str>| Continued { count, announced: announced.map(str::to_owned) };
        assert_eq!(open().get("s-1").expect("read"), Continued::default());
        for set in [record(2, None), record(1, Some("m1"))] {
            open().set("s-1", &set).expect("written");
            assert_eq!(open().get("s-1").expect("read"), set);
            assert_eq!(open().get("s-2").expect("read"), Continued::default());
        }
        for _ in 0..2 {
            open().set("s-1", &Continued::default()).expect("reset");
        }
        assert_eq!(open().get("s-1").expect("read"), Continued::default());
        assert_eq!(fs::read_dir(state.path().join("agents/a1/continuations")).expect("a folder").count(), 0);
    }

    #[test]
    fn what_could_leave_the_folder_is_refused() {
        let state = tempfile::tempdir().expect("a folder");
        assert!(FileContinuations::open(state.path(), "../x").is_err());
        let mut records = FileContinuations::open(state.path(), "a1").expect("opens");
        for bad in ["", "../x", "a/b", &"x".repeat(129)] {
            assert!(records.get(bad).is_err() && records.set(bad, &Continued::default()).is_err(), "{bad:?}");
        }
    }
}
