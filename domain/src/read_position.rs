//! How far a person has read a topic.

use crate::id::{Seq, TopicId};

/// A person's place in a topic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadPosition {
    /// Which topic.
    pub topic: TopicId,
    /// The newest place that was read; 0 if nothing was.
    pub seq: Seq,
    /// Messages of others above it.
    pub unread: u32,
    /// The topic's newest place when they were counted; 0 if it has none.
    pub newest: Seq,
}

/// A place that a topic does not reach yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("channel_seq {} is beyond the topic's newest message, which has {}", asked.0, newest.0)]
pub struct Beyond {
    /// What was asked for.
    pub asked: Seq,
    /// The topic's newest.
    pub newest: Seq,
}

/// Where a person stands after reading up to `asked`; none if it has read that far already.
///
/// # Errors
///
/// [`Beyond`] if the topic has no message at or after that place: what comes later would count as read.
pub fn advance(stored: Seq, asked: Seq, newest: Seq) -> Result<Option<Seq>, Beyond> {
    if asked > newest {
        return Err(Beyond { asked, newest });
    }
    Ok((asked > stored).then_some(asked))
}

/// Where a person stands in a topic that two topics became, by its place in each and the newest message of each.
///
/// No unread message becomes a read one: the lower place counts unless all of its topic was read.
pub fn joined(one: (Seq, Seq), other: (Seq, Seq)) -> Seq {
    let all_read = |(read, newest): (Seq, Seq)| read >= newest;
    match (all_read(one), all_read(other)) {
        (true, true) => one.0.max(other.0),
        (true, false) => other.0,
        (false, true) => one.0,
        (false, false) => one.0.min(other.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_only_moves_forward() {
        assert_eq!(advance(Seq(0), Seq(3), Seq(9)), Ok(Some(Seq(3))));
        assert_eq!(advance(Seq(3), Seq(3), Seq(9)), Ok(None));
        assert_eq!(advance(Seq(3), Seq(2), Seq(9)), Ok(None));
        assert_eq!(advance(Seq(3), Seq(0), Seq(9)), Ok(None));
    }

    #[test]
    fn a_place_beyond_the_newest_message_is_refused() {
        assert_eq!(advance(Seq(0), Seq(9), Seq(9)), Ok(Some(Seq(9))));
        let refused = advance(Seq(0), Seq(10), Seq(9)).unwrap_err();
        assert_eq!(refused.to_string(), "channel_seq 10 is beyond the topic's newest message, which has 9");
    }

    #[test]
    fn joining_two_topics_marks_nothing_as_read() {
        let (four, nine) = ((Seq(4), Seq(8)), (Seq(9), Seq(9)));
        assert_eq!(joined(four, nine), Seq(4), "8 stays unread");
        assert_eq!(joined(nine, four), Seq(4));
        assert_eq!(joined((Seq(8), Seq(8)), nine), Seq(9));
        assert_eq!(joined(four, (Seq(2), Seq(9))), Seq(2));
        assert_eq!(joined((Seq(0), Seq(0)), four), Seq(4), "an empty topic has nothing unread");
    }
}
