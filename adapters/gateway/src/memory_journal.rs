//! The journal of an agent that the server serves itself: it lives as long as the process.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use compass_agent::ports::{HandOver, Journal, JournalError, Mark, Wait};

/// Marks that are remembered; far above what one agent is owed at a time.
const REMEMBERED: usize = 1024;

/// Marks in memory. A message whose mark is forgotten comes again unmarked, at worst.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    marks: HashMap<String, Mark>,
    oldest_first: VecDeque<String>,
    waits: HashMap<String, Wait>,
    handing_over: Arc<()>,
}

impl MemoryJournal {
    fn put_all(&mut self, ids: &[String], mark: Mark) {
        for id in ids {
            self.put(id, mark);
        }
    }

    fn put(&mut self, id: &str, mark: Mark) {
        match self.marks.get_mut(id) {
            Some(Mark::Taken) => {}
            Some(known) => *known = mark,
            None => {
                self.marks.insert(id.to_owned(), mark);
                self.oldest_first.push_back(id.to_owned());
            }
        }
        while self.oldest_first.len() > REMEMBERED
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.marks.remove(&oldest);
        }
    }
}

impl Journal for MemoryJournal {
    fn mark(&mut self, message_id: &str) -> Result<Option<Mark>, JournalError> {
        Ok(self.marks.get(message_id).copied())
    }

    fn begin(&mut self, message_ids: &[String]) -> Result<(), JournalError> {
        self.put_all(message_ids, Mark::Begun);
        Ok(())
    }

    fn take(&mut self, message_ids: &[String]) -> Result<(), JournalError> {
        self.put_all(message_ids, Mark::Taken);
        Ok(())
    }

    fn refuse(&mut self, message_ids: &[String]) -> Result<(), JournalError> {
        for id in message_ids {
            if self.marks.get(id) == Some(&Mark::Begun) {
                self.marks.remove(id);
                self.oldest_first.retain(|known| known != id);
            }
        }
        Ok(())
    }

    fn wait(&mut self, wait: &Wait) -> Result<(), JournalError> {
        self.waits.insert(wait.key.clone(), wait.clone());
        Ok(())
    }

    fn end_wait(&mut self, key: &str) -> Result<(), JournalError> {
        self.waits.remove(key);
        Ok(())
    }

    fn waits(&mut self) -> Result<Vec<Wait>, JournalError> {
        let mut waits: Vec<_> = self.waits.values().cloned().collect();
        waits.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        Ok(waits)
    }

    fn hand_over(&mut self) -> Result<Option<HandOver>, JournalError> {
        let free = Arc::strong_count(&self.handing_over) == 1;
        Ok(free.then(|| HandOver::holding(Arc::clone(&self.handing_over))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_is_final_and_a_refused_message_was_never_begun() {
        let mut journal = MemoryJournal::default();
        journal.begin(&["m".into(), "n".into()]).expect("noted");
        journal.take(&["m".into()]).expect("noted");
        journal.begin(&["m".into()]).expect("noted");
        journal.refuse(&["m".into(), "n".into()]).expect("noted");
        assert_eq!(journal.mark("m").expect("read"), Some(Mark::Taken));
        assert_eq!(journal.mark("n").expect("read"), None);
    }

    #[test]
    fn the_oldest_marks_are_forgotten_first() {
        let mut journal = MemoryJournal::default();
        for n in 0..=REMEMBERED {
            journal.begin(&[format!("m{n}")]).expect("noted");
        }
        assert_eq!(journal.mark("m0").expect("read"), None);
        assert_eq!(journal.mark("m1").expect("read"), Some(Mark::Begun));
        assert_eq!((journal.marks.len(), journal.oldest_first.len()), (REMEMBERED, REMEMBERED));
    }

    #[test]
    fn one_at_a_time_hands_over() {
        let mut journal = MemoryJournal::default();
        let held = journal.hand_over().expect("told");
        assert!(held.is_some() && journal.hand_over().expect("told").is_none());
        drop(held);
        assert!(journal.hand_over().expect("told").is_some());
    }
}
