//! Ids for tests: counted ones that repeat from run to run, and unguessable ones.

use std::sync::atomic::{AtomicU64, Ordering};

use compass_ports::{Clock, Ids};

use crate::SystemClock;

/// Counted ids: distinct, the same in every run; ordered ones increase, random ones are scattered.
#[derive(Debug, Default)]
pub struct SeqIds(AtomicU64);

impl SeqIds {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}

impl Ids for SeqIds {
    fn ordered(&self) -> [u8; 16] {
        join(0, self.next())
    }

    fn random(&self) -> [u8; 16] {
        let number = self.next();
        join(scatter(number), number)
    }

    fn secret(&self) -> [u8; 32] {
        let number = self.next();
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&join(scatter(number), number));
        bytes[16..].copy_from_slice(&join(scatter(!number), number));
        bytes
    }
}

/// Unguessable ids, as a server mints them.
#[derive(Debug, Default)]
pub struct RandomIds {
    count: AtomicU64,
}

impl Ids for RandomIds {
    fn ordered(&self) -> [u8; 16] {
        let ms = SystemClock.now().0.to_be_bytes();
        let count = self.count.fetch_add(1, Ordering::SeqCst);
        let mut bytes: [u8; 16] = random();
        bytes[..6].copy_from_slice(&ms[2..]);
        // The counter keeps the order within a millisecond.
        bytes[6..10].copy_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_be_bytes());
        bytes
    }

    fn random(&self) -> [u8; 16] {
        random()
    }

    fn secret(&self) -> [u8; 32] {
        random()
    }
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes
}

fn join(high: u64, low: u64) -> [u8; 16] {
    ((u128::from(high) << 64) | u128::from(low)).to_be_bytes()
}

/// A bijection that makes neighbours differ in many bits.
pub(crate) fn scatter(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ids: &dyn Ids) {
        let ordered: Vec<_> = (0..100).map(|_| ids.ordered()).collect();
        assert!(ordered.is_sorted_by(|one, other| one < other), "ordered ids increase");
        let mut random: Vec<_> = (0..100).map(|_| ids.random()).collect();
        random.sort_unstable();
        random.dedup();
        assert_eq!(random.len(), 100, "random ids differ");
    }

    #[test]
    fn ordered_ids_increase_and_random_ids_differ() {
        check(&SeqIds::default());
        check(&RandomIds::default());
    }
}
