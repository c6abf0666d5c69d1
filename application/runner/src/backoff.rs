//! Full-jitter backoff between attempts.

use std::time::Duration;

/// First ceiling of a wait for a connection.
const FIRST: Duration = Duration::from_millis(50);
/// Highest ceiling of a wait for a connection.
const LAST: Duration = Duration::from_secs(5);

/// Waits that grow with each failure and start over after an attempt that held.
#[derive(Debug, Clone)]
pub struct Backoff {
    first: Duration,
    last: Duration,
    failures: u32,
}

impl Default for Backoff {
    /// The waits of a connection: ceilings from 50 ms to 5 s.
    fn default() -> Self {
        Self::between(FIRST, LAST)
    }
}

impl Backoff {
    /// Waits whose ceiling begins at `first`, doubles with each failure and ends at `last`.
    pub const fn between(first: Duration, last: Duration) -> Self {
        Self { first, last, failures: 0 }
    }

    /// The wait before the next attempt: anywhere from zero to the ceiling.
    ///
    /// `random` is any number; its remainder picks the place.
    pub fn next_wait(&mut self, random: u64) -> Duration {
        let doubled = self.first.saturating_mul(2u32.saturating_pow(self.failures));
        let ceiling = doubled.min(self.last);
        self.failures = self.failures.saturating_add(1);
        let millis = u64::try_from(ceiling.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(random % millis.saturating_add(1))
    }

    /// How many attempts failed since the last one that held.
    pub fn failures(&self) -> u32 {
        self.failures
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
        // A number that leaves the whole ceiling as its remainder.
        for ceiling in [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000] {
            assert_eq!(backoff.next_wait(ceiling), Duration::from_millis(ceiling));
        }
        assert_eq!(backoff.failures(), 9);
        backoff.reset();
        assert!(backoff.next_wait(u64::MAX) <= FIRST);
    }

    #[test]
    fn a_wait_may_be_anything_below_its_ceiling() {
        assert_eq!(Backoff::default().next_wait(0), Duration::ZERO);
        assert_eq!(Backoff::default().next_wait(50), FIRST);
    }

    #[test]
    fn ceilings_can_be_chosen() {
        let mut backoff = Backoff::between(Duration::from_secs(1), Duration::from_secs(3));
        assert_eq!(backoff.next_wait(1000), Duration::from_secs(1));
        assert_eq!(backoff.next_wait(2000), Duration::from_secs(2));
        assert_eq!(backoff.next_wait(3000), Duration::from_secs(3));
    }
}
