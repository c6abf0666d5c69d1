//! When an agent's program is launched again and when its session is over.

use std::time::Duration;

use crate::Backoff;

/// First ceiling of a wait before a restart.
const FIRST: Duration = Duration::from_millis(500);
/// Highest ceiling of a wait before a restart.
const LAST: Duration = Duration::from_mins(1);
/// A program that ran this long is not failing in a row.
pub const HELD: Duration = Duration::from_mins(1);

/// When an ended program is launched again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RestartPolicy {
    /// Never: its end is the session's.
    Never,
    /// If it failed.
    #[default]
    OnFailure,
    /// Whenever it ended.
    Always,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// With code 0.
    Success,
    /// Otherwise, or it could not be launched; in words.
    Failure(String),
}

/// What follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Launch it again after this wait; until then the session is disconnected.
    Relaunch(Duration),
    /// The session stopped.
    Stopped,
    /// The session failed, and why.
    Errored(String),
}

/// The restarts of one session.
#[derive(Debug)]
pub struct Supervision {
    policy: RestartPolicy,
    limit: u32,
    backoff: Backoff,
}

impl Supervision {
    /// Restarts by `policy`, and gives up after `limit` restarts in a row of a program that never held.
    pub fn new(policy: RestartPolicy, limit: u32) -> Self {
        Self { policy, limit, backoff: Backoff::between(FIRST, LAST) }
    }

    /// What follows when the program ended by itself after having lived for `lived`; `random` is any number.
    pub fn ended(&mut self, exit: &Exit, lived: Duration, random: u64) -> Verdict {
        if lived >= HELD {
            self.backoff.reset();
        }
        let again = match (self.policy, exit) {
            (RestartPolicy::Always, _) | (RestartPolicy::OnFailure, Exit::Failure(_)) => true,
            (RestartPolicy::OnFailure | RestartPolicy::Never, _) => false,
        };
        match exit {
            _ if again && self.backoff.failures() < self.limit => {
                Verdict::Relaunch(self.backoff.next_wait(random))
            }
            Exit::Success if !again => Verdict::Stopped,
            Exit::Success => Verdict::Errored(self.given_up("it ended at once again and again")),
            Exit::Failure(reason) if again => Verdict::Errored(self.given_up(reason)),
            Exit::Failure(reason) => Verdict::Errored(reason.clone()),
        }
    }

    fn given_up(&self, reason: &str) -> String {
        format!("given up after {} restarts in a row: {reason}", self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_secs(1);

    fn failure() -> Exit {
        Exit::Failure("exit code 3".into())
    }

    #[test]
    fn a_policy_says_which_ends_are_followed_by_a_launch() {
        let relaunch = Verdict::Relaunch(Duration::ZERO);
        let errored = Verdict::Errored("exit code 3".into());
        for (policy, exit, verdict) in [
            (RestartPolicy::Never, Exit::Success, &Verdict::Stopped),
            (RestartPolicy::Never, failure(), &errored),
            (RestartPolicy::OnFailure, Exit::Success, &Verdict::Stopped),
            (RestartPolicy::OnFailure, failure(), &relaunch),
            (RestartPolicy::Always, Exit::Success, &relaunch),
            (RestartPolicy::Always, failure(), &relaunch),
        ] {
            let ended = Supervision::new(policy, 5).ended(&exit, SHORT, 0);
            assert_eq!(&ended, verdict, "{policy:?} {exit:?}");
        }
    }

    #[test]
    fn waits_double_up_to_a_minute() {
        let mut supervision = Supervision::new(RestartPolicy::Always, 20);
        for ceiling in [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000] {
            let verdict = supervision.ended(&failure(), SHORT, ceiling);
            assert_eq!(verdict, Verdict::Relaunch(Duration::from_millis(ceiling)));
        }
    }

    #[test]
    fn too_many_restarts_in_a_row_end_the_session_and_say_why() {
        for exit in [failure(), Exit::Success] {
            let mut supervision = Supervision::new(RestartPolicy::Always, 2);
            for _ in 0..2 {
                assert!(matches!(supervision.ended(&exit, SHORT, 0), Verdict::Relaunch(_)));
            }
            let verdict = supervision.ended(&exit, SHORT, 0);
            assert!(
                matches!(&verdict, Verdict::Errored(reason) if reason.contains("2 restarts")),
                "{verdict:?}"
            );
        }
    }

    #[test]
    fn a_program_that_held_starts_the_count_over() {
        let mut supervision = Supervision::new(RestartPolicy::OnFailure, 1);
        for _ in 0..10 {
            assert!(matches!(supervision.ended(&failure(), HELD, 0), Verdict::Relaunch(_)));
        }
        assert!(matches!(supervision.ended(&failure(), SHORT, 0), Verdict::Errored(_)));
    }

    #[test]
    fn no_restart_at_all_is_a_limit_too() {
        let mut supervision = Supervision::new(RestartPolicy::OnFailure, 0);
        assert!(matches!(supervision.ended(&failure(), SHORT, 0), Verdict::Errored(_)));
    }
}
