//! Which commands ran already, by request id: a repeat joins or is answered from memory.

use std::collections::{HashMap, VecDeque};

/// How many finished commands are remembered.
pub const REMEMBERED: usize = 1024;

/// What to do with a command that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begin<T> {
    /// Run it, and say how it ended with [`Requests::finish`].
    Run,
    /// It is running; its end is answered once more.
    Join,
    /// It succeeded before, with this.
    Answer(T),
}

#[derive(Debug)]
enum Known<T> {
    /// Running; how many wait for the end.
    Running(usize),
    Done(T),
}

/// Bounded memory of commands. One that failed is forgotten: it changed nothing, so a repeat may try again.
#[derive(Debug)]
pub struct Requests<T> {
    known: HashMap<String, Known<T>>,
    /// Finished ids, oldest first.
    finished: VecDeque<String>,
}

impl<T> Default for Requests<T> {
    fn default() -> Self {
        Self { known: HashMap::new(), finished: VecDeque::new() }
    }
}

impl<T: Clone> Requests<T> {
    /// Takes note of a command. One without an id is never the repeat of another.
    pub fn begin(&mut self, request_id: &str) -> Begin<T> {
        if request_id.is_empty() {
            return Begin::Run;
        }
        match self.known.get_mut(request_id) {
            Some(Known::Running(waiting)) => {
                *waiting += 1;
                Begin::Join
            }
            Some(Known::Done(result)) => Begin::Answer(result.clone()),
            None => {
                self.known.insert(request_id.to_owned(), Known::Running(1));
                Begin::Run
            }
        }
    }

    /// Notes how a command ended: `success` to remember, `None` to forget. Returns how many wait for the answer.
    pub fn finish(&mut self, request_id: &str, success: Option<T>) -> usize {
        if request_id.is_empty() {
            return 1;
        }
        let waiting = match self.known.remove(request_id) {
            Some(Known::Running(waiting)) => waiting,
            Some(Known::Done(_)) | None => 1,
        };
        if let Some(result) = success {
            self.known.insert(request_id.to_owned(), Known::Done(result));
            self.finished.push_back(request_id.to_owned());
            if self.finished.len() > REMEMBERED
                && let Some(oldest) = self.finished.pop_front()
            {
                self.known.remove(&oldest);
            }
        }
        waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b37_a_repeat_joins_what_runs_and_is_answered_from_memory_later() {
        let mut requests = Requests::default();
        assert_eq!(requests.begin("a"), Begin::Run);
        assert_eq!(requests.begin("a"), Begin::Join);
        assert_eq!(requests.finish("a", Some(7)), 2);
        assert_eq!(requests.begin("a"), Begin::Answer(7));
    }

    #[test]
    fn b37_distinct_ids_run_each_and_an_empty_id_joins_nothing() {
        let mut requests = Requests::<u8>::default();
        for id in ["a", "b", "", ""] {
            assert_eq!(requests.begin(id), Begin::Run, "{id:?}");
        }
        assert_eq!((requests.finish("", Some(1)), requests.begin("")), (1, Begin::Run));
    }

    #[test]
    fn a_failure_is_told_to_all_that_wait_and_then_forgotten() {
        let mut requests = Requests::<u8>::default();
        requests.begin("a");
        requests.begin("a");
        assert_eq!(requests.finish("a", None), 2);
        assert_eq!(requests.begin("a"), Begin::Run);
    }

    #[test]
    fn memory_is_bounded_and_forgets_the_oldest_finished_one() {
        let mut requests = Requests::default();
        requests.begin("running");
        for id in 0..=REMEMBERED {
            requests.begin(&id.to_string());
            requests.finish(&id.to_string(), Some(id));
        }
        assert_eq!(requests.begin("0"), Begin::Run, "forgotten");
        assert_eq!(requests.begin("1"), Begin::Answer(1));
        assert_eq!(requests.begin("running"), Begin::Join, "never forgotten while it runs");
        assert!(requests.known.len() <= REMEMBERED + 2);
    }
}
