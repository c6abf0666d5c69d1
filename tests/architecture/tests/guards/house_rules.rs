//! Small rules of the house: nothing unfinished, nothing skipped, a first line that says what a file is, and no
//! trace of the machine it was written on.

use crate::{accept, reported, sources::files};

/// Words of unfinished work and skipped tests, put together so that this file does not hold them.
const UNFINISHED: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("todo", "!"),
    concat!("unimplemented", "!"),
    concat!("#[", "ignore"),
];

/// Places of the machines that this is written on.
const MACHINES: [&str; 4] =
    [concat!("/wo", "rk/"), concat!("/tmp/", "compass/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

/// A skipped test that another test of its file runs by name.
const RUN_BY_ANOTHER: (&str, &str) =
    ("tests/pgtemp/tests/cluster.rs", "the body of the holder that another test starts and kills");

/// Endings of the text files of the repository.
const TEXTS: [&str; 10] =
    [".rs", ".toml", ".md", ".proto", ".sql", ".stderr", ".txt", ".json", ".sh", "Cargo.lock"];

fn check_rust(path: &str, text: &str) -> Vec<String> {
    let mut violations = Vec::new();
    if !text.starts_with("//!") {
        violations.push(format!("{path} does not start with a line that says what it is"));
    }
    for (index, line) in text.lines().enumerate() {
        let exempt = path == RUN_BY_ANOTHER.0 && line.contains(RUN_BY_ANOTHER.1);
        for word in UNFINISHED.iter().filter(|word| line.contains(**word) && !exempt) {
            violations.push(format!("{path}:{}: {word}", index + 1));
        }
    }
    violations
}

fn check_text(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().enumerate().flat_map(|(index, line)| {
        let named = MACHINES.iter().filter(move |machine| names_place(line, machine));
        named.map(move |machine| format!("{path}:{}: {machine} is a place of one machine", index + 1))
    });
    lines.collect()
}

/// True if the path starts where the text names it, so that `a/home/b` is none.
fn names_place(line: &str, place: &str) -> bool {
    line.match_indices(place).any(|(at, _)| {
        !line[..at].ends_with(|before: char| before.is_alphanumeric() || "._-}$/".contains(before))
    })
}

#[test]
fn nothing_is_unfinished_or_skipped_and_every_file_says_what_it_is() {
    let all = files("", ".rs");
    assert!(all.len() > 100, "the sources are found");
    accept(&all.iter().flat_map(|(path, text)| check_rust(path, text)).collect::<Vec<_>>());
}

#[test]
fn no_file_names_a_place_of_one_machine() {
    let all = TEXTS.iter().flat_map(|ending| files("", ending));
    accept(&all.flat_map(|(path, text)| check_text(&path, &text)).collect::<Vec<_>>());
}

#[test]
fn planted_leftovers_are_reported() {
    for word in UNFINISHED {
        let violations = check_rust("a/src/b.rs", &format!("//! B.\n// {word} later\n"));
        reported(&violations, &["a/src/b.rs:2", word]);
    }
    reported(&check_rust("a/src/b.rs", "fn main() {}"), &["does not start"]);
    for place in MACHINES {
        reported(&check_text("README.md", &format!("see {place}x")), &["README.md:1", place]);
    }
    accept(&check_text("README.md", concat!("https://a.b/ho", "me/x")));
}
