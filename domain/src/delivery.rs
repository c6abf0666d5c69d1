//! Delivery: what a cursor covers, who is owed a message, and on which lane it goes.

use std::collections::BTreeSet;

use crate::{
    id::{AccountId, Seq},
    mention,
    message::Message,
};

/// What an agent acknowledged in a channel: everything up to `acked`, and some above it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cursor {
    acked: Seq,
    above: BTreeSet<Seq>,
}

impl Cursor {
    /// A cursor that owes nothing up to the channel's newest message.
    pub fn seeded(head: Seq) -> Self {
        Self { acked: head, above: BTreeSet::new() }
    }

    /// A cursor as stored.
    pub fn restore(acked: Seq, above: impl IntoIterator<Item = Seq>) -> Self {
        Self { acked, above: above.into_iter().filter(|seq| *seq > acked).collect() }
    }

    /// Everything up to here is acknowledged.
    pub fn acked(&self) -> Seq {
        self.acked
    }

    /// What is acknowledged above it, ascending.
    pub fn above(&self) -> impl Iterator<Item = Seq> + '_ {
        self.above.iter().copied()
    }

    /// True if a message at `seq` is not owed any more.
    pub fn covers(&self, seq: Seq) -> bool {
        seq <= self.acked || self.above.contains(&seq)
    }

    /// Acknowledges `seq` and advances over what is acknowledged or was written by the agent itself.
    ///
    /// Returns false if nothing changed: a repeat, or a seq already covered.
    pub fn acknowledge(&mut self, seq: Seq, is_own: impl Fn(Seq) -> bool) -> bool {
        if self.covers(seq) {
            return false;
        }
        self.above.insert(seq);
        loop {
            let next = self.acked.next();
            if !self.above.remove(&next) && !is_own(next) {
                break;
            }
            self.acked = next;
        }
        true
    }
}

/// The way a message reaches an agent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lane {
    /// With the agent's next turn.
    Deliver,
    /// Into the current turn.
    Steer,
}

/// An agent that takes part in a message's channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentMember {
    /// Who.
    pub account: AccountId,
    /// By which it is mentioned.
    pub handle: String,
    /// True if its cursor owes it the channel's messages: subscribed, or its home, or mandatory.
    pub in_sweep_set: bool,
}

/// One agent a message goes to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Target {
    /// Who.
    pub account: AccountId,
    /// How.
    pub lane: Lane,
    /// True if only an owed row, not the cursor, keeps it until it is acknowledged.
    pub owed: bool,
}

/// Decides who gets a message and how, from the agents that take part in its channel.
///
/// The author gets nothing. A mentioned agent is steered and not delivered to. The asker of an answered ask
/// who is outside the sweep set is steered. Everyone else in the sweep set is delivered to.
pub fn route(message: &Message, members: &[AgentMember]) -> Vec<Target> {
    let mentions = message.mentions();
    let asker = message.answer().map(crate::message::AskAnswer::asker);
    let others = members.iter().filter(|member| member.account != message.author());
    others
        .filter_map(|member| {
            let mentioned = mention::names(&mentions, &member.handle);
            let asked = asker == Some(member.account);
            let lane = match (mentioned, member.in_sweep_set, asked) {
                (true, _, _) | (false, false, true) => Lane::Steer,
                (false, true, _) => Lane::Deliver,
                (false, false, false) => return None,
            };
            Some(Target { account: member.account, lane, owed: !member.in_sweep_set })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seqs(cursor: &Cursor) -> (u64, Vec<u64>) {
        (cursor.acked().0, cursor.above().map(|seq| seq.0).collect())
    }

    #[test]
    fn a_cursor_advances_over_filled_gaps_and_own_posts() {
        let mut cursor = Cursor::seeded(Seq(1));
        assert!(cursor.acknowledge(Seq(4), |_| false));
        assert_eq!(seqs(&cursor), (1, vec![4]));
        assert!(cursor.acknowledge(Seq(2), |seq| seq == Seq(3)));
        assert_eq!(seqs(&cursor), (4, vec![]));
    }

    #[test]
    fn acknowledging_twice_changes_nothing() {
        let mut cursor = Cursor::restore(Seq(2), [Seq(5), Seq(1)]);
        assert!(!cursor.acknowledge(Seq(5), |_| false));
        assert!(!cursor.acknowledge(Seq(2), |_| true));
        assert_eq!(seqs(&cursor), (2, vec![5]));
    }
}
