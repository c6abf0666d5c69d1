//! Block writers in SQL: two functions of one file write the column of blocks.

use std::collections::BTreeMap;

use crate::{
    accept, reported,
    sources::{Source, files, production},
};

const FILE: &str = "adapters/seaorm/src/blocks.rs";
const ADVICE: &str = "a new block-rewrite path needs a decision record that defines its ask rule";

/// Names of a builder or an entity, whose writes no text shows.
const BUILDERS: [&str; 6] = [
    "ActiveModel",
    "ActiveModelTrait",
    "DeriveEntityModel",
    "InsertStatement",
    "UpdateStatement",
    "OnConflict",
];

fn check(sources: &[Source]) -> Vec<String> {
    let mut violations = Vec::new();
    let mut writers = Vec::new();
    for source in sources {
        for (function, texts) in texts(source) {
            let joined = simple(&texts.join(" "));
            let writes = block_writes(&joined);
            if writes.is_empty() {
                continue;
            }
            if source.path != FILE || !["insert", "close"].contains(&function.as_str()) {
                let what = writes.join("; ");
                violations.push(format!(
                    "{}: {function} writes blocks ({what}), which only insert and close of {FILE} do: {ADVICE}",
                    source.path
                ));
            }
            if function == "close" {
                let unconditional = texts.iter().map(|text| simple(text)).filter(|text| {
                    let count = |words: &str| text.matches(words).count();
                    count("update ") > count("closed_at_ms is null")
                });
                violations.extend(unconditional.map(|text| {
                    format!("{}: close has an update without `closed_at_ms is null`: {text}", source.path)
                }));
                if joined.contains("insert into messages") {
                    violations.push(format!("{}: close adds messages: {ADVICE}", source.path));
                }
            }
            if function == "insert"
                && ["update messages", "do update", "replace into"].iter().any(|way| joined.contains(way))
            {
                violations.push(format!("{}: insert changes stored messages: {ADVICE}", source.path));
            }
            writers.push(function);
        }
        for token in source.tokens.iter().filter(|token| BUILDERS.contains(&token.text.as_str())) {
            violations.push(format!(
                "{}:{}: {} writes what no text shows; write SQL as text",
                source.path, token.line, token.text
            ));
        }
    }
    for function in
        ["insert", "close"].into_iter().filter(|function| !writers.iter().any(|name| name == function))
    {
        violations.push(format!(
            "{function} of {FILE} writes no blocks any more: this guard reads the wrong place"
        ));
    }
    violations
}

/// String literals by the function around them; those outside functions together.
fn texts(source: &Source) -> BTreeMap<String, Vec<String>> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (text, line) in source.literals() {
        let function = source.function_at(line).unwrap_or("a constant");
        texts.entry(function.to_owned()).or_default().push(text);
    }
    texts
}

/// Lower case, one blank between words and signs, none of the quotes and the schema that a name may carry.
fn simple(text: &str) -> String {
    let mut text = text.to_lowercase().replace('"', "").replace("public.", "");
    for sign in ["(", ")", ",", "=", ";"] {
        text = text.replace(sign, &format!(" {sign} "));
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The parts of a text that write the column, or that may because a name in them is computed.
fn block_writes(sql: &str) -> Vec<String> {
    const WRITES: [&str; 6] =
        ["insert into ", "insert or replace into ", "replace into ", "update ", "merge into ", "copy "];
    let mut found = Vec::new();
    for verb in WRITES {
        for (at, _) in sql.match_indices(verb) {
            let rest = &sql[at + verb.len()..];
            let table = rest.split_whitespace().next().unwrap_or_default();
            let assigns = verb == "update ";
            let end = if assigns { [" where ", " from ("] } else { [" select ", " values "] };
            let end = end.iter().filter_map(|word| rest.find(word)).min().unwrap_or(rest.len());
            let columns = &rest[..end];
            let names_blocks = columns.split_whitespace().any(|word| word == "blocks" || word.contains('{'));
            // A subquery may end the list early, and an upsert has one of its own.
            let statement = rest.split(" ; ").next().unwrap_or_default();
            let sets_blocks = ["set blocks =", ", blocks ="].iter().any(|set| statement.contains(set));
            let all_columns = !assigns && !columns.contains('(');
            let computed = table.starts_with('{') && (!assigns || columns.contains(" set "));
            if table == "messages" && (names_blocks || sets_blocks || all_columns) || computed {
                found.push(format!("{verb}{}", columns.chars().take(60).collect::<String>()));
            }
        }
    }
    found
}

/// Statements of SQL files, as if each file were one function.
fn sql_files(all: &[(String, String)]) -> Vec<String> {
    let writes = all.iter().filter(|(_, text)| !block_writes(&simple(text)).is_empty());
    writes.map(|(path, _)| format!("{path} writes blocks: {ADVICE}")).collect()
}

#[test]
fn two_functions_of_one_file_write_blocks() {
    accept(&check(&production(&["adapters/seaorm", "adapters/memory", "bin/compass"])));
    let scripts: Vec<_> = ["adapters", "bin"].iter().flat_map(|folder| files(folder, ".sql")).collect();
    assert!(!scripts.is_empty(), "the schema is in SQL files");
    accept(&sql_files(&scripts));
}

#[test]
fn a_text_that_writes_blocks_elsewhere_is_reported() {
    let planted = r#"
        const FIX: &str = "UPDATE messages SET topic = $1, blocks = $2 WHERE id = $3";
        fn edit() { run("update public.\"messages\" m  set Blocks=$1 where id = $2"); }
        fn copy() { run(concat!("INSERT INTO messages (id, ", "blocks) SELECT 1")); }
        fn whole() { run("INSERT INTO messages SELECT * FROM old"); }
        fn nested() { run("UPDATE messages SET topic = (SELECT t FROM x WHERE y), blocks = $1"); }
        fn upsert() { run("INSERT INTO messages (id) SELECT 1 ON CONFLICT (id) DO UPDATE SET blocks = $1"); }
        fn dynamic() { run(&format!("UPDATE {table} SET x = 1")); }
        fn column() { run(&format!("UPDATE messages SET {column} = 1")); }
        fn entity(model: ActiveModel) {}
        fn topic_only() { run("UPDATE messages SET topic = $1 WHERE blocks IS NOT NULL"); run("SELECT blocks FROM messages"); }
    "#;
    let violations = check(&[Source::parse("adapters/seaorm/src/topics.rs", planted)]);
    for function in ["a constant", "edit", "copy", "whole", "nested", "upsert", "dynamic", "column"] {
        reported(&violations, &[&format!("topics.rs: {function} writes blocks"), "decision record"]);
    }
    reported(&violations, &["ActiveModel writes what no text shows"]);
    assert!(!violations.iter().any(|line| line.contains("topic_only")), "{violations:#?}");
    reported(
        &sql_files(&[("a.sql".into(), "UPDATE messages\nSET blocks = '[]';".into())]),
        &["a.sql writes blocks"],
    );
}

#[test]
fn a_third_function_and_a_close_without_its_condition_are_reported() {
    let planted = r#"
        fn insert() { run("INSERT INTO messages (blocks) SELECT $1"); run("UPDATE messages SET blocks = $1"); }
        fn close() { run("UPDATE messages SET blocks = $1 WHERE id = $2"); }
        fn close() { run("WITH a AS (UPDATE messages SET blocks = $1 WHERE closed_at_ms IS NULL) UPDATE asks SET x = 1"); }
        fn append() { run("INSERT INTO messages (blocks) VALUES ($1)"); }
    "#;
    let violations = check(&[Source::parse(FILE, planted)]);
    reported(&violations, &["append writes blocks"]);
    reported(&violations, &["close has an update without", "where id = $2"]);
    reported(&violations, &["close has an update without", "update asks"]);
    reported(&violations, &["insert changes stored messages"]);
    reported(&check(&[]), &["close of", "writes no blocks any more"]);
}
