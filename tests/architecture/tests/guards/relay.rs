//! The relayed call: every arm is proven to act as the bound account or stands on the list of what is not offered,
//! and none can carry an answer.

use crate::{
    accept,
    contract::{Contract, planted},
    reported,
    sources::{Source, has_test, read, tests_of},
};

const UNION: &str = "CommsCallRequest";

/// Messages with which a person answers.
const ANSWERS: [&str; 2] = ["RespondToAskRequest", "AskQuestionAnswer"];

/// Arms that are offered, each with the tests that it acts as the bound account and no other.
const CASES: &[(&str, &[&str])] = &[
    (
        "post",
        &[
            "an_ask_of_a_relayed_call_is_answered_and_delivered_to_the_session_that_asked",
            "another_runners_session_in_a_call_a_frame_or_a_receipt_changes_and_reads_nothing",
            "every_call_runs_as_the_calling_agent_and_defaults_to_its_home",
        ],
    ),
    (
        "list",
        &[
            "another_runners_session_in_a_call_a_frame_or_a_receipt_changes_and_reads_nothing",
            "every_call_runs_as_the_calling_agent_and_defaults_to_its_home",
        ],
    ),
    (
        "roster",
        &[
            "an_agents_roster_is_seen_from_where_it_stands",
            "every_call_runs_as_the_calling_agent_and_defaults_to_its_home",
        ],
    ),
    (
        "set_status",
        &[
            "an_agents_command_posts_home_lists_says_its_status_and_withdraws_its_ask",
            "every_call_runs_as_the_calling_agent_and_defaults_to_its_home",
        ],
    ),
    (
        "pin",
        &[
            "an_agent_makes_groups_channels_members_boards_and_conversations_as_itself",
            "every_call_about_channels_runs_as_the_calling_agent",
        ],
    ),
    (
        "create_channel",
        &[
            "an_agent_makes_groups_channels_members_boards_and_conversations_as_itself",
            "every_call_about_channels_runs_as_the_calling_agent",
        ],
    ),
    (
        "update_members",
        &[
            "an_agent_makes_groups_channels_members_boards_and_conversations_as_itself",
            "every_call_about_channels_runs_as_the_calling_agent",
        ],
    ),
    (
        "create_channel_group",
        &[
            "an_agent_makes_groups_channels_members_boards_and_conversations_as_itself",
            "every_call_about_channels_runs_as_the_calling_agent",
        ],
    ),
    (
        "open_dm",
        &[
            "an_agent_makes_groups_channels_members_boards_and_conversations_as_itself",
            "every_call_about_channels_runs_as_the_calling_agent",
        ],
    ),
    (
        "list_topics",
        &[
            "a_relayed_list_of_topics_is_the_agents_own_and_defaults_to_its_home",
            "every_call_runs_as_the_calling_agent_and_defaults_to_its_home",
        ],
    ),
    (
        "cancel_ask",
        &[
            "an_agents_command_posts_home_lists_says_its_status_and_withdraws_its_ask",
            "every_call_runs_as_the_calling_agent_and_defaults_to_its_home",
        ],
    ),
];

fn check(contract: &Contract, pending: &[String], tests: &[Source]) -> Vec<String> {
    let mut violations = Vec::new();
    let arms = contract.arms(UNION);
    for (arm, message) in &arms {
        let cases = CASES.iter().find(|(name, _)| name == arm).map(|(_, tests)| *tests);
        match (cases, pending.contains(arm)) {
            (None, false) => violations
                .push(format!("arm {arm} has no case and is not on the list of what is not offered")),
            (Some(_), true) => {
                violations.push(format!("arm {arm} has a case and is on the list of what is not offered"));
            }
            _ => {}
        }
        for test in cases.unwrap_or_default().iter().filter(|test| !has_test(tests, test)) {
            violations.push(format!("no test {test} for arm {arm}"));
        }
        for answer in contract.reach(message).iter().filter(|inner| ANSWERS.contains(&inner.as_str())) {
            violations.push(format!("arm {arm} can carry {answer}: agents never answer"));
        }
    }
    for known in CASES.iter().map(|(arm, _)| *arm).filter(|arm| !arms.iter().any(|(name, _)| name == arm)) {
        violations.push(format!("arm {known} has a case and is not in the contract"));
    }
    violations
}

/// What the relay does not offer.
pub(crate) fn pending(constant: &str) -> Vec<String> {
    read("adapters/relay/src/pending.rs").list(constant)
}

#[test]
fn every_arm_is_proven_or_not_offered_and_none_can_answer() {
    let mut tests = tests_of("adapters/relay");
    tests.extend(tests_of("application/comms"));
    accept(&check(&Contract::ours(), &pending("ARMS"), &tests));
}

#[test]
fn a_new_arm_an_arm_that_answers_and_a_lost_test_are_reported() {
    let arms: &[_] = &[("post", "Post", true), ("vote", "Vote", true), ("wrap", "Wrap", true)];
    let contract = planted(
        &[
            (UNION, arms),
            ("Wrap", &[("inner", "RespondToAskRequest", false)]),
            ("RespondToAskRequest", &[("answers", "AskQuestionAnswer", false)]),
            ("AskQuestionAnswer", &[]),
        ],
        &[],
    );
    let violations = check(&contract, &["post".to_owned()], &[]);
    reported(&violations, &["arm vote has no case"]);
    reported(&violations, &["arm wrap can carry RespondToAskRequest"]);
    reported(&violations, &["arm post has a case and is on the list"]);
    reported(&violations, &["no test", "arm post"]);
    reported(&violations, &["arm cancel_ask has a case and is not in the contract"]);
}
