//! Forms as asks and answered asks as content: what maps, what is refused, and that nothing is made up.

use serde_json::json;

use super::*;
use crate::seen::{Delivery, SeenBlock, SeenMessage, SeenOption};

fn form(properties: &Value, required: &[&str]) -> Result<Form, Unmappable> {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    Form::read("Please fill this in", &schema)
}

/// A form of one required field named `x`.
fn field(schema: &Value) -> Result<Form, Unmappable> {
    form(&json!({ "x": schema }), &["x"])
}

fn question(id: &str, chosen: &[&str], written: &str) -> SeenQuestion {
    let options = (0..9).map(|n| SeenOption { id: n.to_string(), ..SeenOption::default() });
    SeenQuestion {
        question_id: id.into(),
        options: options.collect(),
        chosen_option_ids: chosen.iter().map(|&id| id.into()).collect(),
        custom_text: written.into(),
        ..SeenQuestion::default()
    }
}

fn answered(questions: Vec<SeenQuestion>) -> SeenAsk {
    SeenAsk { ask_id: "a".into(), questions, answered: true, ..SeenAsk::default() }
}

/// What goes back for the one field `x` with this answer.
fn value(schema: &Value, chosen: &[&str], written: &str) -> Result<Value, String> {
    // A second, skipped question keeps a skipped field from being a skipped form.
    let form = form(&json!({ "x": schema, "y": { "type": "string" } }), &["x"]).expect("maps");
    match form.answered(&answered(vec![question("0", chosen, written), question("1", &[], "so")])) {
        Reply::Accept(mut content) => Ok(content.remove("x").expect("the field")),
        Reply::Cancel(Reason::Unfit(misfits)) => {
            assert_eq!(misfits[0].field, "x");
            Err(misfits[0].problem.clone())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_field_is_a_question_with_its_place_as_id_and_the_message_stands_first() {
    let properties = json!({
        "name": { "type": "string", "title": "Name", "description": "Of the release", "maxLength": 20 },
        "age": { "type": "integer", "minimum": 1, "maximum": 150, "default": 7 },
        "go": { "type": "boolean", "default": false },
        "env": { "type": "string", "enum": ["s", "p"], "enumNames": ["Staging", "Production"], "default": "p" },
        "checks": {
            "type": "array", "minItems": 1, "maxItems": 2, "uniqueItems": true,
            "items": { "anyOf": [
                { "const": "a", "title": "Smoke" }, { "const": "b", "title": "Load", "description": "11 minutes" },
                { "const": "c" }
            ] }
        }
    });
    let ask = form(&properties, &["name"]).expect("maps").ask("Forms", Some("ops".into()));
    assert_eq!((ask.topic.as_str(), ask.channel.as_deref(), ask.create_topic), ("Forms", Some("ops"), true));
    let ids: Vec<_> = ask.questions.iter().map(|question| question.id.as_str()).collect();
    assert_eq!(ids, ["0", "1", "2", "3", "4"]);
    assert_eq!(
        ask.questions[0].question,
        "Please fill this in\n\nName\n\nOf the release\n\n(Required; at most 20 characters)"
    );
    assert_eq!(ask.questions[0].header, "Name");
    assert_eq!(
        ask.questions[1].question,
        "age\n\n(Optional; a whole number, at least 1, at most 150; suggested: 7)"
    );
    let labels = |index: usize| -> Vec<&str> {
        ask.questions[index].options.iter().map(|option| option.label.as_str()).collect()
    };
    assert_eq!((labels(2), ask.questions[2].recommended), (vec!["Yes", "No"], Some(1)));
    assert_eq!((labels(3), ask.questions[3].recommended), (vec!["Staging", "Production"], Some(1)));
    assert_eq!(labels(4), ["Smoke", "Load", "c"]);
    assert_eq!(ask.questions[4].options[1].description, "11 minutes");
    assert!(ask.questions[4].multi && !ask.questions[3].multi);
    assert!(ask.questions[4].question.ends_with("(Optional; from 1 to 2 of these)"));
}

#[test]
fn what_a_person_chose_or_wrote_becomes_typed_content() {
    let titled = json!({ "type": "string", "oneOf": [{ "const": "s", "title": "S" }, { "const": "p" }] });
    let several = json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b", "c"] } });
    let plain = json!({ "enum": ["a", "b"] });
    for (schema, chosen, written, expected) in [
        (json!({ "type": "string" }), &[][..], " as it is\n", json!(" as it is\n")),
        (json!({ "type": "string", "maxLength": 2 }), &[], "éé", json!("éé")),
        (json!({ "type": "string", "format": "email" }), &[], "ana@example.org", json!("ana@example.org")),
        (
            json!({ "type": "string", "format": "uri" }),
            &[],
            "https://example.org/x",
            json!("https://example.org/x"),
        ),
        (json!({ "type": "string", "format": "date" }), &[], "2024-02-29", json!("2024-02-29")),
        (
            json!({ "type": "string", "format": "date-time" }),
            &[],
            "2024-02-29T01:02:03Z",
            json!("2024-02-29T01:02:03Z"),
        ),
        (json!({ "type": "string", "pattern": "^v[0-9]+$" }), &[], "v12", json!("v12")),
        (json!({ "type": "integer" }), &[], " -3 ", json!(-3)),
        (json!({ "type": "integer", "maximum": u64::MAX }), &[], "18446744073709551615", json!(u64::MAX)),
        (json!({ "type": "number", "minimum": 0.5 }), &[], "0.5", json!(0.5)),
        (json!({ "type": "number", "minimum": 1 }), &[], "2", json!(2)),
        (json!({ "type": "boolean" }), &["0"], "", json!(true)),
        (json!({ "type": "boolean" }), &["1"], "", json!(false)),
        (titled, &["1"], "", json!("p")),
        (plain, &["0"], "", json!("a")),
        (several, &["2", "0"], "", json!(["c", "a"])),
    ] {
        assert_eq!(value(&schema, chosen, written), Ok(expected), "{schema} {chosen:?} {written:?}");
    }
}

#[test]
fn what_does_not_fit_is_said_and_never_made_to_fit() {
    let choice = json!({ "type": "string", "enum": ["a", "b"] });
    let several =
        json!({ "type": "array", "minItems": 2, "maxItems": 2, "items": { "enum": ["a", "b", "c"] } });
    for (schema, chosen, written, problem) in [
        (json!({ "type": "string" }), &[][..], "", "required and was skipped"),
        (json!({ "type": "string", "minLength": 3 }), &[], "éé", "2 characters, the least is 3"),
        (json!({ "type": "string", "maxLength": 1 }), &[], "ab", "2 characters, the most is 1"),
        (json!({ "type": "string", "format": "email" }), &[], "ana at example", "e-mail"),
        (json!({ "type": "string", "format": "email" }), &[], "ana@example.org\n", "e-mail"),
        (json!({ "type": "string", "format": "uri" }), &[], "example", "URI"),
        (json!({ "type": "string", "format": "date" }), &[], "2023-02-29", "date"),
        (json!({ "type": "string", "format": "date-time" }), &[], "2024-02-29", "date and time"),
        (json!({ "type": "string", "pattern": "^v$" }), &[], "w", "pattern"),
        (json!({ "type": "integer" }), &[], "three", "not a whole number"),
        (json!({ "type": "integer" }), &[], "3.0", "not a whole number"),
        (json!({ "type": "integer" }), &[], "1e3", "not a whole number"),
        (json!({ "type": "number" }), &[], "1,5", "not a number"),
        (json!({ "type": "number" }), &[], "NaN", "not a number"),
        (json!({ "type": "integer", "minimum": 5 }), &[], "4", "less than 5"),
        (
            json!({ "type": "integer", "maximum": 9_007_199_254_740_993_u64 }),
            &[],
            "9007199254740994",
            "more than",
        ),
        (json!({ "type": "number", "maximum": 0.5 }), &[], "0.51", "more than 0.5"),
        (json!({ "type": "boolean" }), &[], "yes", "a text of its own"),
        (choice.clone(), &[], "a", "a text of its own"),
        (choice.clone(), &["0"], "but later", "a text of its own"),
        (choice.clone(), &["0", "1"], "", "takes one option, and 2"),
        (choice, &["7"], "", "unknown option"),
        (several.clone(), &["0"], "", "from 2 to 2 options, and 1"),
        (several, &["0", "1", "2"], "", "from 2 to 2 options, and 3"),
    ] {
        let told = value(&schema, chosen, written).expect_err("does not fit");
        assert!(told.contains(problem), "{schema} {chosen:?} {written:?}: {told}");
    }
}

#[test]
fn a_skipped_optional_field_is_left_out_and_its_default_is_not_filled_in() {
    let form = form(&json!({ "a": { "type": "integer", "default": 7 }, "b": { "type": "string" } }), &["b"]);
    let reply =
        form.expect("maps").answered(&answered(vec![question("0", &[], ""), question("1", &[], "x")]));
    assert_eq!(reply, Reply::Accept(serde_json::from_value(json!({ "b": "x" })).expect("an object")));
}

#[test]
fn all_skipped_declines_and_the_end_of_an_ask_without_an_answer_cancels() {
    let form = field(&json!({ "type": "string" })).expect("maps");
    assert_eq!(form.answered(&answered(vec![question("0", &[], "")])), Reply::Decline);
    let withdrawn = SeenAsk { cancelled: true, ..SeenAsk::default() };
    for open in [withdrawn, SeenAsk::default()] {
        assert_eq!(form.answered(&open), Reply::Cancel(Reason::Withdrawn));
    }
    assert_eq!(form.reply(&Outcome::Withdrawn), Reply::Cancel(Reason::Withdrawn));
    let not_posted = form.reply(&Outcome::NotPosted { reason: "full".into() });
    assert_eq!(not_posted, Reply::Cancel(Reason::NotPosted("full".into())));
    assert!(Reply::Decline.carries_answer() && !not_posted.carries_answer());
    let ask = answered(vec![question("0", &[], "x")]);
    let blocks = vec![SeenBlock::AskAnswer { ask, asker_account_id: "me".into() }];
    let message = SeenMessage { blocks, ..SeenMessage::default() };
    let answer = Outcome::Answered(Box::new(Delivery { message, ..Delivery::default() }));
    assert_eq!(form.reply(&answer).action(), "accept");
}

#[test]
fn a_form_without_fields_is_a_yes_or_no() {
    let form = form(&json!({}), &[]).expect("maps");
    let ask = form.ask("t", None);
    assert_eq!((ask.questions.len(), ask.questions[0].question.as_str()), (1, "Please fill this in"));
    assert_eq!(ask.questions[0].options.len(), 2);
    let reply =
        |chosen: &[&str], written: &str| form.answered(&answered(vec![question("0", chosen, written)]));
    assert_eq!(reply(&["0"], ""), Reply::Accept(Map::new()));
    assert_eq!(reply(&["1"], "not today"), Reply::Decline);
    assert_eq!(reply(&[], ""), Reply::Decline);
    for (chosen, written) in [(&["0"][..], "but not now"), (&[], "maybe"), (&["0", "1"], "")] {
        assert!(matches!(reply(chosen, written), Reply::Cancel(Reason::Unfit(_))), "{chosen:?} {written}");
    }
}

#[test]
fn what_cannot_be_asked_is_refused_by_name() {
    for (schema, told) in [
        (json!({ "type": "object", "properties": {} }), "its type is \"object\""),
        (json!({ "type": "null" }), "its type is \"null\""),
        (json!({ "type": ["string", "null"] }), "no single type"),
        (json!({ "$ref": "#/x" }), "no single type"),
        (json!(true), "not an object"),
        (json!({ "type": "string", "contentEncoding": "base64" }), "contentEncoding"),
        (json!({ "type": "string", "format": "password" }), "password"),
        (json!({ "type": "string", "pattern": "(?=x)" }), "pattern"),
        (json!({ "type": "string", "minLength": -1 }), "minLength"),
        (json!({ "type": "string", "enum": [] }), "not a list of texts"),
        (json!({ "type": "string", "enum": ["a", 1] }), "not a list of texts"),
        (json!({ "type": "string", "enum": ["a"], "oneOf": [] }), "not a list of texts"),
        (json!({ "type": "string", "enum": ["a"], "enumNames": [] }), "enumNames"),
        (json!({ "type": "integer", "multipleOf": 3 }), "multipleOf"),
        (json!({ "type": "array" }), "without a schema of its items"),
        (json!({ "type": "array", "items": { "type": "integer" } }), "something else"),
        (json!({ "type": "array", "items": { "type": "string" } }), "not a list of texts"),
        (json!({ "type": "string", "enum": vec!["x"; 65] }), "65 values to choose from, the limit is 64"),
    ] {
        let Err(Unmappable::Field { field, reason }) = self::field(&schema) else { panic!("{schema}") };
        assert!(field == "x" && reason.contains(told), "{schema}: {reason}");
    }
    let many: Map<_, _> = (0..33).map(|n| (n.to_string(), json!({ "type": "string" }))).collect();
    for (schema, told) in [
        (json!("x"), "not an object"),
        (json!({ "properties": {} }), "type \"object\""),
        (json!({ "type": "object", "properties": many }), "33 fields, the limit is 32"),
        (json!({ "type": "object", "properties": [] }), "properties"),
        (json!({ "type": "object", "required": ["x"] }), "requires \"x\""),
        (json!({ "type": "object", "required": "x" }), "list of names"),
        (json!({ "type": "object", "if": {} }), "\"if\""),
    ] {
        let refused = Form::read("m", &schema).expect_err("refused").to_string();
        assert!(refused.contains(told), "{schema}: {refused}");
    }
}
