//! The tests that `docs/spec/asks.md` names are there.

use std::{fs, path::Path};

#[test]
fn every_test_that_the_specification_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("docs/spec/asks.md")).unwrap();
    let named: Vec<_> = text.split('`').skip(1).step_by(2).filter(|word| word.contains(".rs")).collect();
    assert!(named.len() > 20, "{named:?}");
    for name in named {
        let (file, test) = name.split_once("::").map_or((name, None), |(file, test)| (file, Some(test)));
        let source = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let found = test.is_none_or(|test| source.contains(&format!("fn {test}(")));
        assert!(found, "{name} does not exist");
    }
}
