//! What holds for every tool.

use serde_json::{Value, json};

use super::{
    testing::{OneCall, run},
    *,
};
use crate::ports::{Call, CallError, CallResult};

/// Each tool with the fewest parameters it takes, and the arm it expects.
fn least() -> [(&'static str, Value, &'static str); 13] {
    let question = json!({ "id": "q", "question": "Which?" });
    [
        ("comms_post_message", json!({ "text": "x", "topic": "t" }), "post with a message"),
        ("comms_post_ask", json!({ "questions": [question], "topic": "t" }), "post with an ask"),
        ("comms_cancel_ask", json!({ "ask_id": "a" }), "cancel_ask"),
        ("comms_list_messages", json!({}), "list"),
        ("comms_list_topics", json!({}), "list_topics"),
        ("compass_roster", json!({}), "roster"),
        ("compass_tree", json!({}), "roster"),
        ("compass_set_status", json!({ "activity": "x" }), "set_status"),
        ("comms_open_dm", json!({ "peer_handle": "bo" }), "open_dm with a channel"),
        ("comms_dm", json!({ "peer_handle": "bo", "topic": "t", "text": "x" }), "open_dm with a channel"),
        ("comms_create_channel", json!({ "name": "c" }), "create_channel with a channel"),
        ("comms_update_members", json!({ "channel": "c" }), "update_members with a channel"),
        ("comms_create_channel_group", json!({ "name": "g" }), "create_channel_group with a group"),
    ]
}

/// Parameters that may be blank: texts for people, which the server judges.
const MAY_BE_BLANK: [&str; 5] = ["question", "header", "label", "description", "preview"];

async fn outcome(gateway: &OneCall, tool: &str, arguments: &Value) -> Result<ToolOutput, String> {
    run(gateway, tool, &arguments.to_string()).await.map_err(|error| error.to_string())
}

fn unexpected() -> OneCall {
    OneCall::new(Ok(CallResult::Unexpected("pin".into())))
}

#[test]
fn a3_every_tool_is_in_these_tables() {
    assert_eq!(least().map(|(name, ..)| name).to_vec(), names());
}

#[tokio::test]
async fn a15_a_refusal_reads_as_the_tool_the_code_and_the_guarded_text() {
    let x = "x".repeat(600);
    for (tool, arguments, _) in least() {
        for (error, expected) in [
            (refused("already_exists", "it is so"), "already_exists: it is so".to_owned()),
            (refused("not found", "a\u{2028}b\r\nc"), "(malformed): a b c".to_owned()),
            (refused("a\"b", &format!("\n{x}")), format!("(malformed): {}", &format!(" {x}")[..500])),
            (CallError::Unreachable("gone\n".into()), "unavailable: gone ".to_owned()),
            (CallError::OutcomeUnknown("late".into()), "unknown: late".to_owned()),
        ] {
            let failed = outcome(&OneCall::new(Err(error)), tool, &arguments).await;
            assert_eq!(failed, Err(format!("{tool} failed: {expected}")));
        }
    }
}

fn refused(code: &str, message: &str) -> CallError {
    CallError::Refused { code: code.into(), message: message.into() }
}

#[tokio::test]
async fn a16_another_arm_or_none_is_a_protocol_violation_that_names_tool_expected_and_actual() {
    for (tool, arguments, expected) in least() {
        for (result, actual) in [
            (CallResult::Unexpected("none".into()), "none"),
            (CallResult::Unexpected("pin".into()), "pin"),
            (CallResult::Unexpected("a b".into()), "(malformed)"),
            (if expected == "list" { CallResult::SetStatus } else { CallResult::List(vec![]) }, {
                if expected == "list" { "set_status" } else { "list" }
            }),
        ] {
            let failed = outcome(&OneCall::new(Ok(result)), tool, &arguments).await;
            assert_eq!(failed, Err(format!("{tool}: protocol violation: expected {expected}, got {actual}")));
        }
    }
}

#[tokio::test]
async fn a39_nothing_to_read_is_a_short_text_and_useless() {
    for (tool, result, text) in [
        ("comms_list_messages", CallResult::List(vec![]), "No messages."),
        ("comms_list_topics", CallResult::ListTopics(vec![]), "No topics."),
        ("compass_roster", CallResult::Roster(vec![]), "No peers."),
        ("compass_tree", CallResult::Roster(vec![]), "No peers."),
    ] {
        let output = outcome(&OneCall::new(Ok(result)), tool, &json!({})).await.expect("read");
        assert_eq!((output.text.as_str(), output.useless), (text, true));
        assert!(serde_json::to_value(&output).expect("JSON")["useless"].as_bool().is_some_and(|so| so));
    }
    let output = ToolOutput::text("x".into());
    assert_eq!(serde_json::to_value(&output).expect("JSON"), json!({ "text": "x" }));
}

/// Calls `see` with every parameter of every tool: its tool, its path in the schema, its schema.
fn each_parameter(see: &mut impl FnMut(&'static Tool, &[String], &Value)) {
    fn walk(
        tool: &'static Tool,
        path: &mut Vec<String>,
        schema: &Value,
        see: &mut impl FnMut(&'static Tool, &[String], &Value),
    ) {
        let fields = schema["properties"].as_object().into_iter().flatten();
        for (name, field) in fields {
            path.push(name.clone());
            see(tool, path, field);
            walk(tool, path, field, see);
            walk(tool, path, &field["items"], see);
            path.pop();
        }
    }
    for tool in &ALL {
        walk(tool, &mut Vec::new(), &tool.schema(), see);
    }
}

#[test]
fn every_parameter_is_described_and_none_is_null_or_open() {
    each_parameter(&mut |tool, path, schema| {
        let at = format!("{} {path:?}: {schema}", tool.name);
        assert!(schema["description"].is_string(), "{at}");
        assert!(schema["type"].is_string(), "one type: {at}");
        for noise in ["title", "format", "anyOf", "oneOf", "$ref"] {
            assert!(schema.get(noise).is_none(), "{noise}: {at}");
        }
        if schema["type"] == "array" {
            assert!(schema["items"]["type"].is_string(), "{at}");
        }
    });
    for tool in &ALL {
        let schema = tool.schema();
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
        assert!(!tool.label.is_empty() && !tool.description.is_empty(), "{}", tool.name);
    }
}

#[test]
fn a10_every_bound_and_every_value_of_a_schema_stands_in_the_description() {
    let mut bounds = 0;
    each_parameter(&mut |tool, path, schema| {
        let described = schema["description"].as_str().expect("a description");
        let words: Vec<&str> = described.split(|c: char| !c.is_alphanumeric()).collect();
        for bound in ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"] {
            let Some(number) = schema.get(bound) else { continue };
            bounds += 1;
            assert!(words.contains(&number.to_string().as_str()), "{} {path:?}: {bound} {number}", tool.name);
        }
        for value in schema["enum"].as_array().into_iter().flatten() {
            assert!(words.contains(&value.as_str().expect("a text")), "{} {path:?}: {value}", tool.name);
        }
    });
    assert!(bounds >= 14, "{bounds}");
}

/// Puts `text` where `path` leads, into every list on the way.
fn put(arguments: &mut Value, path: &[String], text: &str, list: bool) {
    let [name, rest @ ..] = path else { return };
    if rest.is_empty() {
        arguments[name] = if list { json!(["fine", text]) } else { json!(text) };
        return;
    }
    if !arguments[name].is_array() {
        arguments[name] = json!([{ "label": "l" }]);
    }
    put(&mut arguments[name][0], rest, text, list);
}

#[tokio::test]
async fn a6_a9_a10_a12_what_must_not_be_blank_is_refused_before_any_call_and_says_so_in_its_description() {
    let mut cases = Vec::new();
    each_parameter(&mut |tool, path, schema| {
        let (list, kind) = (schema["type"] == "array", &schema["type"]);
        let text = *kind == "string" || (list && schema["items"]["type"] == "string");
        if text && schema.get("enum").is_none() {
            let described = schema["description"].as_str().expect("a description").to_owned();
            cases.push((tool.name, path.to_vec(), list, described));
        }
    });
    assert!(cases.len() > 30, "{}", cases.len());
    for (tool, path, list, described) in cases {
        let name = path.last().expect("a name");
        let may_be_blank = MAY_BE_BLANK.contains(&name.as_str());
        assert_eq!(described.contains("not blank"), !may_be_blank, "{tool} {path:?}: {described}");
        let (_, least, _) = least().into_iter().find(|(name, ..)| *name == tool).expect("listed");
        for blank in ["", " ", "\n", "\t \u{a0}"] {
            let gateway = unexpected();
            let mut arguments = least.clone();
            put(&mut arguments, &path, blank, list);
            let failed = outcome(&gateway, tool, &arguments).await.expect_err("no such result");
            let refused = failed.contains(name) && failed.ends_with("must not be blank");
            assert_eq!(
                (refused, gateway.calls().is_empty()),
                (!may_be_blank, !may_be_blank),
                "{tool} {path:?}: {failed}"
            );
        }
        for said in ["\u{200b}", "  hi  "] {
            let gateway = unexpected();
            let mut arguments = least.clone();
            put(&mut arguments, &path, said, list);
            let failed = outcome(&gateway, tool, &arguments).await.expect_err("no such result");
            assert!(
                failed.contains("protocol violation") && !gateway.calls().is_empty(),
                "{tool} {path:?}: {failed}"
            );
        }
    }
}

#[tokio::test]
async fn what_is_required_is_missed_and_what_is_unknown_is_refused() {
    for (tool, least, _) in least() {
        for name in least.as_object().expect("an object").keys() {
            let mut arguments = least.clone();
            arguments.as_object_mut().expect("an object").remove(name);
            let failed = outcome(&unexpected(), tool, &arguments).await.expect_err("missing");
            assert!(failed.contains(&format!("missing field `{name}`")), "{failed}");
        }
        let schema = ALL.iter().find(|of| of.name == tool).expect("listed").schema();
        let required: Vec<_> = schema["required"].as_array().into_iter().flatten().cloned().collect();
        let mut expected: Vec<_> =
            least.as_object().expect("an object").keys().map(|name| json!(name)).collect();
        expected.retain(|name| !required.contains(name));
        assert!(
            expected.is_empty() && required.len() == least.as_object().map_or(0, serde_json::Map::len),
            "{tool}"
        );
        let mut arguments = least.clone();
        arguments["chosen_option_ids"] = json!([]);
        let failed = outcome(&unexpected(), tool, &arguments).await.expect_err("unknown");
        assert!(failed.contains("unknown field `chosen_option_ids`"), "{failed}");
    }
}

#[tokio::test]
async fn a7_a_topic_has_120_characters_at_the_most() {
    for tool in ["comms_post_message", "comms_post_ask", "comms_list_messages", "comms_dm"] {
        let (_, least, _) = least().into_iter().find(|(name, ..)| *name == tool).expect("listed");
        for (characters, fits) in [(120, true), (121, false)] {
            let (gateway, mut arguments) = (unexpected(), least.clone());
            arguments["topic"] = json!("é".repeat(characters));
            let failed = outcome(&gateway, tool, &arguments).await.expect_err("no such result");
            assert_eq!(!gateway.calls().is_empty(), fits, "{tool}: {failed}");
            assert!(fits || failed == "topic must be at most 120 characters, got 121", "{failed}");
        }
    }
}

#[tokio::test]
async fn a14_a_channel_that_is_left_out_is_home_and_one_that_is_named_is_that() {
    for tool in ["comms_post_message", "comms_post_ask", "comms_list_messages", "comms_list_topics"] {
        let (_, least, _) = least().into_iter().find(|(name, ..)| *name == tool).expect("listed");
        for (name, expected) in [(None, Channel::Home), (Some("ops"), Channel::Name("ops".into()))] {
            let (gateway, mut arguments) = (unexpected(), least.clone());
            if let Some(name) = name {
                arguments["channel"] = json!(name);
            }
            outcome(&gateway, tool, &arguments).await.expect_err("no such result");
            let channel = match gateway.call_seen() {
                Some(
                    Call::Post { channel, .. }
                    | Call::List { channel, .. }
                    | Call::ListTopics { channel, .. },
                ) => channel,
                other => panic!("{tool}: {other:?}"),
            };
            assert_eq!(channel, expected, "{tool}");
        }
    }
}

#[test]
fn a2_keys_differ_by_nonce_and_by_call_and_end_with_the_call() {
    let (one, other) = (PostKeys::new("n1"), PostKeys::new("n2"));
    assert_eq!(one.key("c"), one.key("c"));
    assert_ne!(one.key("c"), one.key("d"));
    assert_ne!(one.key("c"), other.key("c"));
    assert!(one.key("c").ends_with('c'));
}
