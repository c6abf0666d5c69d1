//! The tests that the specifications in `docs/spec` name are there.

use std::{collections::BTreeSet, fs, path::Path};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn every_test_that_a_specification_names_exists() {
    let specifications =
        [("docs/spec/asks.md", 20), ("docs/spec/delivery.md", 70), ("docs/spec/sessions.md", 35)];
    for (file, least) in specifications {
        let text = fs::read_to_string(root().join(file)).unwrap();
        let named: Vec<_> = text.split('`').skip(1).step_by(2).filter(|word| word.contains(".rs")).collect();
        assert!(named.len() > least, "{file}: {named:?}");
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

#[test]
fn every_case_of_delivery_has_a_test() {
    let text = fs::read_to_string(root().join("docs/spec/delivery.md")).unwrap();
    let mut cases = BTreeSet::new();
    for section in text.split("\n### ").skip(1) {
        let number = section.split_once(". ").and_then(|(number, _)| number.parse::<u32>().ok());
        assert!(section.contains("\n- `"), "no test: {section}");
        cases.extend(number);
    }
    assert_eq!(cases, (1..=40).collect());
}
