//! How a report reads.

use std::fmt::{self, Display};

use super::{Bound, DatabaseReport, MEBIBYTE, Report};
use crate::floors::Setting;

impl Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(bound) => write!(f, "at most {bound:.1}"),
            Self::AtLeast(bound) => write!(f, "at least {bound:.1}"),
        }
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "compass {} on {} processors", self.version, self.processors)?;
        self.ratios(f)?;
        for database in &self.databases {
            database.absolute(f)?;
        }
        Ok(())
    }
}

impl Report {
    fn ratios(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\nRatios to the floors of the same run\n  {:<45}", "")?;
        for database in &self.databases {
            write!(f, "{:>10}", database.database)?;
        }
        writeln!(f, "  {:<14}stretch", "must")?;
        let Some(first) = self.databases.first() else { return Ok(()) };
        for (at, ratio) in first.ratios.iter().enumerate() {
            write!(f, "  {}  {:<41}", ratio.id, ratio.what)?;
            for database in &self.databases {
                let value = database.ratios.get(at).and_then(|ratio| ratio.median);
                write!(f, "{:>10}", number(value, 2))?;
            }
            writeln!(f, "  {:<14}{}", ratio.must.to_string(), ratio.stretch)?;
        }
        let resident = self.idle_resident_bytes as f64 / MEBIBYTE;
        let columns = 10 * self.databases.len();
        writeln!(
            f,
            "  S7  {:<41}{resident:>columns$.1}  {:<14}at most 25",
            "resident MiB, idle, sqlite", "at most 40"
        )
    }
}

impl DatabaseReport {
    fn absolute(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}:", self.database)?;
        for Setting { name, value } in &self.settings {
            write!(f, " {name}={value}")?;
        }
        let floors = &self.floors;
        writeln!(
            f,
            "\n  floors, p50 in ms: commit of an ask {}, of an answer {}, of a receipt {}; hop {}, push {}",
            number(floors.commit_ask_p50_ms, 3),
            number(floors.commit_answer_p50_ms, 3),
            number(floors.commit_receipt_p50_ms, 3),
            number(floors.hop_p50_ms, 3),
            number(floors.push_p50_ms, 3),
        )?;
        writeln!(f, "  asks in flight    answer to delivery, ms       whole cycle, ms      per second")?;
        writeln!(f, "                           p50       p99         p50       p99")?;
        for asks in &self.asks {
            writeln!(
                f,
                "  {:>14}{:>16}{:>10}{:>12}{:>10}{:>16}",
                asks.in_flight,
                number(asks.answer_to_delivery_p50_ms, 3),
                number(asks.answer_to_delivery_p99_ms, 3),
                number(asks.cycle_p50_ms, 3),
                number(asks.cycle_p99_ms, 3),
                number(asks.cycles_per_second, 0),
            )?;
        }
        writeln!(f, "  posts in flight     post to delivery, ms      per second    floor per second")?;
        for posts in &self.posts {
            writeln!(
                f,
                "  {:>15}{:>15}{:>10}{:>16}{:>20}",
                posts.in_flight,
                number(posts.post_to_delivery_p50_ms, 3),
                number(posts.post_to_delivery_p99_ms, 3),
                number(posts.messages_per_second, 0),
                number(posts.floor_posts_per_second, 0),
            )?;
        }
        if let Some(depth) = &self.depth {
            writeln!(
                f,
                "  reads with {} messages by the same with 100; must be {}",
                depth.messages, depth.must
            )?;
            for read in &depth.reads {
                let (ratio, millis) = (number(read.ratio, 2), number(read.large_p50_ms, 3));
                writeln!(f, "    {:<26}{ratio:>6}   p50 {millis} ms", read.what)?;
            }
        }
        if let Some(attached) = &self.attached {
            write!(f, "{attached}")?;
        }
        Ok(())
    }
}

pub(super) fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
}
