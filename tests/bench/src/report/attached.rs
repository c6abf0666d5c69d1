//! The figures of attached agents.

use std::fmt::{self, Display};

use serde::Serialize;

use super::{Bound, p50, text::number};
use crate::scenarios::attached::Attached;

const KIBIBYTE: f64 = 1024.0;

/// What attached agents cost, and what a post to very many took.
#[derive(Debug, Serialize)]
pub(super) struct AttachedFigures {
    agents: usize,
    /// S8: memory of the server for each, by that of a server that only holds a stream.
    memory_ratio: f64,
    must: Bound,
    stretch: Bound,
    bytes_each: f64,
    bare_bytes_each: f64,
    idle_processor_share: f64,
    /// A post to one of them until its delivery, by the same beside few.
    message_ratio: Option<f64>,
    message_p50_ms: Option<f64>,
    /// S11.
    fan_out: FanOutFigures,
}

/// A post to very many.
#[derive(Debug, Serialize)]
struct FanOutFigures {
    agents: usize,
    each_p50_ms: Option<f64>,
    each_p99_ms: Option<f64>,
    last_p50_ms: Option<f64>,
    last_p99_ms: Option<f64>,
}

impl AttachedFigures {
    pub(super) fn of(attached: &Attached) -> Self {
        let (few, many) = (p50(&attached.beside_few), p50(&attached.beside_many));
        let fan_out = &attached.fan_out;
        Self {
            agents: attached.agents,
            memory_ratio: attached.bytes_each / attached.bare_bytes_each,
            must: Bound::AtMost(2.0),
            stretch: Bound::AtMost(1.25),
            bytes_each: attached.bytes_each,
            bare_bytes_each: attached.bare_bytes_each,
            idle_processor_share: attached.idle_share,
            message_ratio: many.zip(few).map(|(many, few)| many / few),
            message_p50_ms: many,
            fan_out: FanOutFigures {
                agents: fan_out.agents,
                each_p50_ms: p50(&fan_out.each),
                each_p99_ms: fan_out.each.percentile_ms(99),
                last_p50_ms: p50(&fan_out.last),
                last_p99_ms: fan_out.last.percentile_ms(99),
            },
        }
    }
}

impl Display for AttachedFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {} attached agents on a server of their own", self.agents)?;
        writeln!(
            f,
            "    S8  memory of each by a bare stream {:.2}; must be {}, stretch {}; {:.1} KiB by {:.1} KiB",
            self.memory_ratio,
            self.must,
            self.stretch,
            self.bytes_each / KIBIBYTE,
            self.bare_bytes_each / KIBIBYTE,
        )?;
        writeln!(f, "    idle, the server uses {:.1} % of a processor", self.idle_processor_share * 100.0)?;
        writeln!(
            f,
            "    a post to one of them by the same beside few {}   p50 {} ms",
            number(self.message_ratio, 2),
            number(self.message_p50_ms, 3),
        )?;
        let fan_out = &self.fan_out;
        writeln!(
            f,
            "    S11 a post to {}: each p50 {} p99 {} ms, the last p50 {} p99 {} ms",
            fan_out.agents,
            number(fan_out.each_p50_ms, 1),
            number(fan_out.each_p99_ms, 1),
            number(fan_out.last_p50_ms, 1),
            number(fan_out.last_p99_ms, 1),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{scenarios::attached::FanOut, stats::Samples};

    #[test]
    fn memory_and_messages_are_ratios_and_the_rest_stands_beside_them() {
        let samples = |millis: &[u64]| {
            let mut samples = Samples::default();
            for millis in millis {
                samples.push(Duration::from_millis(*millis));
            }
            samples
        };
        let attached = Attached {
            agents: 5_000,
            bytes_each: 45.0 * KIBIBYTE,
            bare_bytes_each: 30.0 * KIBIBYTE,
            idle_share: 0.012,
            beside_few: samples(&[2]),
            beside_many: samples(&[3]),
            fan_out: FanOut { agents: 1_000, each: samples(&[5, 6, 7]), last: samples(&[9]) },
        };
        let text = AttachedFigures::of(&attached).to_string();
        for told in [
            "5000 attached agents",
            "bare stream 1.50; must be at most 2.0, stretch at most 1.2",
            "45.0 KiB by 30.0 KiB",
            "1.2 % of a processor",
            "beside few 1.50   p50 3.000 ms",
            "a post to 1000: each p50 6.0 p99 7.0 ms, the last p50 9.0 p99 9.0 ms",
        ] {
            assert!(text.contains(told), "{told} is not in\n{text}");
        }
    }
}
