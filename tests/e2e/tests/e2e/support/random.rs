//! Randomness with a seed that is printed, so that a failed run can be run again.

use std::{
    env,
    hash::{BuildHasher, RandomState},
};

/// A small generator (xorshift64*).
pub(crate) struct Random(u64);

impl Random {
    /// Seeded by `COMPASS_SEED`, else anew; prints the seed.
    pub(crate) fn seeded(what: &str) -> Self {
        let given = env::var("COMPASS_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed: u64 = given.unwrap_or_else(|| RandomState::new().hash_one(what));
        println!("{what}: COMPASS_SEED={seed}");
        Self(seed | 1)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound.max(1)
    }
}
