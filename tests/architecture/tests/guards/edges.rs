//! Crate edges: what each crate may use, compared with the build graph.

use std::collections::BTreeSet;

use cargo_metadata::{DependencyKind, MetadataCommand};

use crate::{accept, reported, sources::root};

/// One row: a crate, what it may be built of, and what its tests may use besides.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

const TABLE: &[Row] = &[
    ("compass-domain", &["sha2", "thiserror", "unicode-normalization"], &[]),
    ("compass-ports", &["compass-domain", "async-trait", "thiserror", "tokio", "tokio-util", "tracing"], &[]),
    (
        "compass-comms",
        &[
            "compass-domain",
            "compass-ports",
            "async-trait",
            "base64",
            "sha2",
            "subtle",
            "thiserror",
            "tokio",
            "tokio-util",
        ],
        &["compass-memory", "compass-testkit", "mockall"],
    ),
    (
        "compass-hub",
        &["compass-domain", "compass-ports", "async-trait", "thiserror", "tokio", "tokio-util", "tracing"],
        &["compass-comms", "compass-memory", "compass-testkit"],
    ),
    ("compass-runner", &["compass-domain", "thiserror"], &[]),
    ("compass-agent", &["compass-domain", "async-trait", "serde", "thiserror"], &["serde_json", "tokio"]),
    (
        "compass-memory",
        &[
            "compass-comms",
            "compass-domain",
            "compass-hub",
            "compass-ports",
            "async-trait",
            "rpds",
            "tokio",
            "tokio-util",
            "tracing",
        ],
        &["compass-testkit"],
    ),
    (
        "compass-seaorm",
        &[
            "compass-comms",
            "compass-domain",
            "compass-hub",
            "compass-ports",
            "async-trait",
            "futures",
            "sea-orm",
            "sea-orm-migration",
            "sea-query-sqlx",
            "serde",
            "serde_json",
            "sqlx",
            "thiserror",
            "tokio",
            "tokio-util",
            "tracing",
            "uuid",
        ],
        &["compass-memory", "compass-testkit", "tempfile"],
    ),
    (
        "compass-relay",
        &[
            "compass-comms",
            "compass-domain",
            "compass-hub",
            "compass-ports",
            "compass-proto",
            "async-trait",
            "axum",
            "futures",
            "http",
            "sha2",
            "thiserror",
            "tokio",
            "tokio-stream",
            "tokio-util",
            "tonic",
            "tonic-health",
            "tonic-reflection",
            "tonic-web",
            "tower",
            "tracing",
        ],
        &["compass-memory", "compass-testkit", "http-body-util", "hyper-util", "prost", "prost-types"],
    ),
    (
        "compass-gateway",
        &[
            "compass-agent",
            "compass-domain",
            "compass-proto",
            "compass-runner",
            "async-trait",
            "fs4",
            "getrandom",
            "thiserror",
            "tokio",
            "tokio-stream",
            "tokio-util",
            "tonic",
            "tracing",
        ],
        &["tempfile"],
    ),
    (
        "compass-client",
        &["compass-domain", "compass-proto", "httpdate", "serde", "thiserror", "tokio", "tonic"],
        &["tokio-stream", "tokio-util"],
    ),
    (
        "compass-harness",
        &["compass-agent", "futures", "serde", "serde_json", "thiserror", "tokio"],
        &["async-trait"],
    ),
    (
        "compass",
        &[
            "compass-agent",
            "compass-client",
            "compass-comms",
            "compass-domain",
            "compass-gateway",
            "compass-harness",
            "compass-hub",
            "compass-memory",
            "compass-ports",
            "compass-relay",
            "compass-runner",
            "compass-seaorm",
            "clap",
            "crossterm",
            "directories",
            "fs4",
            "getrandom",
            "serde",
            "serde_json",
            "serde_path_to_error",
            "tempfile",
            "thiserror",
            "time",
            "tokio",
            "tokio-util",
            "toml",
            "tracing",
            "tracing-subscriber",
            "unicode-width",
            "uuid",
        ],
        &["proptest"],
    ),
    ("xtask", &["compass-pgtemp", "rustix", "signal-hook"], &[]),
    ("compass-proto", &["prost", "prost-types", "protox", "tonic", "tonic-prost", "tonic-prost-build"], &[]),
    ("compass-pgtemp", &[], &["tempfile"]),
    (
        "compass-testkit",
        &[
            "compass-comms",
            "compass-domain",
            "compass-hub",
            "compass-pgtemp",
            "compass-ports",
            "async-trait",
            "getrandom",
            "sqlx",
            "tempfile",
            "thiserror",
            "tokio",
            "tokio-util",
        ],
        &[],
    ),
    (
        "compass-architecture",
        &[],
        &["compass-proto", "cargo_metadata", "proc-macro2", "prost", "prost-types", "syn"],
    ),
    ("compass-compile-fail", &[], &["compass-domain", "trybuild"]),
    (
        "compass-bench",
        &["compass-client", "compass-proto", "compass-pgtemp", "serde", "serde_json", "tokio"],
        &[],
    ),
    (
        "compass-e2e",
        &["compass-client", "compass-proto", "compass-pgtemp", "serde_json", "tempfile", "tokio"],
        &["compass-client", "compass-proto", "compass-pgtemp", "serde_json", "tempfile", "tokio"],
    ),
];

/// Rules that no row of the table may bend: who, what it never uses, and why.
struct Never {
    who: &'static [&'static str],
    what: &'static [&'static str],
    why: &'static str,
}

const APPLICATION: &[&str] =
    &["compass-ports", "compass-comms", "compass-hub", "compass-runner", "compass-agent"];
const ADAPTERS: &[&str] = &[
    "compass-memory",
    "compass-seaorm",
    "compass-relay",
    "compass-gateway",
    "compass-client",
    "compass-harness",
];
const SQL: &[&str] = &["sea-orm", "sea-orm-migration", "sea-query-sqlx", "sqlx"];
const WIRE: &[&str] = &["compass-proto", "prost", "tonic", "tonic-prost", "tonic-health", "tonic-web"];

const NEVER: &[Never] = &[
    Never {
        who: &["compass-domain"],
        what: &["tokio", "serde", "uuid", "async-trait"],
        why: "the domain knows no technology",
    },
    Never { who: APPLICATION, what: ADAPTERS, why: "the application does not know who implements its ports" },
    Never { who: APPLICATION, what: SQL, why: "the application knows no SQL" },
    Never { who: APPLICATION, what: WIRE, why: "the application knows no protobuf" },
    Never { who: ADAPTERS, what: ADAPTERS, why: "no adapter knows another" },
    Never { who: &["compass-hub"], what: &["compass-comms"], why: "the hub does not know the conversation" },
    Never { who: &["compass-comms"], what: &["compass-hub"], why: "the conversation does not know the hub" },
    Never {
        who: &["compass-agent", "compass-runner"],
        what: &["compass-ports", "compass-comms", "compass-hub"],
        why: "agent and runner know no storage",
    },
    Never {
        who: &[
            "compass-memory",
            "compass-relay",
            "compass-gateway",
            "compass-client",
            "compass-harness",
            "compass",
            "xtask",
        ],
        what: SQL,
        why: "only the adapter of the databases knows SQL",
    },
    Never {
        who: &["compass-memory", "compass-seaorm", "compass-harness", "compass", "xtask"],
        what: WIRE,
        why: "only the doors and their clients know the wire",
    },
];

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
