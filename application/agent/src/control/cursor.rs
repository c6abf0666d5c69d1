//! Which control is applied: everything up to a number, and single numbers above it.

use std::collections::BTreeSet;

use crate::ports::Frame;

/// The applied numbers of one life of a session.
#[derive(Debug, Default)]
pub(super) struct AckCursor {
    acked: Option<u64>,
    above: BTreeSet<u64>,
}

impl AckCursor {
    /// Notes that a number was seen. A stream starts with the lowest number that nobody acknowledged, so what is
    /// below the first one was taken in by an earlier process of this session.
    pub(super) fn see(&mut self, seq: u64) {
        self.acked.get_or_insert(seq.saturating_sub(1));
    }

    pub(super) fn is_applied(&self, seq: u64) -> bool {
        self.acked.is_some_and(|acked| seq <= acked) || self.above.contains(&seq)
    }

    pub(super) fn apply(&mut self, seq: u64) {
        self.see(seq);
        let acked = self.acked.get_or_insert(0);
        if seq > *acked {
            self.above.insert(seq);
        }
        while self.above.remove(&(*acked + 1)) {
            *acked += 1;
        }
    }

    pub(super) fn frame(&self) -> Frame {
        let applied_above = self.above.iter().copied().collect();
        Frame::ControlAck { acked_seq: self.acked.unwrap_or_default(), applied_above }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(acked_seq: u64, above: &[u64]) -> Frame {
        Frame::ControlAck { acked_seq, applied_above: above.to_vec() }
    }

    #[test]
    fn a62_numbers_above_an_unfinished_one_are_single_until_it_is_done() {
        let mut cursor = AckCursor::default();
        assert_eq!(cursor.frame(), frame(0, &[]));
        cursor.see(1);
        for seq in [2, 3] {
            cursor.see(seq);
            cursor.apply(seq);
        }
        assert_eq!(cursor.frame(), frame(0, &[2, 3]));
        assert!(!cursor.is_applied(1) && cursor.is_applied(2));
        cursor.apply(1);
        assert_eq!(cursor.frame(), frame(3, &[]));
    }

    #[test]
    fn a_process_that_takes_a_session_over_begins_where_the_stream_begins() {
        let mut cursor = AckCursor::default();
        cursor.apply(58);
        assert_eq!(cursor.frame(), frame(58, &[]));
    }
}
