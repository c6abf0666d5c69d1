//! Sequences of calls, as they are drawn and shrunk: which use case, and dice that decide the rest.

use proptest::{
    bool::weighted,
    collection::vec,
    prelude::{Just, Strategy, any},
    sample::size_range,
};

/// A use case of a door, or an arm of the relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Use {
    CreateUser,
    CreateAgent,
    ListAccounts,
    CreateGroup,
    ListGroups,
    ListChannels,
    CreateChannel,
    UpdateMembers,
    ReparentAgent,
    ListMessages,
    PostMessage,
    ListTopics,
    UpdateTopic,
    RespondToAsk,
    SearchMessages,
    SetPolicy,
    GetRoster,
    UpdateBoard,
    Subscribe,
    OpenDm,
    JoinChannel,
    ListOpenAsks,
    ReadPositions,
    MarkRead,
    RelayPost,
    RelayList,
    RelayRoster,
    RelaySetStatus,
    RelayPin,
    RelayCreateChannel,
    RelayUpdateMembers,
    RelayCreateGroup,
    RelayOpenDm,
    RelayListTopics,
    RelayCancelAsk,
}

/// Every use case with how often a sequence holds it; together [`STEPS`].
pub(super) const MIX: &[(Use, usize)] = &[
    (Use::CreateUser, 1),
    (Use::CreateAgent, 1),
    (Use::ListAccounts, 1),
    (Use::CreateGroup, 1),
    (Use::ListGroups, 1),
    (Use::ListChannels, 1),
    (Use::CreateChannel, 1),
    (Use::UpdateMembers, 3),
    (Use::ReparentAgent, 2),
    (Use::ListMessages, 1),
    (Use::PostMessage, 6),
    (Use::ListTopics, 1),
    (Use::UpdateTopic, 2),
    (Use::RespondToAsk, 3),
    (Use::SearchMessages, 1),
    (Use::SetPolicy, 1),
    (Use::GetRoster, 1),
    (Use::UpdateBoard, 2),
    (Use::Subscribe, 1),
    (Use::OpenDm, 1),
    (Use::JoinChannel, 1),
    (Use::ListOpenAsks, 1),
    (Use::ReadPositions, 1),
    (Use::MarkRead, 2),
    (Use::RelayPost, 2),
    (Use::RelayList, 1),
    (Use::RelayRoster, 1),
    (Use::RelaySetStatus, 1),
    (Use::RelayPin, 1),
    (Use::RelayCreateChannel, 1),
    (Use::RelayUpdateMembers, 1),
    (Use::RelayCreateGroup, 1),
    (Use::RelayOpenDm, 1),
    (Use::RelayListTopics, 1),
    (Use::RelayCancelAsk, 2),
];

/// Steps of a sequence.
pub(super) const STEPS: usize = 50;

/// Dice of a step; one that needs more throws them again.
const DICE: usize = 24;

/// A call to come.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Which.
    pub(super) which: Use,
    /// What decides its caller and its arguments.
    pub(super) dice: Vec<u16>,
}

/// Sequences that hold each use case as often as [`MIX`] says, in any order; they shrink by leaving steps out and by
/// lowering dice.
pub(super) fn sequences() -> impl Strategy<Value = Vec<Step>> {
    let mix: Vec<Use> = MIX.iter().flat_map(|(which, count)| std::iter::repeat_n(*which, *count)).collect();
    assert_eq!(mix.len(), STEPS, "a sequence has {STEPS} steps");
    let kept = vec(weighted(1.0), size_range(STEPS));
    let thrown = vec(vec(any::<u16>(), size_range(DICE)), size_range(STEPS));
    // What is left out is tried first.
    (kept, Just(mix).prop_shuffle(), thrown).prop_map(|(kept, mix, thrown)| {
        let steps = mix.into_iter().zip(thrown).zip(kept).filter(|(_, is_kept)| *is_kept);
        steps.map(|((which, dice), _)| Step { which, dice }).collect()
    })
}

/// Dice in use.
#[derive(Debug)]
pub(super) struct Dice<'a> {
    thrown: &'a [u16],
    next: usize,
}

impl<'a> Dice<'a> {
    pub(super) fn new(thrown: &'a [u16]) -> Self {
        Self { thrown, next: 0 }
    }

    /// A number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let round = self.next / self.thrown.len();
        let shown = usize::from(self.thrown[self.next % self.thrown.len()]);
        self.next += 1;
        // Another digit of the same die in the next round.
        (shown >> (3 * round)) % bound
    }

    /// True once in `times`; never on a die that is as low as it can be.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    /// One of a list; none if it is empty.
    pub(super) fn pick<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        if list.is_empty() { None } else { Some(list[self.below(list.len())]) }
    }

    /// One of a list that is not empty.
    pub(super) fn one<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}
