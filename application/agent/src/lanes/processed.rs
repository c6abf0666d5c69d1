//! Which messages a session has seen, and how far each of them got.

use std::collections::{HashMap, VecDeque};

/// How far a message got in this session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It waits for the end of a turn.
    Queued,
    /// It was handed over, and the harness has not said yet whether it took it.
    HandedOver,
    /// The harness took it.
    Taken,
}

/// The stages by message id; forgets the oldest taken ones beyond its size, and never one that is under way.
#[derive(Debug)]
pub(crate) struct Processed {
    stages: HashMap<String, Stage>,
    taken: VecDeque<String>,
    size: usize,
}

impl Processed {
    pub(crate) fn new(size: usize) -> Self {
        Self { stages: HashMap::new(), taken: VecDeque::new(), size }
    }

    pub(crate) fn stage(&self, id: &str) -> Option<Stage> {
        self.stages.get(id).copied()
    }

    pub(crate) fn set(&mut self, id: &str, stage: Stage) {
        let before = self.stages.insert(id.to_owned(), stage);
        if stage == Stage::Taken && before != Some(Stage::Taken) {
            self.taken.push_back(id.to_owned());
        }
        while self.stages.len() > self.size
            && let Some(oldest) = self.taken.pop_front()
        {
            self.stages.remove(&oldest);
        }
    }

    /// Forgets a message that did not get anywhere.
    pub(crate) fn remove(&mut self, id: &str) {
        self.stages.remove(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_taken_messages_are_forgotten_and_the_oldest_first() {
        let mut processed = Processed::new(3);
        processed.set("waits", Stage::Queued);
        processed.set("under way", Stage::HandedOver);
        for id in ["a", "b", "c"] {
            processed.set(id, Stage::HandedOver);
            processed.set(id, Stage::Taken);
        }
        assert_eq!(processed.stage("waits"), Some(Stage::Queued));
        assert_eq!(processed.stage("under way"), Some(Stage::HandedOver));
        assert_eq!(processed.stage("a"), None);
        assert_eq!(processed.stage("b"), None);
        assert_eq!(processed.stage("c"), Some(Stage::Taken));
    }

    #[test]
    fn the_size_is_no_reason_to_forget_what_is_under_way() {
        let mut processed = Processed::new(1);
        for id in ["a", "b", "c"] {
            processed.set(id, Stage::HandedOver);
        }
        assert!(["a", "b", "c"].iter().all(|id| processed.stage(id).is_some()));
    }
}
