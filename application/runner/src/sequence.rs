//! Numbers of upstream frames: from 1, one more per frame that was really sent.

/// The sequence of one runner process; it goes on over reconnects.
#[derive(Debug, Default)]
pub struct PublishSequence {
    sent: u64,
}

impl PublishSequence {
    /// The number the next frame carries. A failed send does not burn it.
    pub fn next(&self) -> u64 {
        self.sent.saturating_add(1)
    }

    /// Says that the frame with [`PublishSequence::next`] is on the stream.
    pub fn sent(&mut self) {
        self.sent = self.next();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_send_leaves_no_gap() {
        let mut sequence = PublishSequence::default();
        assert_eq!(sequence.next(), 1);
        assert_eq!(sequence.next(), 1);
        sequence.sent();
        assert_eq!(sequence.next(), 2);
    }
}
