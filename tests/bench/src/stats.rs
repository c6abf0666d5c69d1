//! Percentiles and medians.

use std::time::Duration;

/// Latencies of one kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    pub(crate) fn push(&mut self, sample: Duration) {
        self.0.push(sample);
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The smallest sample that at least `percent` of all samples do not exceed, in milliseconds; `None` without
    /// samples.
    pub(crate) fn percentile_ms(&self, percent: usize) -> Option<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).map(|sample| sample.as_secs_f64() * 1_000.0)
    }
}

/// The middle value, or the mean of the two in the middle; `None` without values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = if sorted.len().is_multiple_of(2) { *sorted.get(sorted.len() / 2 - 1)? } else { upper };
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(millis: &[u64]) -> Samples {
        Samples(millis.iter().map(|&value| Duration::from_millis(value)).collect())
    }

    #[track_caller]
    fn same(found: Option<f64>, expected: f64) {
        assert!(found.is_some_and(|found| (found - expected).abs() < 1e-9), "{found:?}, not {expected}");
    }

    #[test]
    fn a_percentile_is_a_sample_that_enough_others_do_not_exceed() {
        let hundred: Vec<u64> = (1..=100).rev().collect();
        same(samples(&hundred).percentile_ms(50), 50.0);
        same(samples(&hundred).percentile_ms(99), 99.0);
        same(samples(&hundred).percentile_ms(100), 100.0);
        same(samples(&[3, 1, 2]).percentile_ms(50), 2.0);
        same(samples(&[3, 1, 2]).percentile_ms(99), 3.0);
        same(samples(&[7]).percentile_ms(0), 7.0);
    }

    #[test]
    fn a_median_of_an_even_number_lies_between_the_two_in_the_middle() {
        same(median([4.0, 1.0, 3.0]), 3.0);
        same(median([4.0, 1.0, 3.0, 2.0]), 2.5);
    }

    #[test]
    fn nothing_has_no_percentile_and_no_median() {
        assert_eq!(Samples::default().percentile_ms(50), None);
        assert_eq!(median([]), None);
    }
}
