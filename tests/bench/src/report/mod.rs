//! The figures of a run: ratios first, absolute numbers after them.

mod attached;
mod text;

use serde::Serialize;

use self::attached::AttachedFigures;
use crate::{
    floors::Setting,
    rounds::Round,
    scenarios::{
        attached::Attached,
        depth::{Depth, READS},
    },
    stats::{Samples, median},
};

const MEBIBYTE: f64 = 1024.0 * 1024.0;

/// What a run found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Version of the measured program.
    pub(crate) version: String,
    /// Processors that everything shared.
    pub(crate) processors: usize,
    /// S7: resident memory of an idle server on SQLite.
    pub(crate) idle_resident_bytes: u64,
    pub(crate) databases: Vec<DatabaseReport>,
}

/// The figures on one database.
#[derive(Debug, Serialize)]
pub(crate) struct DatabaseReport {
    database: &'static str,
    settings: Vec<Setting>,
    ratios: Vec<Ratio>,
    asks: Vec<AskFigures>,
    posts: Vec<PostFigures>,
    floors: FloorFigures,
    depth: Option<DepthFigures>,
    attached: Option<AttachedFigures>,
}

/// Reads of a large channel by the same reads of one of 100 messages.
#[derive(Debug, Serialize)]
struct DepthFigures {
    messages: usize,
    reads: Vec<DepthRatio>,
    must: Bound,
}

#[derive(Debug, Serialize)]
struct DepthRatio {
    what: &'static str,
    ratio: Option<f64>,
    large_p50_ms: Option<f64>,
}

/// A figure of the product by its floor in the same round.
#[derive(Debug, Serialize)]
pub(crate) struct Ratio {
    id: &'static str,
    what: &'static str,
    /// The median of the rounds; `None` if what it needs was not measured.
    median: Option<f64>,
    rounds: Vec<f64>,
    must: Bound,
    stretch: Bound,
}

/// What a ratio should be.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

#[derive(Debug, Serialize)]
struct AskFigures {
    in_flight: usize,
    samples: usize,
    answer_to_delivery_p50_ms: Option<f64>,
    answer_to_delivery_p99_ms: Option<f64>,
    cycle_p50_ms: Option<f64>,
    cycle_p99_ms: Option<f64>,
    cycles_per_second: Option<f64>,
}

#[derive(Debug, Serialize)]
struct PostFigures {
    in_flight: usize,
    samples: usize,
    post_to_delivery_p50_ms: Option<f64>,
    post_to_delivery_p99_ms: Option<f64>,
    messages_per_second: Option<f64>,
    floor_posts_per_second: Option<f64>,
}

#[derive(Debug, Serialize)]
struct FloorFigures {
    commit_ask_p50_ms: Option<f64>,
    commit_answer_p50_ms: Option<f64>,
    commit_receipt_p50_ms: Option<f64>,
    hop_p50_ms: Option<f64>,
    push_p50_ms: Option<f64>,
    best_posts_per_second: Option<f64>,
}

impl DatabaseReport {
    pub(crate) fn new(
        database: &'static str,
        settings: Vec<Setting>,
        rounds: &[Round],
        depth: Option<&Depth>,
    ) -> Self {
        let ratio = |id, what, of: fn(&Round) -> Option<f64>, must, stretch| {
            let rounds: Vec<f64> = rounds.iter().filter_map(of).collect();
            Ratio { id, what, median: median(rounds.iter().copied()), rounds, must, stretch }
        };
        let ratios = vec![
            ratio("S1", "answer to delivery, 1 in flight, p50", s1, Bound::AtMost(1.5), Bound::AtMost(1.3)),
            ratio(
                "S2",
                "ask to durable receipt, 1 in flight, p50",
                s2,
                Bound::AtMost(1.5),
                Bound::AtMost(1.3),
            ),
            ratio("S4", "messages per second, most in flight", s4, Bound::AtLeast(1.3), Bound::AtLeast(2.0)),
        ];
        let levels = rounds.first().map(|round| round.asks.len()).unwrap_or_default();
        Self {
            database,
            settings,
            ratios,
            asks: (0..levels).filter_map(|level| AskFigures::of(rounds, level)).collect(),
            posts: (0..levels).filter_map(|level| PostFigures::of(rounds, level)).collect(),
            floors: FloorFigures::of(rounds),
            depth: depth.map(DepthFigures::of),
            attached: None,
        }
    }

    /// Adds what attached agents cost.
    pub(crate) fn add_attached(&mut self, attached: &Attached) {
        self.attached = Some(AttachedFigures::of(attached));
    }
}

impl DepthFigures {
    fn of(depth: &Depth) -> Self {
        let pairs = depth.large.iter().zip(&depth.small);
        let reads = READS.iter().zip(pairs).map(|(what, (large, small))| DepthRatio {
            what,
            ratio: p50(large).zip(p50(small)).map(|(large, small)| large / small),
            large_p50_ms: p50(large),
        });
        Self { messages: depth.messages, reads: reads.collect(), must: Bound::AtMost(1.5) }
    }
}

/// Answer to delivery by one commit, one hop and one push.
fn s1(round: &Round) -> Option<f64> {
    let (_, asks) = round.asks.iter().find(|(level, _)| *level == 1)?;
    let [_, answer, _] = &round.commits;
    let floor = p50(answer)? + p50(&round.hops)? + p50(&round.pushes)?;
    Some(p50(&asks.delivered)? / floor)
}

/// Ask to durable receipt by three commits and their hops.
fn s2(round: &Round) -> Option<f64> {
    let (_, asks) = round.asks.iter().find(|(level, _)| *level == 1)?;
    let commits: Option<f64> = round.commits.iter().map(p50).sum();
    Some(p50(&asks.cycle)? / (commits? + 3.0 * p50(&round.hops)?))
}

/// Messages by second with most in flight, by the best posts by second of the floor.
fn s4(round: &Round) -> Option<f64> {
    let (_, posts, _) = round.posts.iter().max_by_key(|(level, ..)| *level)?;
    Some(posts.by_second / best_posts(round)?)
}

fn best_posts(round: &Round) -> Option<f64> {
    round.posts.iter().map(|(.., floor)| *floor).max_by(f64::total_cmp)
}

fn p50(samples: &Samples) -> Option<f64> {
    samples.percentile_ms(50)
}

/// The samples of all rounds.
fn merged<'a>(samples: impl Iterator<Item = &'a Samples>) -> Samples {
    let mut all = Samples::default();
    samples.for_each(|samples| all.extend(samples.clone()));
    all
}

impl AskFigures {
    fn of(rounds: &[Round], level: usize) -> Option<Self> {
        let of_level = || rounds.iter().filter_map(|round| round.asks.get(level));
        let delivered = merged(of_level().map(|(_, asks)| &asks.delivered));
        let cycle = merged(of_level().map(|(_, asks)| &asks.cycle));
        Some(Self {
            in_flight: of_level().next()?.0,
            samples: cycle.len(),
            answer_to_delivery_p50_ms: delivered.percentile_ms(50),
            answer_to_delivery_p99_ms: delivered.percentile_ms(99),
            cycle_p50_ms: cycle.percentile_ms(50),
            cycle_p99_ms: cycle.percentile_ms(99),
            cycles_per_second: median(of_level().map(|(_, asks)| asks.by_second)),
        })
    }
}

impl PostFigures {
    fn of(rounds: &[Round], level: usize) -> Option<Self> {
        let of_level = || rounds.iter().filter_map(|round| round.posts.get(level));
        let delivered = merged(of_level().map(|(_, posts, _)| &posts.delivered));
        Some(Self {
            in_flight: of_level().next()?.0,
            samples: delivered.len(),
            post_to_delivery_p50_ms: delivered.percentile_ms(50),
            post_to_delivery_p99_ms: delivered.percentile_ms(99),
            messages_per_second: median(of_level().map(|(_, posts, _)| posts.by_second)),
            floor_posts_per_second: median(of_level().map(|(.., floor)| *floor)),
        })
    }
}

impl FloorFigures {
    fn of(rounds: &[Round]) -> Self {
        let median_of = |of: fn(&Round) -> Option<f64>| median(rounds.iter().filter_map(of));
        Self {
            commit_ask_p50_ms: median_of(|round| p50(&round.commits[0])),
            commit_answer_p50_ms: median_of(|round| p50(&round.commits[1])),
            commit_receipt_p50_ms: median_of(|round| p50(&round.commits[2])),
            hop_p50_ms: median_of(|round| p50(&round.hops)),
            push_p50_ms: median_of(|round| p50(&round.pushes)),
            best_posts_per_second: median_of(best_posts),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::scenarios::{asks::Asks, posts::Posts};

    fn samples(micros: u64) -> Samples {
        let mut samples = Samples::default();
        samples.push(Duration::from_micros(micros));
        samples
    }

    /// One commit is 200, a hop 80 and a push 20 microseconds.
    fn round(delivered: u64, cycle: u64, by_second: f64) -> Round {
        let asks =
            |level| (level, Asks { delivered: samples(delivered), cycle: samples(cycle), by_second: 1.0 });
        let posts = |level, by_second, floor| (level, Posts { delivered: samples(1), by_second }, floor);
        Round {
            asks: vec![asks(1), asks(8)],
            posts: vec![posts(1, 10.0, 500.0), posts(8, by_second, 400.0)],
            commits: [samples(200), samples(200), samples(200)],
            hops: samples(80),
            pushes: samples(20),
        }
    }

    fn report(rounds: &[Round]) -> DatabaseReport {
        DatabaseReport::new("sqlite", Vec::new(), rounds, None)
    }

    #[track_caller]
    fn is(ratio: &Ratio, id: &str, expected: f64) {
        assert_eq!(ratio.id, id);
        assert!(ratio.median.is_some_and(|ratio| (ratio - expected).abs() < 1e-9), "{ratio:?}");
    }

    #[test]
    fn a_ratio_is_the_median_of_the_rounds_each_by_its_own_floor() {
        let report = report(&[round(600, 1_680, 250.0), round(450, 840, 1_000.0), round(300, 8_400, 750.0)]);
        // 0.45 by 0.2 + 0.08 + 0.02, and 1.68 by three times 0.2 + 0.08.
        is(&report.ratios[0], "S1", 1.5);
        is(&report.ratios[1], "S2", 2.0);
        // Messages with most in flight by the floor's best, whatever it had in flight.
        is(&report.ratios[2], "S4", 1.5);
        assert_eq!(report.ratios[2].rounds, [0.5, 2.0, 1.5]);
    }

    #[test]
    fn without_one_in_flight_there_is_no_latency_ratio() {
        let mut round = round(600, 1_680, 250.0);
        round.asks.remove(0);
        let report = report(&[round]);
        assert_eq!((report.ratios[0].median, report.ratios[1].median), (None, None));
        assert!(report.ratios[2].median.is_some());
    }

    #[test]
    fn ratios_come_first_and_settings_stand_with_the_absolute_numbers() {
        let settings = vec![Setting { name: "synchronous", value: "full".into() }];
        let database = DatabaseReport::new("sqlite", settings, &[round(450, 1_680, 750.0)], None);
        let report = Report {
            version: "1.2.3".into(),
            processors: 2,
            idle_resident_bytes: 20 << 20,
            databases: vec![database],
        };
        let text = report.to_string();
        let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} is not in\n{text}"));
        assert!(place("S1  answer to delivery") < place("S7"), "{text}");
        assert!(place("S7") < place("sqlite: synchronous=full"), "{text}");
        assert!(text.contains("1.50  at most 1.5   at most 1.3"), "{text}");
        assert!(text.contains("20.0  at most 40    at most 25"), "{text}");
    }

    #[test]
    fn a_read_of_the_large_channel_is_divided_by_the_same_of_the_small_one() {
        let four = |micros: u64| [1, 2, 3, 4].map(|factor| samples(micros * factor));
        let depth = Depth { messages: 9, large: four(300), small: four(200) };
        let database = DatabaseReport::new("sqlite", Vec::new(), &[], Some(&depth));
        let figures = database.depth.as_ref().unwrap();
        assert!(figures.reads.iter().all(|read| read.ratio.is_some_and(|ratio| (ratio - 1.5).abs() < 1e-9)));
        let report = Report {
            version: String::new(),
            processors: 2,
            idle_resident_bytes: 0,
            databases: vec![database],
        };
        let text = report.to_string();
        assert!(text.contains("reads with 9 messages by the same with 100; must be at most 1.5"), "{text}");
        assert!(text.contains("search                      1.50   p50 0.900 ms"), "{text}");
    }
}
