//! What the tools promise to every harness: names, titles, descriptions, schemas and what each may do.

use compass_agent::tools::{ALL, Access, names};
use serde_json::{Value, json};

/// Rewrites the golden file if set.
const REFRESH: &str = "COMPASS_REFRESH_GOLDEN";
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/tools.json");

fn offered() -> Value {
    let tool = |tool: &compass_agent::tools::Tool| {
        json!({
            "name": tool.name,
            "label": tool.label,
            "description": tool.description,
            "access": if tool.access == Access::Read { "read" } else { "write" },
            "destructive": tool.destructive,
            "idempotent": tool.idempotent,
            "schema": tool.schema(),
        })
    };
    ALL.iter().map(tool).collect()
}

#[test]
fn the_tools_are_offered_as_the_golden_file_says() {
    let offered = offered();
    if std::env::var_os(REFRESH).is_some() {
        std::fs::write(GOLDEN, format!("{offered:#}\n")).expect("written");
    }
    let golden = std::fs::read_to_string(GOLDEN).unwrap_or_default();
    assert!(
        serde_json::from_str(&golden).is_ok_and(|golden: Value| golden == offered),
        "the tools are not what tests/golden/tools.json says; to take the change over run\n\
         {REFRESH}=1 cargo nextest run --workspace -E 'test(the_tools_are_offered_as_the_golden_file_says)'\n\
         {offered:#}"
    );
}

#[test]
fn a3_there_are_thirteen_tools_in_their_order_and_which_of_them_write_is_pinned() {
    let expected = [
        ("comms_post_message", Access::Write, false, false),
        ("comms_post_ask", Access::Write, false, false),
        ("comms_cancel_ask", Access::Write, true, true),
        ("comms_list_messages", Access::Read, false, true),
        ("comms_list_topics", Access::Read, false, true),
        ("compass_roster", Access::Read, false, true),
        ("compass_tree", Access::Read, false, true),
        ("compass_set_status", Access::Write, false, true),
        ("comms_open_dm", Access::Write, false, true),
        ("comms_dm", Access::Write, false, false),
        ("comms_create_channel", Access::Write, false, false),
        ("comms_update_members", Access::Write, true, true),
        ("comms_create_channel_group", Access::Write, false, false),
    ];
    let offered: Vec<_> =
        ALL.iter().map(|tool| (tool.name, tool.access, tool.destructive, tool.idempotent)).collect();
    assert_eq!(offered, expected);
    assert_eq!(names(), expected.map(|(name, ..)| name));
    let labels: std::collections::BTreeSet<_> = ALL.iter().map(|tool| tool.label).collect();
    assert_eq!(labels.len(), ALL.len(), "each has a title of its own");
}

#[test]
fn behaviour_that_a_model_must_know_stands_in_the_descriptions() {
    let told = |name: &str| ALL.iter().find(|tool| tool.name == name).expect("a tool").description;
    for (name, said) in [
        (
            "comms_post_ask",
            "To revise an ask, post the new one first, then withdraw the old one with comms_cancel_ask.",
        ),
        ("comms_post_ask", "returns at once"),
        ("comms_post_ask", "arrives in a later turn, so do not wait for it"),
        ("comms_cancel_ask", "your own pending ask"),
        ("comms_cancel_ask", "A repeat succeeds"),
        (
            "comms_cancel_ask",
            "already_exists means that the ask was answered first, and that answer arrives in a later turn",
        ),
        ("comms_list_messages", "oldest first"),
        ("comms_list_messages", "Without a channel it reads your home channel"),
        ("comms_dm", "set create_topic"),
    ] {
        assert!(told(name).contains(said), "{name}: {said}");
    }
}
