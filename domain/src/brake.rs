//! The brake on agents that talk among themselves: after a number of agent messages in a topic without a person the
//! next ones wait until a person posts there.

use crate::{
    account::{Actor, ActorKind},
    id::Seq,
};

/// Agent messages in a topic since a person last posted that go out; the next ones wait.
pub const AGENT_MESSAGES: u32 = 30;

/// How long agents have been among themselves in a topic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AgentRun {
    /// Agent messages since a person last posted.
    pub length: u32,
    /// The place of the last message of a person; zero if there is none.
    pub person: Seq,
}

impl AgentRun {
    /// The run after a message at `seq`. A person ends it, an agent makes it longer, the system does neither.
    #[must_use]
    pub fn after(self, author: Actor, seq: Seq) -> Self {
        match author.kind {
            ActorKind::User { .. } => self.ended(seq),
            ActorKind::Agent { .. } => Self { length: self.length.saturating_add(1), ..self },
            ActorKind::System => self,
        }
    }

    /// The run after a person's message at `seq`.
    #[must_use]
    pub fn ended(self, seq: Seq) -> Self {
        Self { length: 0, person: self.person.max(seq) }
    }

    /// The run of two topics that become one: the later person counts for both, and the longer run stays.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        Self { length: self.length.max(other.length), person: self.person.max(other.person) }
    }

    /// True if the topic's next agent message waits for a person.
    pub fn is_braked(self) -> bool {
        self.length >= AGENT_MESSAGES
    }

    /// True if a message of the topic at `seq`, the `number`-th of its run, waits for a person.
    pub fn holds(self, number: u32, seq: Seq) -> bool {
        may_wait(number) && self.person < seq
    }
}

/// True if the `number`-th message of a run waits unless a person posted after it.
pub fn may_wait(number: u32) -> bool {
    number > AGENT_MESSAGES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{account::UserRole, id::AccountId};

    fn actor(kind: ActorKind) -> Actor {
        Actor { id: AccountId::from_bytes([1; 16]), kind }
    }

    fn agent() -> Actor {
        actor(ActorKind::Agent { owner: AccountId::from_bytes([2; 16]) })
    }

    fn person() -> Actor {
        actor(ActorKind::User { role: UserRole::Member })
    }

    fn run_of(agents: u64) -> AgentRun {
        (1..=agents).fold(AgentRun::default(), |run, seq| run.after(agent(), Seq(seq)))
    }

    #[test]
    fn the_31st_agent_message_waits_until_a_person_posts() {
        let run = run_of(31);
        assert_eq!((run_of(29).is_braked(), run_of(30).is_braked()), (false, true));
        assert!(!run.holds(30, Seq(30)));
        assert!(run.holds(31, Seq(31)));
        let released = run.after(person(), Seq(32));
        assert_eq!(released, AgentRun { length: 0, person: Seq(32) });
        assert!(!released.holds(31, Seq(31)) && !released.is_braked());
        let next = released.after(agent(), Seq(33));
        assert_eq!(next.length, 1);
        assert!(next.holds(31, Seq(40)), "a later run waits for a later person");
    }

    #[test]
    fn the_system_neither_ends_a_run_nor_makes_it_longer() {
        assert_eq!(run_of(30).after(actor(ActorKind::System), Seq(31)), run_of(30));
    }

    #[test]
    fn a_merge_keeps_the_longer_run_and_the_later_person() {
        let (one, other) = (AgentRun { length: 12, person: Seq(3) }, AgentRun { length: 4, person: Seq(9) });
        assert_eq!(one.joined(other), AgentRun { length: 12, person: Seq(9) });
        assert_eq!(other.joined(one), one.joined(other));
    }
}
