//! Messages and asks come back from stored rows in known places only.

use crate::{
    accept, reported,
    sources::{Source, production},
};

/// Where rows are read: the type, and the file.
const PLACES: &[(&str, &str)] = &[
    ("Ask", "domain/src/message/restore.rs"),
    ("Message", "adapters/seaorm/src/message_json.rs"),
    ("LockedAsk", "application/ports/src/loaded.rs"),
];

const TYPES: [&str; 3] = ["Ask", "Message", "LockedAsk"];

fn check(sources: &[Source], places: &[(&str, &str)]) -> Vec<String> {
    let mut violations = Vec::new();
    let mut used = Vec::new();
    for source in sources {
        for of in TYPES {
            let row = [of, ":", ":", "restore"];
            for line in source.find(&row) {
                let place = (of, source.path.as_str());
                if places.contains(&place) {
                    used.push(place);
                } else {
                    violations.push(format!(
                        "{}:{line}: {of}::restore is called where no rows are read; a new block-rewrite path needs \
                         a decision record that defines its ask rule",
                        source.path
                    ));
                }
            }
        }
    }
    for (of, path) in places.iter().filter(|place| !used.contains(place)) {
        violations.push(format!("{path} is listed for {of}::restore and does not call it"));
    }
    violations
}

#[test]
fn stored_messages_and_asks_are_restored_where_rows_are_read() {
    accept(&check(&production(&["domain", "application", "adapters", "bin"]), PLACES));
}

#[test]
fn a_restore_elsewhere_is_reported() {
    let forged =
        Source::parse("adapters/relay/src/comms.rs", "fn x() {\n let _ = Message::restore(row, entry);\n}");
    let passed = Source::parse("application/hub/src/a.rs", "fn x() { rows.map(LockedAsk::restore); }");
    let violations = check(&[forged, passed], &[("Ask", "domain/src/gone.rs")]);
    reported(&violations, &["adapters/relay/src/comms.rs:2", "Message::restore", "decision record"]);
    reported(&violations, &["application/hub/src/a.rs:1", "LockedAsk::restore"]);
    reported(&violations, &["domain/src/gone.rs is listed"]);
}
