//! The inbox of an agent whose harness takes messages one by one and says when it took them.
//!
//! A message is handed over at most once by one process. The mark "begun" is on disk before it is handed over and
//! "taken" before it is acknowledged, so a later life hands it over again only if the earlier one died in between,
//! and then says so.

use std::collections::HashSet;

use crate::{
    ports::{Journal, JournalError, Mark},
    seen::Delivery,
};

/// What to do with a delivery.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Hand it over.
    HandOver {
        /// The message.
        delivery: Box<Delivery>,
        /// True if an earlier life may have handed it over and died before it could say so.
        delivered_before: bool,
    },
    /// It was taken before: acknowledge it again.
    Acknowledge(String),
    /// It is with the harness already: its own acknowledgement will come.
    Waiting,
    /// It has no id: nothing can be acknowledged.
    Unmapped,
}

/// Which messages this process handed over and which are taken.
#[derive(Debug)]
pub struct Inbox<J> {
    journal: J,
    handed_over: HashSet<String>,
}

impl<J: Journal> Inbox<J> {
    /// An inbox over what earlier lives left in the journal.
    pub fn new(journal: J) -> Self {
        Self { journal, handed_over: HashSet::new() }
    }

    /// Decides what to do with a delivery.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if the mark cannot be written; the message must not be handed over then.
    pub fn arrive(&mut self, delivery: Delivery) -> Result<Arrival, JournalError> {
        let id = delivery.message.id.clone();
        if id.is_empty() {
            return Ok(Arrival::Unmapped);
        }
        let mark = self.journal.mark(&id)?;
        if mark == Some(Mark::Taken) {
            return Ok(Arrival::Acknowledge(id));
        }
        if self.handed_over.contains(&id) {
            return Ok(Arrival::Waiting);
        }
        if mark.is_none() {
            self.journal.begin(&id)?;
        }
        self.handed_over.insert(id);
        Ok(Arrival::HandOver { delivery: Box::new(delivery), delivered_before: mark.is_some() })
    }

    /// Records that the harness took a message; true if it may be acknowledged, false if it was never handed over.
    ///
    /// # Errors
    ///
    /// [`JournalError`] if the mark cannot be written; the message must not be acknowledged then.
    pub fn taken(&mut self, message_id: &str) -> Result<bool, JournalError> {
        if self.journal.mark(message_id)? == Some(Mark::Taken) {
            return Ok(true);
        }
        if !self.handed_over.contains(message_id) {
            return Ok(false);
        }
        self.journal.take(message_id)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::seen::SeenMessage;

    #[derive(Debug, Default, Clone)]
    struct Paper {
        marks: HashMap<String, Mark>,
        broken: bool,
    }

    impl Paper {
        fn put(&mut self, id: &str, mark: Mark) -> Result<(), JournalError> {
            if self.broken {
                return Err(JournalError("disk full".into()));
            }
            self.marks.insert(id.into(), mark);
            Ok(())
        }
    }

    impl Journal for Paper {
        fn mark(&mut self, id: &str) -> Result<Option<Mark>, JournalError> {
            Ok(self.marks.get(id).copied())
        }

        fn begin(&mut self, id: &str) -> Result<(), JournalError> {
            self.put(id, Mark::Begun)
        }

        fn take(&mut self, id: &str) -> Result<(), JournalError> {
            self.put(id, Mark::Taken)
        }
    }

    fn delivery(id: &str) -> Delivery {
        Delivery { message: SeenMessage { id: id.into(), ..SeenMessage::default() }, ..Delivery::default() }
    }

    fn hand_over(id: &str, delivered_before: bool) -> Arrival {
        Arrival::HandOver { delivery: Box::new(delivery(id)), delivered_before }
    }

    #[test]
    fn a_message_is_handed_over_once_and_acknowledged_after_it_was_taken() {
        let mut inbox = Inbox::new(Paper::default());
        assert_eq!(inbox.arrive(delivery("m")).expect("journal"), hand_over("m", false));
        assert_eq!(inbox.arrive(delivery("m")).expect("journal"), Arrival::Waiting);
        assert!(inbox.taken("m").expect("journal"));
        assert_eq!(inbox.arrive(delivery("m")).expect("journal"), Arrival::Acknowledge("m".into()));
    }

    #[test]
    fn a_later_life_does_not_see_a_taken_message_again() {
        let mut paper = Paper::default();
        paper.marks.insert("m".into(), Mark::Taken);
        let mut inbox = Inbox::new(paper);
        assert_eq!(inbox.arrive(delivery("m")).expect("journal"), Arrival::Acknowledge("m".into()));
    }

    #[test]
    fn a_message_begun_in_an_earlier_life_is_marked() {
        let mut inbox = Inbox::new(Paper::default());
        inbox.arrive(delivery("m")).expect("journal");
        let mut later = Inbox::new(inbox.journal.clone());
        assert_eq!(later.arrive(delivery("m")).expect("journal"), hand_over("m", true));
    }

    #[test]
    fn nothing_is_acknowledged_that_was_not_handed_over() {
        let mut inbox = Inbox::new(Paper::default());
        assert!(!inbox.taken("m").expect("journal"));
        assert_eq!(inbox.arrive(delivery("")).expect("journal"), Arrival::Unmapped);
    }

    #[test]
    fn a_broken_journal_stops_handing_over_and_acknowledging() {
        let mut inbox = Inbox::new(Paper { broken: true, ..Paper::default() });
        assert!(inbox.arrive(delivery("m")).is_err());
        inbox.journal.broken = false;
        assert_eq!(inbox.arrive(delivery("m")).expect("journal"), hand_over("m", false));
        inbox.journal.broken = true;
        assert!(inbox.taken("m").is_err());
    }
}
