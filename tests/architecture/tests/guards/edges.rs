//! Crate edges: what each crate may use, compared with the build graph.

use std::collections::BTreeSet;

use cargo_metadata::{DependencyKind, MetadataCommand};

use crate::{
    accept,
    edge_table::{ADAPTERS, NEVER, Row, TABLE},
    reported,
    sources::root,
};

/// A crate that the workspace builds, and one thing it uses.
#[derive(Debug, Clone)]
struct Edge {
    from: String,
    to: String,
    only_tests: bool,
}

fn check(crates: &BTreeSet<String>, edges: &[Edge], table: &[Row]) -> Vec<String> {
    let mut violations = Vec::new();
    for name in crates.iter().filter(|name| !table.iter().any(|row| row.0 == name.as_str())) {
        violations.push(format!("{name} is not in the table of crate edges"));
    }
    for row in table.iter().filter(|row| !crates.contains(row.0)) {
        violations.push(format!("{} is in the table of crate edges and not in the workspace", row.0));
    }
    for Edge { from, to, only_tests } in edges {
        let row = table.iter().find(|row| row.0 == from.as_str());
        let may = row.is_none_or(|(_, built, tested)| {
            built.contains(&to.as_str()) || *only_tests && tested.contains(&to.as_str())
        });
        if !may {
            let whose = if *only_tests { "tests of " } else { "" };
            violations.push(format!(
                "{whose}{from} may not use {to}: it is not in its row of the table of crate edges"
            ));
        }
        for never in NEVER.iter().filter(|_| !only_tests) {
            if never.who.contains(&from.as_str()) && never.what.contains(&to.as_str()) {
                violations.push(format!("{from} never uses {to}: {}", never.why));
            }
        }
        let may_know_adapters = from == "compass" || from == "compass-bench" || from == "compass-e2e";
        if !only_tests && !may_know_adapters && ADAPTERS.contains(&to.as_str()) {
            violations.push(format!(
                "{from} never uses {to}: only the composition root knows which adapters exist"
            ));
        }
    }
    violations
}

fn built() -> (BTreeSet<String>, Vec<Edge>) {
    let manifest = root().join("Cargo.toml");
    let metadata = MetadataCommand::new().manifest_path(manifest).no_deps().exec();
    let metadata = metadata.expect("cargo describes the workspace");
    let crates = metadata.packages.iter().map(|package| package.name.to_string()).collect();
    let edges = metadata.packages.iter().flat_map(|package| {
        package.dependencies.iter().map(|dependency| Edge {
            from: package.name.to_string(),
            to: dependency.name.clone(),
            only_tests: dependency.kind == DependencyKind::Development,
        })
    });
    (crates, edges.collect())
}

#[test]
fn every_crate_uses_what_its_row_of_the_table_allows() {
    let (crates, edges) = built();
    accept(&check(&crates, &edges, TABLE));
}

#[test]
fn planted_edges_are_reported() {
    let crates = TABLE.iter().map(|row| row.0.to_owned()).collect();
    let planted = |from: &str, to: &str, only_tests| {
        check(&crates, &[Edge { from: from.into(), to: to.into(), only_tests }], TABLE)
    };
    reported(&planted("compass-comms", "compass-memory", false), &["compass-comms", "who implements"]);
    reported(
        &planted("compass-relay", "compass-seaorm", false),
        &["compass-relay", "no adapter knows another"],
    );
    reported(&planted("compass-hub", "compass-comms", false), &["does not know the conversation"]);
    reported(&planted("compass-comms", "compass-hub", false), &["does not know the hub"]);
    reported(&planted("compass-agent", "compass-ports", false), &["no storage"]);
    reported(&planted("compass-memory", "sqlx", false), &["knows SQL"]);
    reported(&planted("compass", "tonic", false), &["know the wire"]);
    reported(&planted("compass-domain", "serde", false), &["knows no technology"]);
    reported(&planted("compass-testkit", "compass-memory", false), &["composition root"]);
    reported(&planted("compass-domain", "proptest", true), &["tests of compass-domain", "proptest"]);
    accept(&planted("compass-comms", "compass-memory", true));
}

#[test]
fn a_crate_without_a_row_and_a_row_without_a_crate_are_reported() {
    let crates = BTreeSet::from(["compass-domain".to_owned(), "compass-new".to_owned()]);
    let violations = check(&crates, &[], &TABLE[..2]);
    reported(&violations, &["compass-new is not in the table"]);
    reported(&violations, &["compass-ports is in the table", "not in the workspace"]);
}
