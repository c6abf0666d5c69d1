//! The tests that the specifications in `docs/spec` and the promises name are there, and every case of theirs has one.

use std::{collections::BTreeSet, fs, path::Path};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn text(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn every_test_that_a_specification_names_exists() {
    let specifications = [
        ("docs/spec/asks.md", 20),
        ("docs/spec/delivery.md", 70),
        ("docs/spec/sessions.md", 45),
        ("docs/spec/presence.md", 18),
        ("docs/spec/runner.md", 50),
        ("docs/spec/agent-core.md", 45),
        ("docs/spec/agent-tools.md", 55),
        ("docs/spec/hooks.md", 50),
        ("docs/spec/acp.md", 40),
        ("docs/promises.md", 45),
    ];
    for (file, least) in specifications {
        let text = text(file);
        let named: Vec<_> = text.split('`').skip(1).step_by(2).filter(|word| word.contains(".rs")).collect();
        assert!(named.len() > least, "{file}: {}", named.len());
        for name in named {
            let (source, test) =
                name.split_once("::").map_or((name, None), |(source, test)| (source, Some(test)));
            let path = root().join(source);
            let code = fs::read_to_string(path).unwrap_or_else(|error| panic!("{file}: {source}: {error}"));
            let found = test.is_none_or(|test| code.contains(&format!("fn {test}(")));
            assert!(found, "{file}: {name} does not exist");
        }
    }
}

/// The cases in the headings `### A1, A2. Title`; every section has to name a test.
fn cases(text: &str, letter: &str) -> Vec<u32> {
    let mut cases = Vec::new();
    for section in text.split("\n### ").skip(1) {
        assert!(section.contains("\n- `"), "no test: {section}");
        let numbers = section.split_once(". ").map_or("", |(numbers, _)| numbers).split(", ");
        let numbers: Option<Vec<u32>> =
            numbers.map(|number| number.strip_prefix(letter)?.parse().ok()).collect();
        cases.extend(numbers.unwrap_or_default());
    }
    cases
}

/// The cases in the items `- A1, A2, title: reason` of the section of those that do not apply.
fn not_ours(text: &str, letter: &str) -> Vec<u32> {
    let section = text.split_once("\n## Cases that do not apply\n").map_or("", |(_, rest)| rest);
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut cases = Vec::new();
    for item in section.split("\n- ").skip(1) {
        let (named, reason) = item.split_once(": ").unwrap_or_else(|| panic!("no reason: {item}"));
        assert!(!reason.trim().is_empty(), "no reason: {item}");
        cases.extend(named.split(", ").map_while(|case| case.strip_prefix(letter)?.parse::<u32>().ok()));
    }
    cases
}

#[test]
fn every_case_has_a_test_once() {
    let specifications: [(&str, &str, u32, u32, &[u32]); 9] = [
        ("docs/spec/delivery.md", "", 1, 40, &[]),
        ("docs/spec/sessions.md", "", 1, 24, &[]),
        ("docs/spec/presence.md", "", 1, 17, &[]),
        ("docs/spec/runner.md", "B", 1, 39, &[21, 29, 33, 39]),
        ("docs/spec/agent-tools.md", "A", 1, 42, &[5]),
        ("docs/spec/agent-core.md", "A", 44, 68, &[67]),
        ("docs/spec/hooks.md", "H", 1, 18, &[]),
        ("docs/spec/acp.md", "", 1, 13, &[]),
        ("docs/promises.md", "P", 1, 14, &[]),
    ];
    for (file, letter, first, last, dropped) in specifications {
        let text = text(file);
        assert_eq!(not_ours(&text, letter), dropped, "{file}: each is named with its reason");
        let found = cases(&text, letter);
        let expected: BTreeSet<u32> = (first..=last).filter(|case| !dropped.contains(case)).collect();
        assert_eq!(found.len(), expected.len(), "{file}: each once, {found:?}");
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected, "{file}");
    }
}

#[test]
fn a_section_without_a_test_and_headings_of_any_kind_are_told_apart() {
    let text =
        "\n### B1, B2. Title\n\n- `a.rs::b`\n\n### Title. More\n\n- `a.rs::b`\n\n### B3. T\n\n- `a.rs`";
    assert_eq!(cases(text, "B"), [1, 2, 3]);
    assert_eq!(cases(text, ""), [0; 0]);
    assert!(std::panic::catch_unwind(|| cases("\n### B1. Title\n\nwords", "B")).is_err());
    let text = "\n## Cases that do not apply\n\n- B1, one: why.\n- B3, B4, two,\n  both: why.\n\n## More\n\n- B5, b: c";
    assert_eq!(not_ours(text, "B"), [1, 3, 4]);
    assert_eq!(not_ours("\n## More\n\n- B5, b: c", "B"), [0; 0]);
    let bare = "\n## Cases that do not apply\n\n- B1, one\n";
    assert!(std::panic::catch_unwind(|| not_ours(bare, "B")).is_err());
}
