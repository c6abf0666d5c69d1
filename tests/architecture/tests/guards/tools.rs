//! The tools of an agent: an exact list, of which none answers.

use crate::{
    accept, reported,
    sources::{Source, files, production},
};

const FOLDER: &str = "application/agent/src/tools";

/// Tools, in the order they are offered.
const TOOLS: &[&str] = &[
    "comms_post_message",
    "comms_post_ask",
    "comms_cancel_ask",
    "comms_list_messages",
    "comms_list_topics",
    "compass_roster",
    "compass_tree",
    "compass_set_status",
    "comms_open_dm",
    "comms_dm",
    "comms_create_channel",
    "comms_update_members",
    "comms_create_channel_group",
];

/// One file per tool, and what they share.
const FILES: &[&str] = &[
    "cancel_ask.rs",
    "create_channel.rs",
    "create_channel_group.rs",
    "dm.rs",
    "list_messages.rs",
    "list_topics.rs",
    "mod.rs",
    "open_dm.rs",
    "outcome.rs",
    "post_ask.rs",
    "post_message.rs",
    "registry.rs",
    "roster.rs",
    "schema.rs",
    "set_status.rs",
    "testing.rs",
    "tests.rs",
    "tree.rs",
    "update_members.rs",
];

/// The names that the registry offers, in its order: `name: module::NAME` leads to the constant of that module.
fn offered(files: &[(String, String)]) -> Vec<String> {
    let parsed = |name: &str| {
        let file = files.iter().find(|(path, _)| path.ends_with(&format!("/{name}.rs")));
        file.map(|(path, text)| Source::parse(path, text)).expect("the tools have this file")
    };
    let registry = parsed("registry");
    let texts: Vec<_> = registry.tokens.iter().map(|token| token.text.as_str()).collect();
    let modules = texts.windows(5).filter(|five| five[..2] == ["name", ":"] && five[3..] == [":", ":"]);
    modules.flat_map(|five| parsed(five[2]).list("NAME")).collect()
}

fn check(names: &[String], files: &[String]) -> Vec<String> {
    let mut violations = Vec::new();
    if names != TOOLS {
        violations.push(format!("the tools are {names:?} and the list is {TOOLS:?}"));
    }
    if files != FILES {
        violations.push(format!("the files of tools are {files:?} and the list is {FILES:?}"));
    }
    for name in names
        .iter()
        .chain(files)
        .filter(|name| ["answer", "respond", "reply"].iter().any(|word| name.contains(word)))
    {
        violations.push(format!("{name} is named like a tool that answers: agents never answer"));
    }
    violations
}

/// The agent core calls no method that answers.
fn check_core(sources: &[Source]) -> Vec<String> {
    let found = sources.iter().flat_map(|source| {
        let named = source.tokens.iter().filter(|token| {
            ["RespondToAsk", "RespondToAskRequest", "respond_to_ask", "AnswerDraft", "Answers"]
                .contains(&token.text.as_str())
        });
        named.map(|token| format!("{}:{}: the agent core names {}", source.path, token.line, token.text))
    });
    found.collect()
}

#[test]
fn the_tools_are_exactly_these_and_none_answers() {
    let files = files(FOLDER, ".rs");
    let names = offered(&files);
    let files: Vec<_> = files
        .iter()
        .map(|(path, _)| path.trim_start_matches(FOLDER).trim_start_matches('/').to_owned())
        .collect();
    accept(&check(&names, &files));
    accept(&check_core(&production(&["application/agent", "adapters/harness", "adapters/gateway"])));
}

#[test]
fn a_tool_that_answers_is_reported() {
    let mut names: Vec<_> = TOOLS.iter().map(ToString::to_string).collect();
    names.push("comms_respond_to_ask".into());
    let mut files: Vec<_> = FILES.iter().map(ToString::to_string).collect();
    files.push("answer_ask.rs".into());
    let violations = check(&names, &files);
    reported(&violations, &["the tools are"]);
    reported(&violations, &["the files of tools are"]);
    reported(&violations, &["comms_respond_to_ask is named like a tool that answers"]);
    let core = Source::parse("application/agent/src/x.rs", "fn x() { client.respond_to_ask(1); }");
    reported(&check_core(&[core]), &["names respond_to_ask"]);
}
