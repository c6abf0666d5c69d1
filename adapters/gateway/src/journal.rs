//! The journal as files: one folder per agent, one log of marks, one lock that its processes share.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use compass_agent::ports::{Journal, JournalError, Mark};
use fs4::fs_std::FileExt;

/// Taken messages that are remembered; far above any sweep.
const REMEMBERED: usize = 16_384;

/// Marks of one agent, shared by all its processes of this user.
#[derive(Debug)]
pub struct FileJournal {
    folder: PathBuf,
    lock: File,
    log: File,
    read_to: u64,
    marks: HashMap<String, (Mark, u64)>,
    lines: u64,
}

impl FileJournal {
    /// Opens the journal of an agent below `state`, in `agents/<account id>`; it is created if it is not there.
    ///
    /// # Errors
    ///
    /// [`JournalError`] that names the file.
    pub fn open(state: &Path, account_id: &str) -> Result<Self, JournalError> {
        if account_id.is_empty() || !account_id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(JournalError(format!("{account_id:?} is not an account id")));
        }
        let folder = state.join("agents").join(account_id);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(in_file(&folder))?;
        let lock = open(&folder.join("lock"))?;
        let log = open(&folder.join("marks.log"))?;
        let mut journal = Self { folder, lock, log, read_to: 0, marks: HashMap::new(), lines: 0 };
        journal.locked(Self::refresh)?;
        Ok(journal)
    }

    fn path(&self) -> PathBuf {
        self.folder.join("marks.log")
    }

    fn locked<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let path = self.folder.join("lock");
        FileExt::lock_exclusive(&self.lock).map_err(in_file(&path))?;
        let done = work(self);
        FileExt::unlock(&self.lock).map_err(in_file(&path))?;
        done
    }

    /// Reads what other processes appended, and starts over if one of them rewrote the log.
    fn refresh(&mut self) -> Result<(), JournalError> {
        let path = self.path();
        let current = fs::metadata(&path).map_err(in_file(&path))?;
        let held = self.log.metadata().map_err(in_file(&path))?;
        if current.ino() != held.ino() {
            self.log = open(&path)?;
            self.forget();
        }
        if current.len() < self.read_to {
            self.forget();
        }
        self.log.seek(SeekFrom::Start(self.read_to)).map_err(in_file(&path))?;
        let mut tail = Vec::new();
        self.log.read_to_end(&mut tail).map_err(in_file(&path))?;
        // A line without its end was torn by a crash; it never counted.
        let whole = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        for line in tail.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n') {
            self.note(&String::from_utf8_lossy(line));
        }
        self.read_to += whole as u64;
        Ok(())
    }

    fn forget(&mut self) {
        (self.read_to, self.lines) = (0, 0);
        self.marks.clear();
    }

    fn note(&mut self, line: &str) {
        let mark = match line.split_once(' ') {
            Some(("begun", id)) => (id, Mark::Begun),
            Some(("taken", id)) => (id, Mark::Taken),
            _ => return,
        };
        self.lines += 1;
        let entry = self.marks.entry(mark.0.to_owned()).or_insert((mark.1, self.lines));
        if entry.0 != Mark::Taken {
            *entry = (mark.1, self.lines);
        }
    }

    fn append(&mut self, word: &str, id: &str) -> Result<(), JournalError> {
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(JournalError(format!("{id:?} is not a message id")));
        }
        self.locked(|journal| {
            journal.refresh()?;
            let path = journal.path();
            // What a crash tore off is cut away, so that the new line stands alone.
            journal.log.set_len(journal.read_to).map_err(in_file(&path))?;
            journal.log.seek(SeekFrom::Start(journal.read_to)).map_err(in_file(&path))?;
            let line = format!("{word} {id}\n");
            journal.log.write_all(line.as_bytes()).map_err(in_file(&path))?;
            journal.log.sync_data().map_err(in_file(&path))?;
            journal.read_to += line.len() as u64;
            journal.note(line.trim_end());
            if journal.lines > 4 * REMEMBERED as u64 { journal.compact() } else { Ok(()) }
        })
    }

    /// Rewrites the log with every begun mark and the newest taken ones.
    fn compact(&mut self) -> Result<(), JournalError> {
        let mut marks: Vec<_> = self.marks.iter().collect();
        marks.sort_unstable_by_key(|(_, (_, line))| *line);
        let taken = marks.iter().filter(|(_, (mark, _))| *mark == Mark::Taken).count();
        let mut surplus = taken.saturating_sub(REMEMBERED);
        let mut text = String::new();
        for (id, (mark, _)) in marks {
            let word = match mark {
                Mark::Taken if surplus > 0 => {
                    surplus -= 1;
                    continue;
                }
                Mark::Taken => "taken ",
                Mark::Begun => "begun ",
            };
            text.extend([word, id.as_str(), "\n"]);
        }
        let fresh = self.folder.join("marks.new");
        let mut file = open(&fresh)?;
        file.set_len(0).map_err(in_file(&fresh))?;
        file.write_all(text.as_bytes()).map_err(in_file(&fresh))?;
        file.sync_all().map_err(in_file(&fresh))?;
        fs::rename(&fresh, self.path()).map_err(in_file(&fresh))?;
        File::open(&self.folder).and_then(|folder| folder.sync_all()).map_err(in_file(&self.folder))?;
        self.refresh()
    }
}

impl Journal for FileJournal {
    fn mark(&mut self, message_id: &str) -> Result<Option<Mark>, JournalError> {
        self.locked(Self::refresh)?;
        Ok(self.marks.get(message_id).map(|(mark, _)| *mark))
    }

    fn begin(&mut self, message_id: &str) -> Result<(), JournalError> {
        self.append("begun", message_id)
    }

    fn take(&mut self, message_id: &str) -> Result<(), JournalError> {
        self.append("taken", message_id)
    }
}

fn open(path: &Path) -> Result<File, JournalError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.open(path).map_err(in_file(path))
}

fn in_file(path: &Path) -> impl Fn(std::io::Error) -> JournalError + '_ {
    move |error| JournalError(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(state: &Path) -> FileJournal {
        FileJournal::open(state, "a1").expect("opens")
    }

    #[test]
    fn marks_survive_the_process() {
        let state = tempfile::tempdir().expect("a folder");
        let mut first = journal(state.path());
        first.begin("m1").expect("written");
        first.take("m1").expect("written");
        first.begin("m2").expect("written");
        drop(first);
        let mut later = journal(state.path());
        assert_eq!(later.mark("m1").expect("read"), Some(Mark::Taken));
        assert_eq!(later.mark("m2").expect("read"), Some(Mark::Begun));
        assert_eq!(later.mark("m3").expect("read"), None);
    }

    #[test]
    fn another_process_of_the_agent_sees_a_mark_at_once() {
        let state = tempfile::tempdir().expect("a folder");
        let (mut one, mut other) = (journal(state.path()), journal(state.path()));
        one.take("m").expect("written");
        assert_eq!(other.mark("m").expect("read"), Some(Mark::Taken));
        other.begin("n").expect("written");
        assert_eq!(one.mark("n").expect("read"), Some(Mark::Begun));
    }

    #[test]
    fn a_torn_line_never_counted_and_does_not_spoil_the_next() {
        let state = tempfile::tempdir().expect("a folder");
        journal(state.path()).take("m1").expect("written");
        let path = state.path().join("agents/a1/marks.log");
        let mut file = OpenOptions::new().append(true).open(&path).expect("opens");
        file.write_all(b"taken m2").expect("written");
        let mut later = journal(state.path());
        assert_eq!(later.mark("m2").expect("read"), None);
        later.take("m3").expect("written");
        let mut last = journal(state.path());
        assert_eq!(last.mark("m2").expect("read"), None);
        assert_eq!(last.mark("m3").expect("read"), Some(Mark::Taken));
    }

    #[test]
    fn taken_is_final() {
        let state = tempfile::tempdir().expect("a folder");
        let mut one = journal(state.path());
        one.take("m").expect("written");
        one.begin("m").expect("written");
        assert_eq!(one.mark("m").expect("read"), Some(Mark::Taken));
    }

    #[test]
    fn a_rewritten_log_keeps_the_newest_and_others_follow_it() {
        let state = tempfile::tempdir().expect("a folder");
        let (mut one, mut other) = (journal(state.path()), journal(state.path()));
        one.begin("open").expect("written");
        for n in 0..20 {
            one.take(&format!("m{n}")).expect("written");
        }
        one.locked(FileJournal::compact).expect("rewritten");
        assert_eq!(other.mark("open").expect("read"), Some(Mark::Begun));
        assert_eq!(other.mark("m19").expect("read"), Some(Mark::Taken));
        other.take("after").expect("written");
        assert_eq!(one.mark("after").expect("read"), Some(Mark::Taken));
    }

    #[test]
    fn ids_that_could_leave_the_folder_or_the_line_are_refused() {
        let state = tempfile::tempdir().expect("a folder");
        assert!(FileJournal::open(state.path(), "../x").is_err());
        assert!(journal(state.path()).take("m\ntaken n").is_err());
    }
}
