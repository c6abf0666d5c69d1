//! One status table: on the side of the server one file names gRPC codes and makes statuses.

use crate::{
    accept, reported,
    sources::{Source, production},
};

const TABLE: &str = "adapters/relay/src/status.rs";

fn check(sources: &[Source]) -> Vec<String> {
    let mut violations = Vec::new();
    for source in sources.iter().filter(|source| source.path != TABLE) {
        for row in source.tokens.windows(4).filter(|row| row[1].text == ":" && row[2].text == ":") {
            let (of, name) = (row[0].text.as_str(), row[3].text.as_str());
            let code = of == "Code" || of == "tonic" && name == "Code";
            let made = of == "Status" && name.starts_with(char::is_lowercase);
            if code || made {
                let at = format!("{}:{}", source.path, row[0].line);
                violations.push(format!("{at}: {of}::{name} is named outside {TABLE}"));
            }
        }
    }
    violations
}

#[test]
fn one_file_of_the_server_names_codes() {
    let sources =
        production(&["domain", "application", "adapters/relay", "adapters/memory", "adapters/seaorm", "bin"]);
    assert!(sources.iter().any(|source| source.path == TABLE), "{TABLE} is gone");
    accept(&check(&sources));
}

#[test]
fn a_code_and_a_status_elsewhere_are_reported() {
    let planted = "fn a() { let _ = Code::NotFound; }\nfn b() { let _ = tonic::Status::internal(\"x\"); }";
    let violations = check(&[Source::parse("adapters/relay/src/comms.rs", planted)]);
    reported(&violations, &["comms.rs:1", "Code::NotFound"]);
    reported(&violations, &["comms.rs:2", "Status::internal"]);
    accept(&check(&[Source::parse(TABLE, planted)]));
}
