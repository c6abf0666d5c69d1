//! Clocks: one that stands still until it is moved, and the machine's.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use compass_domain::UnixMillis;
use compass_ports::Clock;

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct FixedClock(AtomicI64);

impl FixedClock {
    /// A clock that shows `at` milliseconds since 1970.
    pub fn at(at: i64) -> Self {
        Self(AtomicI64::new(at))
    }

    /// Moves it to `at` milliseconds since 1970, forward or back.
    pub fn set(&self, at: i64) {
        self.0.store(at, Ordering::SeqCst);
    }

    /// Moves it forward.
    pub fn advance_ms(&self, by_ms: i64) {
        self.0.fetch_add(by_ms, Ordering::SeqCst);
    }
}

impl Default for FixedClock {
    fn default() -> Self {
        Self::at(1_700_000_000_000)
    }
}

impl Clock for FixedClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.0.load(Ordering::SeqCst))
    }
}

/// The machine's clock, for tests of storage that uses the database's own.
#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock port itself")]
    fn now(&self) -> UnixMillis {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}
