//! The table of times at the end of a run.

use std::fmt::Write as _;
use std::time::Duration;

use crate::args::Group;

/// One finished step.
pub(crate) struct Line {
    pub(crate) group: Group,
    pub(crate) name: String,
    pub(crate) took: Duration,
    pub(crate) passed: bool,
}

/// How long a group may take on two cores with nothing built.
fn budget(group: Group) -> Duration {
    let minutes = match group {
        Group::Lint => 20,
        Group::Unit => 12,
        Group::EndToEnd => 8,
        Group::Page => 6,
    };
    Duration::from_secs(minutes * 60)
}

fn title(group: Group) -> &'static str {
    match group {
        Group::Lint => "build and lints",
        Group::Unit => "tests",
        Group::EndToEnd => "end to end",
        Group::Page => "page",
    }
}

/// Every step with its time, every group with its total and its budget.
pub(crate) fn table(lines: &[Line]) -> String {
    let mut text = format!("\n{:<28}{:>8}{:>10}\n", "step", "time", "budget");
    for group in [Group::Lint, Group::Unit, Group::EndToEnd, Group::Page] {
        let steps: Vec<&Line> = lines.iter().filter(|line| line.group == group).collect();
        if steps.is_empty() {
            continue;
        }
        let total: Duration = steps.iter().map(|line| line.took).sum();
        let over = if total > budget(group) { "  over budget" } else { "" };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:<28}{:>8}{:>10}{over}", title(group), clock(total), clock(budget(group)));
        for line in steps {
            let mark = if line.passed { "" } else { "  failed" };
            let _ = writeln!(text, "  {:<26}{:>8}{mark}", line.name, clock(line.took));
        }
    }
    let total: Duration = lines.iter().map(|line| line.took).sum();
    let _ = writeln!(text, "{:<28}{:>8}", "all", clock(total));
    text
}

fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(group: Group, name: &str, seconds: u64, passed: bool) -> Line {
        Line { group, name: name.to_owned(), took: Duration::from_secs(seconds), passed }
    }

    #[test]
    fn a_group_shows_its_total_its_budget_and_its_steps() {
        let text = table(&[line(Group::Unit, "doc tests", 61, true), line(Group::Unit, "tests", 600, false)]);
        assert!(text.contains("tests                          11:01     12:00\n"), "{text}");
        assert!(text.contains("  doc tests                     1:01\n"), "{text}");
        assert!(text.contains("  tests                        10:00  failed\n"), "{text}");
        assert!(!text.contains("end to end"), "{text}");
    }

    #[test]
    fn a_group_over_its_budget_says_so() {
        assert!(table(&[line(Group::EndToEnd, "tests", 481, true)]).contains("over budget"));
        assert!(!table(&[line(Group::EndToEnd, "tests", 480, true)]).contains("over budget"));
    }
}
