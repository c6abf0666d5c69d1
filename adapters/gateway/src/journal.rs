//! The journal as files: one folder per agent, one log of marks, one file per wait, one lock that its processes
//! share.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Read, Seek, SeekFrom, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use compass_agent::ports::{HandOver, Journal, JournalError, Mark, Wait};
use fs4::fs_std::FileExt;

/// Taken messages that are remembered; far above any sweep.
const REMEMBERED: usize = 16_384;
/// Bytes of a post key, as the server has it.
const KEY_BYTES: usize = 128;

/// Marks of one agent, shared by all its processes of this user.
#[derive(Debug)]
pub struct FileJournal {
    folder: PathBuf,
    lock: File,
    log: File,
    read_to: u64,
    marks: HashMap<String, (Mark, u64)>,
    lines: u64,
    /// Files of the waits of this process by key. They are locked for as long as it lives, so others can tell.
    held: HashMap<String, File>,
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
        let waits = folder.join("waits");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&waits).map_err(in_file(&waits))?;
        let lock = open(&folder.join("lock"))?;
        let log = open(&folder.join("marks.log"))?;
        let mut journal =
            Self { folder, lock, log, read_to: 0, marks: HashMap::new(), lines: 0, held: HashMap::new() };
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
            Some(("refused", id)) => {
                self.lines += 1;
                if self.marks.get(id).is_some_and(|(mark, _)| *mark == Mark::Begun) {
                    self.marks.remove(id);
                }
                return;
            }
            _ => return,
        };
        self.lines += 1;
        let entry = self.marks.entry(mark.0.to_owned()).or_insert((mark.1, self.lines));
        if entry.0 != Mark::Taken {
            *entry = (mark.1, self.lines);
        }
    }

    /// Appends a line per id, and syncs once.
    fn append(&mut self, word: &str, ids: &[String]) -> Result<(), JournalError> {
        let fits = |id: &String| {
            !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        if let Some(id) = ids.iter().find(|id| !fits(id)) {
            return Err(JournalError(format!("{id:?} is not a message id")));
        }
        let mut lines = String::new();
        for id in ids {
            lines.extend([word, " ", id, "\n"]);
        }
        self.locked(|journal| {
            journal.refresh()?;
            let path = journal.path();
            // What a crash tore off is cut away, so that the new lines stand alone.
            journal.log.set_len(journal.read_to).map_err(in_file(&path))?;
            journal.log.seek(SeekFrom::Start(journal.read_to)).map_err(in_file(&path))?;
            journal.log.write_all(lines.as_bytes()).map_err(in_file(&path))?;
            journal.log.sync_data().map_err(in_file(&path))?;
            journal.read_to += lines.len() as u64;
            lines.lines().for_each(|line| journal.note(line));
            if journal.lines > 4 * REMEMBERED as u64 { journal.compact() } else { Ok(()) }
        })
    }

    fn wait_file(&self, key: &str) -> Result<PathBuf, JournalError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':');
        if key.is_empty() || key.len() > KEY_BYTES || !key.bytes().all(fits) {
            return Err(JournalError(format!("{key:?} is not a post key of a wait")));
        }
        Ok(self.folder.join("waits").join(key))
    }

    /// True if the process that waits under this key lives: it holds the file's lock alone.
    fn lives(&self, key: &str) -> Result<bool, JournalError> {
        if self.held.contains_key(key) {
            return Ok(true);
        }
        let path = self.wait_file(key)?;
        match File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            opened => opened.and_then(|file| Ok(!FileExt::try_lock_shared(&file)?)).map_err(in_file(&path)),
        }
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
        sync_folder(Some(&self.folder))?;
        self.refresh()
    }
}

impl Journal for FileJournal {
    fn mark(&mut self, message_id: &str) -> Result<Option<Mark>, JournalError> {
        self.locked(Self::refresh)?;
        Ok(self.marks.get(message_id).map(|(mark, _)| *mark))
    }

    fn begin(&mut self, message_ids: &[String]) -> Result<(), JournalError> {
        self.append("begun", message_ids)
    }

    fn take(&mut self, message_ids: &[String]) -> Result<(), JournalError> {
        self.append("taken", message_ids)
    }

    fn refuse(&mut self, message_ids: &[String]) -> Result<(), JournalError> {
        self.append("refused", message_ids)
    }

    fn wait(&mut self, wait: &Wait) -> Result<(), JournalError> {
        let path = self.wait_file(&wait.key)?;
        let text = serde_json::to_vec(wait).map_err(|error| JournalError(error.to_string()))?;
        self.locked(|journal| {
            let fresh = journal.folder.join("waits.new");
            let mut file = open(&fresh)?;
            file.set_len(0).map_err(in_file(&fresh))?;
            file.write_all(&text).map_err(in_file(&fresh))?;
            file.sync_all().map_err(in_file(&fresh))?;
            FileExt::lock_exclusive(&file).map_err(in_file(&fresh))?;
            fs::rename(&fresh, &path).map_err(in_file(&path))?;
            journal.held.insert(wait.key.clone(), file);
            sync_folder(path.parent())
        })
    }

    fn end_wait(&mut self, key: &str) -> Result<(), JournalError> {
        let path = self.wait_file(key)?;
        self.held.remove(key);
        match fs::remove_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(in_file(&path)).and_then(|()| sync_folder(path.parent())),
        }
    }

    fn waits(&mut self) -> Result<Vec<Wait>, JournalError> {
        let folder = self.folder.join("waits");
        let mut waits = Vec::new();
        for entry in fs::read_dir(&folder).map_err(in_file(&folder))? {
            let path = entry.map_err(in_file(&folder))?.path();
            match fs::read(&path) {
                // Another process of the agent stopped waiting meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                read => {
                    let text = read.map_err(in_file(&path))?;
                    let wait = serde_json::from_slice(&text)
                        .map_err(|error| JournalError(format!("{}: {error}", path.display())))?;
                    waits.push(wait);
                }
            }
        }
        waits.sort_unstable_by(|a: &Wait, b: &Wait| a.key.cmp(&b.key));
        Ok(waits)
    }

    fn live_waits(&mut self) -> Result<Vec<Wait>, JournalError> {
        // Under the lock, so that no process begins a wait of the same key in between.
        self.locked(|journal| {
            let mut live = Vec::new();
            for wait in journal.waits()? {
                if journal.lives(&wait.key)? {
                    live.push(wait);
                } else if wait.keep {
                    journal.end_wait(&wait.key)?;
                }
            }
            Ok(live)
        })
    }

    fn hand_over(&mut self) -> Result<Option<HandOver>, JournalError> {
        let path = self.folder.join("handing-over");
        let file = open(&path)?;
        let locked = FileExt::try_lock_exclusive(&file).map_err(in_file(&path))?;
        Ok(locked.then(|| HandOver::holding(file)))
    }
}

fn sync_folder(folder: Option<&Path>) -> Result<(), JournalError> {
    let Some(folder) = folder else { return Ok(()) };
    File::open(folder).and_then(|opened| opened.sync_all()).map_err(in_file(folder))
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
mod tests;
