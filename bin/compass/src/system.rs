//! The machine's clock and randomness behind the ports `Clock` and `Ids`.

use std::time::{SystemTime, UNIX_EPOCH};

use compass_domain::UnixMillis;
use compass_ports::{Clock, Ids};

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> UnixMillis {
        #[expect(clippy::disallowed_methods, reason = "this is the clock behind the port")]
        let now = SystemTime::now();
        let millis = match now.duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis),
        };
        UnixMillis(millis)
    }
}

/// The machine's random numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SystemIds;

impl Ids for SystemIds {
    fn ordered(&self) -> [u8; 16] {
        #[expect(clippy::disallowed_methods, reason = "these are the ids behind the port")]
        let id = uuid::Uuid::now_v7();
        id.into_bytes()
    }

    fn random(&self) -> [u8; 16] {
        random()
    }

    fn secret(&self) -> [u8; 32] {
        random()
    }
}

#[expect(
    clippy::expect_used,
    reason = "a program without randomness must stop before it mints a guessable id"
)]
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

/// A key that makes sending a post again safe: 32 hexadecimal digits nobody used before.
pub(crate) fn fresh_key() -> String {
    SystemIds.message().to_string()
}

/// What the fence of one transcript is made of.
pub(crate) fn fence_bytes() -> [u8; 8] {
    random()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordered_ids_increase_even_within_a_millisecond() {
        let ids: Vec<_> = (0..1000).map(|_| SystemIds.ordered()).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn secrets_differ() {
        assert_ne!(SystemIds.secret(), SystemIds.secret());
        assert_ne!(SystemIds.random(), SystemIds.random());
    }

    #[test]
    fn the_clock_is_past_the_day_this_was_written() {
        assert!(SystemClock.now().0 > 1_700_000_000_000);
    }
}
