//! Full-jitter backoff between connection attempts.

use std::time::Duration;

/// First ceiling of a wait.
const FIRST: Duration = Duration::from_millis(50);
/// Highest ceiling of a wait.
const LAST: Duration = Duration::from_secs(5);

/// Waits that grow with each failure and start over after a connection that held.
#[derive(Debug, Default, Clone)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// The wait before the next attempt: anywhere from zero to a ceiling that doubles with each failure.
    ///
    /// `random` is any number; its remainder picks the place.
    pub fn next_wait(&mut self, random: u64) -> Duration {
        let doubled = FIRST.saturating_mul(2u32.saturating_pow(self.failures));
        let ceiling = doubled.min(LAST);
        self.failures = self.failures.saturating_add(1);
        let millis = u64::try_from(ceiling.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(random % millis.saturating_add(1))
    }

    /// Starts over.
    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_ceiling_and_start_over() {
        let mut backoff = Backoff::default();
        let ceilings: Vec<u128> = (0..10)
            .map(|_| {
                let ceiling =
                    FIRST.saturating_mul(2u32.saturating_pow(backoff.failures)).min(LAST).as_millis();
                let wait = backoff.next_wait(u64::MAX).as_millis();
                assert!(wait <= ceiling, "{wait} above {ceiling}");
                ceiling
            })
            .collect();
        assert_eq!(ceilings[..3], [50, 100, 200]);
        assert_eq!(ceilings[9], 5000);
        backoff.reset();
        assert!(backoff.next_wait(50) <= FIRST);
    }

    #[test]
    fn a_wait_may_be_anything_below_its_ceiling() {
        assert_eq!(Backoff::default().next_wait(0), Duration::ZERO);
        assert_eq!(Backoff::default().next_wait(50), FIRST);
    }
}
