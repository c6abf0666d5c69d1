//! What starts a sleeping agent, and how long a failed start is left alone.

use crate::{
    delivery::{Lane, Target},
    id::UnixMillis,
};

/// For what a sleeping agent is started.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum WakePolicy {
    /// A mention, an answer to its ask, or a message in its home channel or a direct conversation.
    #[default]
    Mention,
    /// Anything it is owed.
    Any,
    /// Nothing.
    Never,
}

impl WakePolicy {
    /// True if a message that goes to an agent this way starts it. `is_direct` says that the channel is its home
    /// channel or a direct conversation.
    ///
    /// A steer is a mention or an answer to an ask of someone outside the sweep set; an answer to an ask of
    /// someone inside it is a deliver, which `answers_it` tells apart.
    pub fn wakes(self, target: &Target, answers_it: bool, is_direct: bool) -> bool {
        match self {
            Self::Any => true,
            Self::Mention => target.lane == Lane::Steer || answers_it || is_direct,
            Self::Never => false,
        }
    }
}

/// Minutes for which an agent is left alone after its first, second, … failed start in a row; the last one stays.
pub const BACKOFF_MINUTES: [i64; 4] = [1, 5, 15, 60];

/// The most of a failed start's text that is kept, in code points.
pub const WAKE_ERROR_CODE_POINTS: usize = 200;

/// Milliseconds an agent is left alone after a failed start that follows `failures` earlier ones.
pub fn backoff_ms(failures: u32) -> i64 {
    let at = usize::try_from(failures).map_or(BACKOFF_MINUTES.len(), |at| at.min(BACKOFF_MINUTES.len() - 1));
    BACKOFF_MINUTES.get(at).copied().unwrap_or(60) * 60_000
}

/// When an agent may be started again after a failure at `now`.
pub fn not_before(now: UnixMillis, failures: u32) -> UnixMillis {
    UnixMillis(now.0.saturating_add(backoff_ms(failures)))
}

/// A failed start's text as it is kept.
pub fn shown_error(text: &str) -> String {
    text.chars().filter(|c| *c != '\0').take(WAKE_ERROR_CODE_POINTS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AccountId;

    #[test]
    fn failures_back_off_1_5_15_60_minutes_and_stay_there() {
        let minutes: Vec<i64> = (0..6).map(|failures| backoff_ms(failures) / 60_000).collect();
        assert_eq!(minutes, [1, 5, 15, 60, 60, 60]);
        assert_eq!(backoff_ms(u32::MAX), 3_600_000);
    }

    #[test]
    fn a_policy_decides_by_what_a_message_is_to_the_agent() {
        let to = |lane| Target { account: AccountId::from_bytes([1; 16]), lane, owed: false };
        for (policy, plain, answer, direct, steer) in [
            (WakePolicy::Mention, false, true, true, true),
            (WakePolicy::Any, true, true, true, true),
            (WakePolicy::Never, false, false, false, false),
        ] {
            let deliver = to(Lane::Deliver);
            assert_eq!(policy.wakes(&deliver, false, false), plain, "{policy:?}");
            assert_eq!(policy.wakes(&deliver, true, false), answer, "{policy:?}");
            assert_eq!(policy.wakes(&deliver, false, true), direct, "{policy:?}");
            assert_eq!(policy.wakes(&to(Lane::Steer), false, false), steer, "{policy:?}");
        }
    }

    #[test]
    fn an_error_is_kept_up_to_its_limit() {
        assert_eq!(shown_error("no\0 such command"), "no such command");
        assert_eq!(shown_error(&"ä".repeat(300)).chars().count(), WAKE_ERROR_CODE_POINTS);
    }
}
