//! Entries put in and taken out of settings of every kind.

use super::*;

fn wanted() -> Wanted {
    Wanted { program: "compass".into(), agent: Some("bot".into()), wait: 50, spare: 5 }
}

/// Settings as people write them.
const SAMPLES: [&str; 9] = [
    "{}",
    "{}\n",
    "{ }\r\n",
    "{\r\n\t\"model\": \"x\" // ours\r\n}\r\n",
    "{\n    // Comments stay\n    \"permissions\": { \"allow\": [\"Bash(ls:*)\"], },\n}\n",
    "{\"a\":1,\"hooks\":{\"Stop\":[]},\"mcpServers\":{}}",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [ { \"type\": \"command\", \"command\": \"say done\" } ] }\n    ]\n  }\n}",
    "\u{feff}{\n  \"z\": 1.50e3,\n\n\n  \"a\": \"\\u00e9\"\n}\n",
    "{\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }\n  },\n  \"hooks\": {}\n}\n",
];

#[test]
fn our_entries_are_there_and_every_other_value_is_as_it_was() {
    for entries in [Entries::Hooks, Entries::Server] {
        for sample in SAMPLES {
            let put = entries.put(Some(sample), &wanted()).expect("edited");
            let (mut after, before) = (value(&put).expect("JSON"), value(sample).expect("JSON"));
            assert_eq!(
                entries.put(Some(&put), &wanted()).as_deref(),
                Ok(put.as_str()),
                "twice changes nothing more"
            );
            assert_eq!(put.starts_with(MARK), sample.starts_with(MARK));
            for comment in ["// Comments stay", "// ours", "1.50e3", "\\u00e9"] {
                assert_eq!(put.contains(comment), sample.contains(comment), "{put}");
            }
            if sample.contains("\r\n") {
                assert_eq!(put.matches('\n').count(), put.matches("\r\n").count(), "{put:?}");
            }
            for part in ["hooks", "mcpServers"] {
                after.as_object_mut().expect("an object").remove(part);
            }
            let others = before
                .as_object()
                .expect("an object")
                .iter()
                .filter(|(key, _)| !["hooks", "mcpServers"].contains(&key.as_str()));
            assert_eq!(
                after.as_object().expect("an object").iter().collect::<Vec<_>>(),
                others.collect::<Vec<_>>()
            );
        }
    }
}

#[test]
fn set_up_again_for_another_agent_reads_as_if_set_up_for_it_at_once() {
    let other = Wanted { agent: Some("other".into()), wait: 70, ..wanted() };
    for entries in [Entries::Hooks, Entries::Server] {
        for sample in SAMPLES {
            let first = entries.put(Some(sample), &wanted()).expect("edited");
            assert_eq!(entries.put(Some(&first), &other), entries.put(Some(sample), &other), "{first}");
        }
    }
}

#[test]
fn each_hook_has_its_timeout_five_seconds_above_its_wait() {
    let settings = value(&Entries::Hooks.put(None, &wanted()).expect("edited")).expect("JSON");
    let handler = |event: &str| settings["hooks"][event][0]["hooks"][0].clone();
    let command = "compass agent hook --wait=50 --agent bot";
    for (event, timeout) in [
        ("UserPromptSubmit", 10),
        ("SessionStart", 10),
        ("Stop", 10),
        ("PreToolUse", 55),
        ("Elicitation", 55),
    ] {
        let expected = json!({ "type": "command", "command": command, "timeout": timeout });
        assert_eq!(handler(event), expected, "{event}");
    }
    assert_eq!(settings["hooks"]["PreToolUse"][0]["matcher"], "AskUserQuestion");
    let servers = value(&Entries::Server.put(None, &wanted()).expect("edited")).expect("JSON");
    let expected =
        json!({ "type": "stdio", "command": "compass", "args": ["agent", "mcp", "--agent", "bot"] });
    assert_eq!(servers["mcpServers"]["compass"], expected);
}

#[test]
fn another_wait_or_agent_takes_the_place_of_ours_and_foreign_hooks_stay() {
    let sample = SAMPLES[6];
    let first = Entries::Hooks.put(Some(sample), &wanted()).expect("edited");
    let other = Wanted { program: "/opt/it's here/compass".into(), agent: None, wait: 7, spare: 5 };
    let second = Entries::Hooks.put(Some(&first), &other).expect("edited");
    assert!(!second.contains("bot") && second.contains("say done"), "{second}");
    let settings = value(&second).expect("JSON");
    let stop = &settings["hooks"]["Stop"];
    assert_eq!(stop.as_array().map(Vec::len), Some(2));
    assert_eq!(stop[1]["hooks"][0]["command"], r"'/opt/it'\''s here/compass' agent hook --wait=7");
    let third = Entries::Hooks.put(Some(&second), &wanted()).expect("edited");
    assert_eq!(value(&third).expect("JSON"), value(&first).expect("JSON"));
}

#[test]
fn what_only_mentions_our_hook_is_somebody_elses() {
    for command in ["echo /usr/bin/compass agent hook", "my-compass agent hook", "'x' compass agent hook"] {
        let group = json!({ "hooks": [{ "type": "command", "command": command }] });
        let sample = json!({ "hooks": { "Stop": [group] } }).to_string();
        let put = Entries::Hooks.put(Some(&sample), &wanted()).expect("edited");
        let stop = &value(&put).expect("JSON")["hooks"]["Stop"];
        assert_eq!((stop.as_array().map(Vec::len), &stop[0]), (Some(2), &group), "{put}");
        let out = Entries::Hooks.take_out(&put, None).expect("taken out");
        assert_eq!(value(&out).expect("JSON")["hooks"]["Stop"], json!([group]), "{out}");
    }
}

#[test]
fn taken_out_nothing_of_ours_is_left_and_everything_else_is() {
    for entries in [Entries::Hooks, Entries::Server] {
        for sample in SAMPLES {
            let put = entries.put(Some(sample), &wanted()).expect("edited");
            let out = entries.take_out(&put, Some(sample)).expect("taken out");
            assert_eq!(value(&out).expect("JSON"), value(sample).expect("JSON"), "{out}");
            assert_eq!(entries.take_out(sample, None).as_deref(), Ok(sample), "what has none of ours stays");
        }
    }
}

#[test]
fn a_text_without_a_value_keeps_what_it_has() {
    for entries in [Entries::Hooks, Entries::Server] {
        for blank in ["", " \n", "// comment", "/* a */ // b\r\n", "\u{feff}"] {
            let put = entries.put(Some(blank), &wanted()).expect("edited");
            assert!(put.starts_with(blank) && value(&put).expect("JSON").is_object(), "{put}");
            assert_eq!(entries.put(Some(&put), &wanted()).as_deref(), Ok(put.as_str()));
            assert_eq!(entries.take_out(blank, None).as_deref(), Ok(blank), "it has none of ours");
        }
    }
}

#[test]
fn what_cannot_be_edited_is_left_alone() {
    for (entries, text, told) in [
        (Entries::Hooks, "{", "cannot be read as JSON"),
        (Entries::Hooks, "{'a': 1}", "cannot be read as JSON"),
        (Entries::Hooks, "[]", "it is not an object"),
        (Entries::Hooks, "{\"hooks\": 3}", "\"hooks\" is not an object"),
        (Entries::Hooks, "{\"hooks\": {\"Stop\": {}}}", "\"hooks.Stop\" is not a list"),
        (Entries::Server, "{\"mcpServers\": []}", "\"mcpServers\" is not an object"),
        (Entries::Server, "{\"mcpServers\": {\"compass\": {\"command\": \"x\"}}}", "another server"),
    ] {
        let error = entries.put(Some(text), &wanted()).expect_err("left alone").to_string();
        assert!(error.contains(told), "{text}: {error}");
    }
}
