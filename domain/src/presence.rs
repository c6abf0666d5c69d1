//! Presence: derived from the last lifecycle state and the open asks, never stored.

/// The last state a session's runner reported.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum LifecycleState {
    /// Nothing is known.
    #[default]
    Unspecified,
    /// Coming up.
    Starting,
    /// Between turns.
    Ready,
    /// In a turn.
    Working,
    /// Ended by request or by itself.
    Stopped,
    /// Ended by a failure.
    Errored,
    /// Its runner is away; the session may come back.
    Disconnected,
}

impl LifecycleState {
    /// True if the session takes deliveries.
    pub fn is_live(self) -> bool {
        matches!(self, Self::Starting | Self::Ready | Self::Working)
    }
}

/// What others see of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Presence {
    /// Live, between turns, nothing asked.
    Idle,
    /// In a turn.
    Working,
    /// Live, between turns, with an open ask.
    Waiting,
    /// No live session.
    Offline,
}

/// Derives presence from the last lifecycle state and whether the agent has an open ask.
pub fn derive(state: LifecycleState, has_open_ask: bool) -> Presence {
    match state {
        LifecycleState::Working => Presence::Working,
        LifecycleState::Starting | LifecycleState::Ready if has_open_ask => Presence::Waiting,
        LifecycleState::Starting | LifecycleState::Ready => Presence::Idle,
        LifecycleState::Stopped
        | LifecycleState::Errored
        | LifecycleState::Disconnected
        | LifecycleState::Unspecified => Presence::Offline,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presence_follows_the_table() {
        use LifecycleState as S;
        for ask in [false, true] {
            assert_eq!(derive(S::Working, ask), Presence::Working);
            for state in [S::Stopped, S::Errored, S::Disconnected, S::Unspecified] {
                assert_eq!(derive(state, ask), Presence::Offline, "{state:?}");
            }
        }
        for state in [S::Starting, S::Ready] {
            assert_eq!(derive(state, true), Presence::Waiting, "{state:?}");
            assert_eq!(derive(state, false), Presence::Idle, "{state:?}");
        }
    }
}
