//! Field ownership: every field that can stand in a block is the poster's or the server's, and a test proves that
//! a client's value of the server's is dropped.

use crate::{
    accept,
    contract::{Contract, planted},
    reported,
    sources::{Source, has_test, tests_of},
};

const POSTER: &[&str] = &[
    "MessageBlock.text",
    "MessageBlock.ask",
    "Ask.questions",
    "AskQuestion.question_id",
    "AskQuestion.question",
    "AskQuestion.header",
    "AskQuestion.options",
    "AskQuestion.allow_multiple",
    "AskQuestion.recommended",
    "AskOption.id",
    "AskOption.label",
    "AskOption.description",
    "AskOption.preview",
];

/// Fields of the server, each with the test that a client's value of it comes to nothing.
const SERVER: &[(&str, &str)] = &[
    ("Ask.ask_id", "a_clients_ask_id_is_dropped"),
    ("Ask.answered", "a_clients_answered_is_dropped"),
    ("Ask.cancelled", "a_clients_cancelled_is_dropped"),
    ("Ask.answered_by_account_id", "a_clients_answered_by_is_dropped"),
    ("Ask.closed_at_unix_ms", "a_clients_closing_time_is_dropped"),
    ("Ask.content_digest", "a_clients_digest_is_dropped"),
    ("AskQuestion.chosen_option_ids", "a_clients_choice_is_dropped"),
    ("AskQuestion.custom_text", "a_clients_custom_text_is_dropped"),
    ("AskQuestion.timed_out", "a_clients_time_out_is_dropped"),
    ("MessageBlock.ask_answer", "an_answer_block_of_a_client_is_refused_and_nothing_is_stored"),
    ("AskAnswerBlock.ask", "an_answer_block_of_a_client_is_refused_and_nothing_is_stored"),
    ("AskAnswerBlock.asker_account_id", "an_answer_block_of_a_client_is_refused_and_nothing_is_stored"),
];

fn check(contract: &Contract, tests: &[Source]) -> Vec<String> {
    let mut violations = Vec::new();
    let mut known = Vec::new();
    for message in contract.reach("MessageBlock") {
        for field in contract.fields(&message) {
            let name = format!("{message}.{}", field.name());
            let owners = POSTER.iter().filter(|poster| **poster == name).count()
                + SERVER.iter().filter(|(server, _)| *server == name).count();
            if owners != 1 {
                violations
                    .push(format!("{name} has {owners} owners: class it as the poster's or the server's"));
            }
            known.push(name);
        }
    }
    let classed = POSTER.iter().chain(SERVER.iter().map(|(field, _)| field));
    for field in classed.filter(|field| !known.iter().any(|name| name == *field)) {
        violations.push(format!("{field} is classed and not in the contract"));
    }
    for (field, test) in SERVER {
        if !has_test(tests, test) && !is_row(tests, test, field) {
            violations.push(format!("no test {test} proves that a client's {field} is dropped"));
        }
    }
    violations
}

/// True if the table of dropped fields has a row `test: Message.field`, which a macro makes a test of.
fn is_row(tests: &[Source], test: &str, field: &str) -> bool {
    let (message, name) = field.split_once('.').unwrap_or_default();
    tests.iter().any(|source| source.find(&[test, ":", message, ".", name]).next().is_some())
}

#[test]
fn every_field_of_a_block_has_one_owner_and_the_servers_are_proven_dropped() {
    accept(&check(&Contract::ours(), &tests_of("adapters/relay")));
}

#[test]
fn a_new_field_a_new_kind_of_block_and_a_missing_test_are_reported() {
    let block: &[_] = &[("text", "", true), ("ask", "Ask", true), ("poll", "Poll", true)];
    let contract = planted(
        &[("MessageBlock", block), ("Ask", &[("deadline", "", false)]), ("Poll", &[("votes", "", false)])],
        &[],
    );
    let row = "dropped! { a_clients_answered_is_dropped: Ask.answered = |ask| ask.answered = true; }";
    let tests = [Source::parse("relay/tests/a.rs", row)];
    let violations = check(&contract, &tests);
    reported(&violations, &["Ask.deadline has 0 owners"]);
    reported(&violations, &["MessageBlock.poll has 0 owners"]);
    reported(&violations, &["Poll.votes has 0 owners"]);
    reported(&violations, &["Ask.content_digest is classed and not in the contract"]);
    reported(&violations, &["no test a_clients_digest_is_dropped"]);
    assert!(!violations.iter().any(|line| line.contains("no test a_clients_answered_is_dropped")));
}
