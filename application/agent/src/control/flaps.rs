//! How often a stream may drop, and how long to wait before it is opened again.

use std::time::Duration;

/// Waits before the next opening, one after the other; the last one stays.
const LADDER: [Duration; 4] = [
    Duration::from_millis(50),
    Duration::from_millis(200),
    Duration::from_millis(800),
    Duration::from_secs(2),
];
/// A stream that was open this long was well.
const HELD: Duration = Duration::from_secs(5);
/// Openings in a row that may come to nothing.
const BUDGET: u32 = 10;

/// The drops since the stream was last well.
#[derive(Debug, Default)]
pub(super) struct Flaps {
    rung: usize,
    idle: u32,
}

impl Flaps {
    /// How long to wait after a drop; none to give up.
    ///
    /// `opened` is true if the runner had answered, `progress` if something was applied since the last drop or is
    /// being applied. A stream that opens and drops at once is given up when the ladder ends; one that cannot be
    /// opened, when the budget does.
    pub(super) fn dropped(&mut self, opened: bool, lived: Duration, progress: bool) -> Option<Duration> {
        if opened && lived >= HELD {
            *self = Self::default();
        } else if progress {
            self.idle = 0;
        } else {
            self.idle += 1;
            if self.idle > BUDGET || (opened && self.rung >= LADDER.len()) {
                return None;
            }
        }
        let wait = LADDER.get(self.rung).or(LADDER.last()).copied();
        self.rung += 1;
        wait
    }
}
