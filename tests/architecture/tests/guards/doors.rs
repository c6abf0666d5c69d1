//! Doors: tests of the relay class every RPC; answers and cancels reach storage through known RPCs only, and the
//! list of what is not offered may only shrink.

use crate::{
    accept,
    contract::{Contract, planted},
    relay::pending,
    reported,
    sources::{Source, has_test, read, tests_of},
};

/// Tests of the relay that hold the table of doors to the contract.
const TESTS: &[&str] = &[
    "every_rpc_of_the_contract_has_exactly_one_class_and_no_other_has_one",
    "answering_is_for_people",
    "no_rpc_outside_the_relayed_union_takes_a_cancel",
    "each_class_admits_exactly_whom_it_names",
    "exactly_the_listed_rpcs_are_not_offered",
    "exactly_the_listed_arms_are_not_offered",
];

/// What may be carried by which RPCs only.
const CARRIED: &[(&str, &[&str])] = &[
    ("RespondToAskRequest", &["CommsService/RespondToAsk"]),
    ("CancelAskRequest", &["AgentDoor/Call", "AgentGateway/Comms", "RunnerService/RelayCommsCall"]),
];

/// What was not offered when this was written; nothing is ever added.
const NOT_OFFERED: &[(&str, &[&str])] = &[("RPCS", &[]), ("ARMS", &[])];

fn check_carried(contract: &Contract) -> Vec<String> {
    let mut violations = Vec::new();
    for (rpc, takes) in &contract.rpcs {
        let reached = contract.reach(takes);
        for (message, by) in CARRIED {
            if reached.contains(*message) && !by.contains(&rpc.as_str()) {
                violations.push(format!("{rpc} can carry {message}, which only {} may", by.join(", ")));
            }
        }
    }
    for (message, by) in CARRIED {
        for rpc in by.iter().filter(|rpc| {
            !contract
                .rpcs
                .iter()
                .any(|(name, takes)| name == *rpc && contract.reach(takes).contains(*message))
        }) {
            violations.push(format!("{rpc} may carry {message} and does not"));
        }
    }
    violations
}

fn check_class(doors: &Source) -> Vec<String> {
    let mut found: Vec<&str> = Vec::new();
    for row in doors.tokens.windows(3).filter(|row| row[0].text == "RespondToAsk" && row[1].text == ":") {
        found.push(&row[2].text);
    }
    if found == ["Person"] {
        Vec::new()
    } else {
        vec![format!("RespondToAsk is for {found:?} and must be for [\"Person\"]")]
    }
}

fn check_tests(tests: &[Source]) -> Vec<String> {
    let lost = TESTS.iter().filter(|test| !has_test(tests, test));
    lost.map(|test| format!("the relay lost its test {test}")).collect()
}

fn check_shrinks(constant: &str, now: &[String], before: &[&str]) -> Vec<String> {
    let added = now.iter().filter(|name| !before.contains(&name.as_str()));
    added
        .map(|name| format!("{name} was added to {constant} of what is not offered, which may only shrink"))
        .collect()
}

#[test]
fn answers_and_cancels_are_carried_by_known_rpcs_only() {
    accept(&check_carried(&Contract::ours()));
}

#[test]
fn every_door_is_classed_by_tests_of_the_relay_and_answering_is_for_persons() {
    accept(&check_class(&read("adapters/relay/src/doors.rs")));
    accept(&check_tests(&tests_of("adapters/relay")));
}

#[test]
fn what_is_not_offered_only_shrinks() {
    for (constant, before) in NOT_OFFERED {
        accept(&check_shrinks(constant, &pending(constant), before));
    }
}

#[test]
fn planted_doors_are_reported() {
    let contract = planted(
        &[
            ("RespondToAskRequest", &[]),
            ("CancelAskRequest", &[]),
            ("Both", &[("answer", "RespondToAskRequest", false), ("cancel", "CancelAskRequest", false)]),
        ],
        &[("AgentDoor", "Answer", "Both"), ("CommsService", "CancelAsk", "CancelAskRequest")],
    );
    let violations = check_carried(&contract);
    reported(&violations, &["AgentDoor/Answer can carry RespondToAskRequest"]);
    reported(&violations, &["CommsService/CancelAsk can carry CancelAskRequest"]);
    reported(&violations, &["CommsService/RespondToAsk may carry", "does not"]);
    let table = "rpcs! { \"compass.v1.CommsService\" { RespondToAsk: Member Write; } }";
    reported(&check_class(&Source::parse("doors.rs", table)), &["RespondToAsk is for", "Member"]);
    reported(&check_tests(&[]), &["lost its test answering_is_for_people"]);
    reported(
        &check_shrinks("RPCS", &["CommsService/PostMessage".to_owned()], &[]),
        &["CommsService/PostMessage was added"],
    );
}
