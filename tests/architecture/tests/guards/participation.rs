//! One participation predicate: in the domain, and its twin in one file of SQL.

use crate::{
    accept, reported,
    sources::{Source, production},
};

const DOMAIN: &str = "domain/src/participation.rs";
const SQL: &str = "adapters/seaorm/src/participation.rs";

/// Functions that read member rows for another end than deciding who takes part.
const READERS: &[(&str, &str, &str)] = &[
    ("adapters/seaorm/src/channels.rs", "put_member", "numbers a new member row"),
    ("adapters/seaorm/src/channels.rs", "members_of", "lists the members of channels that were found"),
    ("adapters/seaorm/src/hub/owing.rs", "is_swept", "reads the subscription of who takes part"),
    ("adapters/seaorm/src/hub/recipients.rs", "taking_part", "reads the subscription of who takes part"),
];

fn check(sources: &[Source]) -> Vec<String> {
    let mut violations = Vec::new();
    let mut readers = Vec::new();
    for source in sources.iter().filter(|source| source.path != DOMAIN) {
        // The tree walk is the part of the rule that a second copy cannot do without.
        for line in source.find(&[".", "stands_under", "("]) {
            violations.push(format!(
                "{}:{line}: the tree is walked outside {DOMAIN}: ask `participates`",
                source.path
            ));
        }
    }
    for source in sources.iter().filter(|source| source.path != SQL) {
        for (text, line) in source.literals() {
            let text = text.to_lowercase();
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let function = source.function_at(line).unwrap_or_default();
            let reads =
                ["from channel_members", "join channel_members"].iter().any(|read| text.contains(read))
                    && !text.starts_with("delete from channel_members");
            let known = READERS.iter().find(|(path, name, _)| *path == source.path && *name == function);
            if let Some(known) = known.filter(|_| reads) {
                readers.push(known);
            } else if reads {
                violations
                    .push(format!("{}:{line}: {function} reads member rows outside {SQL}", source.path));
            }
            if text.contains("membership_mode =") || text.contains("membership_mode=") {
                violations.push(format!(
                    "{}:{line}: {function} decides by membership mode outside {SQL}",
                    source.path
                ));
            }
        }
    }
    for (path, function, _) in READERS.iter().filter(|reader| !readers.contains(reader)) {
        violations.push(format!("{function} of {path} is listed and reads no member rows"));
    }
    violations
}

/// The adapter in memory asks the domain.
fn check_memory(sources: &[Source]) -> Vec<String> {
    let asks =
        |source: &Source| source.find(&["participation", ":", ":", "participates", "("]).next().is_some();
    let memory = sources.iter().any(|source| source.path.starts_with("adapters/memory/") && asks(source));
    if memory { Vec::new() } else { vec![format!("storage in memory does not ask {DOMAIN}")] }
}

#[test]
fn who_takes_part_is_decided_in_one_place_and_in_its_twin() {
    let sources = production(&["domain", "application", "adapters", "bin"]);
    for path in [DOMAIN, SQL] {
        assert!(sources.iter().any(|source| source.path == path), "{path} is gone");
    }
    accept(&check(&sources));
    accept(&check_memory(&sources));
}

#[test]
fn a_second_predicate_is_reported() {
    let planted = r#"
        fn may_read() { run("SELECT 1 FROM channel_members WHERE account = $1"); }
        fn joined() { run("SELECT 1 FROM channels c LEFT  JOIN channel_members m ON true"); }
        fn by_mode() { run("SELECT 1 FROM channels WHERE membership_mode = 1"); }
        fn in_code(tree: &AgentTree) -> bool { tree.stands_under(a, b) }
        fn leaves() { run("DELETE FROM channel_members WHERE account = $1"); }
    "#;
    let violations = check(&[Source::parse("adapters/seaorm/src/topics.rs", planted)]);
    reported(&violations, &["topics.rs:2", "may_read reads member rows"]);
    reported(&violations, &["topics.rs:3", "joined reads member rows"]);
    reported(&violations, &["topics.rs:4", "by_mode decides by membership mode"]);
    reported(&violations, &["topics.rs:5", "the tree is walked"]);
    reported(&violations, &["members_of", "is listed and reads no member rows"]);
    assert!(!violations.iter().any(|line| line.contains("leaves")), "{violations:#?}");
    reported(&check_memory(&[]), &["does not ask"]);
}
