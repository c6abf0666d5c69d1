//! The hook on recorded inputs: what it says, what it acknowledges, and what it never says.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test"
)]

mod fake;

use compass_harness::hook::{Event, HookError, Input};
use serde_json::{Value, json};

use fake::{Answer, Full, Unflushed, World};

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!("../data/hooks/", $name, ".json"))
    };
}

const PROMPT: &str = recorded!("user-prompt-submit");
const STOP: &str = recorded!("stop");
const STOP_AGAIN: &str = recorded!("stop-again");
const QUESTION: &str = recorded!("pre-tool-use-question");
const ELICITATION: &str = recorded!("elicitation");

fn specific(said: &Value) -> &Value {
    &said["hookSpecificOutput"]
}

/// The reason of a denied call.
fn denied(said: &Value) -> &str {
    assert_eq!(specific(said)["permissionDecision"], "deny", "{said}");
    specific(said)["permissionDecisionReason"].as_str().expect("a reason")
}

#[tokio::test]
async fn messages_are_context_of_a_prompt_a_start_and_a_tools_result() {
    for (input, name) in [
        (PROMPT, "UserPromptSubmit"),
        (recorded!("session-start"), "SessionStart"),
        (recorded!("post-tool-use"), "PostToolUse"),
    ] {
        let world = World::default();
        world.owe("m1", "Staging is green");
        let said = world.hook(input).await.expect("ran").expect("said");
        assert_eq!(specific(&said)["hookEventName"], name);
        let context = specific(&said)["additionalContext"].as_str().expect("context");
        assert!(context.contains("Staging is green") && context.starts_with("[messages "), "{context}");
        assert_eq!(world.state().acknowledged, ["m1"]);
        assert_eq!(world.hook(input).await.expect("ran"), None, "nothing more is owed");
    }
}

#[tokio::test]
async fn other_events_say_nothing_and_acknowledge_nothing() {
    for input in [
        recorded!("subagent-stop"),
        recorded!("pre-tool-use-other-tool"),
        recorded!("post-tool-use-in-subagent"),
        recorded!("event-of-a-later-version"),
    ] {
        let world = World::default();
        world.owe("m1", "x");
        assert_eq!(world.hook(input).await.expect("ran"), None, "{input}");
        assert!(world.state().acknowledged.is_empty());
    }
    for bad in ["", "[]", "{}", r#"{"hook_event_name":7}"#, "{\"hook_event_name\":\"Stop\""] {
        assert!(Input::read(bad).is_err(), "{bad}");
    }
    let other = Input::read(recorded!("event-of-a-later-version")).expect("read");
    assert_eq!(other.event, Event::Other { name: "SomethingNew".into() });
}

#[tokio::test]
async fn text_that_was_cut_within_a_character_keeps_no_message_back() {
    // What JavaScript makes of the first half of an emoji; no text of ours can hold it.
    for (input, field) in
        [(PROMPT, "\"prompt\":\"\\ud83d\","), (STOP, "\"last_assistant_message\":\"\\ud83d\",")]
    {
        let world = World::default();
        world.owe("m1", "x");
        let cut = input.replacen('{', &format!("{{{field}"), 1);
        assert!(world.hook(&cut).await.expect("ran").is_some(), "{cut}");
        assert_eq!(world.state().acknowledged, ["m1"]);
    }
}

#[tokio::test]
async fn nothing_is_acknowledged_if_the_output_was_not_written() {
    for input in [PROMPT, STOP] {
        for room in [0, 10] {
            let world = World::default();
            world.owe("m1", "x");
            let failed = world.hook_into(input, &mut Full(room)).await;
            assert!(matches!(failed, Err(HookError::Output(_))), "{failed:?}");
            assert!(world.state().acknowledged.is_empty());
            let said = world.hook(input).await.expect("ran").expect("said again");
            assert!(said.to_string().contains("delivered before"), "{said}");
        }
        let world = World::default();
        world.owe("m1", "x");
        assert!(matches!(world.hook_into(input, &mut Unflushed).await, Err(HookError::Output(_))));
        assert!(world.state().acknowledged.is_empty());
    }
}

#[tokio::test]
async fn a_turn_goes_on_for_new_messages_three_times_in_a_row() {
    let world = World::default();
    for turn in 0..2 {
        for (count, input) in [STOP, STOP_AGAIN, STOP_AGAIN].into_iter().enumerate() {
            world.owe(&format!("m{turn}{count}"), "more");
            let said = world.hook(input).await.expect("ran").expect("goes on");
            assert_eq!(said["decision"], "block");
            assert!(said["reason"].as_str().is_some_and(|reason| reason.contains("more")), "{said}");
        }
        world.owe(&format!("m{turn}3"), "more");
        for _ in 0..2 {
            assert_eq!(world.hook(STOP_AGAIN).await.expect("ran"), None, "the fourth waits");
        }
        assert_eq!(world.state().acknowledged.len(), turn * 4 + 3);
        assert!(world.hook(PROMPT).await.expect("ran").is_some(), "for the next prompt");
    }
}

#[tokio::test]
async fn a_turn_goes_on_once_for_a_message_that_is_announced() {
    let world = World::default();
    let long = "x".repeat(9_001);
    world.owe("m1", &long);
    let announced = async |input: &str, id: &str| {
        let said = world.hook(input).await.expect("ran").expect("goes on");
        let reason = said["reason"].as_str().unwrap_or_default();
        assert!(reason.starts_with("[message waits ") && reason.contains(id), "{said}");
    };
    for _ in 0..2 {
        announced(STOP, "m1").await;
        assert_eq!(world.hook(STOP_AGAIN).await.expect("ran"), None, "it was announced in this turn");
    }
    announced(STOP, "m1").await;
    world.state().owed.clear();
    world.owe("m2", &long);
    announced(STOP_AGAIN, "m2").await;
    assert_eq!(world.hook(STOP_AGAIN).await.expect("ran"), None);
    assert!(world.state().acknowledged.is_empty());
}

#[tokio::test]
async fn a_turn_ends_when_nothing_is_owed() {
    let world = World::default();
    assert_eq!(world.hook(STOP).await.expect("ran"), None);
    assert_eq!(world.hook(STOP_AGAIN).await.expect("ran"), None);
}

#[tokio::test]
async fn a_server_that_is_away_is_nothing_to_the_session() {
    for input in [PROMPT, STOP] {
        let world = World::default();
        world.owe("m1", "x");
        world.state().down = true;
        assert!(matches!(world.hook(input).await, Err(HookError::Nothing(_))));
    }
}

/// Runs the recorded question against a person who answers like this.
async fn asked(answer: Answer) -> (World, Value) {
    let world = World::default();
    world.state().answers = Some((2, answer));
    let said = world.hook(QUESTION).await.expect("ran").expect("said");
    (world, said)
}

fn question_input() -> Value {
    serde_json::from_str::<Value>(QUESTION).expect("JSON")["tool_input"].clone()
}

#[tokio::test(start_paused = true)]
async fn a_question_answered_in_time_runs_on_its_answers() {
    let answer: Answer =
        vec![(vec!["1"], ""), (vec!["0", "2"], "and the docs"), (vec![], "in cold storage"), (vec![], "")];
    let (world, said) = asked(answer).await;
    assert_eq!(specific(&said)["permissionDecision"], "allow");
    let updated = &specific(&said)["updatedInput"];
    assert_eq!(updated["questions"], question_input()["questions"], "the questions are echoed as they came");
    assert_eq!(
        updated["answers"],
        json!({
            "Which environment should the 4.2 release go to first?": "Canary 5% (option 2)",
            "Which checks must pass before it continues?":
                "Smoke tests (option 1), Migration dry run (option 3), and the docs",
            "The migration drops column `legacy_id`. Keep a copy?": "in cold storage",
            "Anything the on-call should know?": "(skipped by the person; this is not an answer)",
        })
    );
    assert_eq!(world.state().acknowledged, ["answer-ask1"]);
    assert!(world.state().waits.is_empty());
    assert_eq!(world.hook(PROMPT).await.expect("ran"), None, "it is not delivered a second time");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_long_for_the_output_is_named_and_stays_owed() {
    // 4,500 characters that JavaScript counts as 9,000.
    let long: &'static str = "\u{1f600}".repeat(4_500).leak();
    let (world, said) = asked(vec![(vec!["0"], long)]).await;
    let reason = denied(&said);
    for told in ["Ask ask1 is answered", "too long", "comms_"] {
        assert!(reason.contains(told), "{reason}");
    }
    assert!(world.state().acknowledged.is_empty() && world.state().waits.is_empty());
    assert!(world.hook(PROMPT).await.expect("ran").expect("said").to_string().contains("message waits"));
}

#[tokio::test(start_paused = true)]
async fn the_ask_of_a_question_has_ids_by_position_and_the_recommended_option() {
    let (world, _) = asked(vec![(vec!["1"], "")]).await;
    let state = world.state();
    let key = "hook:3f0c2b1e-0000-4000-8000-000000000001:toolu_01EXAMPLE";
    let ask = state.asks.get(key).expect("under the key of session and call");
    let ids: Vec<_> = ask.questions.iter().map(|question| question.question_id.as_str()).collect();
    assert_eq!(ids, ["0", "1", "2", "3"]);
    let first = &ask.questions[0];
    assert_eq!((first.recommended, first.options[0].label.as_str()), (Some(0), "Staging (Recommended)"));
    assert_eq!(first.options[0].description, "Runs the smoke suite, then waits for you.");
    assert!(ask.questions[1].allow_multiple && ask.questions[1].recommended.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_question_nobody_answers_in_time_is_denied_and_its_answer_comes_later() {
    let world = World::default();
    let said = world.hook(QUESTION).await.expect("ran").expect("said");
    let reason = denied(&said);
    assert!(reason.contains("Ask ask1") && reason.contains("comes by itself"), "{reason}");
    assert!(reason.contains("not an answer and not a no"), "{reason}");
    assert!(world.state().waits.is_empty() && world.state().cancelled.is_empty());
    world.state().answers = Some((0, vec![(vec!["0"], "")]));
    let again = world.hook(QUESTION).await.expect("ran").expect("said");
    assert_eq!(specific(&again)["permissionDecision"], "allow", "run again it asks nothing new");
    assert_eq!(world.state().asks.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_is_context_of_the_next_prompt() {
    let world = World::default();
    world.hook(QUESTION).await.expect("ran");
    world.state().answers = Some((0, vec![(vec!["0"], "")]));
    // The person answers while no hook runs.
    let ask = world.state().asks.values().next().cloned().expect("the ask");
    let mut delivery = compass_agent::seen::Delivery::default();
    delivery.message.id = "late".into();
    delivery.message.blocks =
        vec![compass_agent::seen::SeenBlock::AskAnswer { ask, asker_account_id: "me".into() }];
    world.state().owed.push(delivery);
    let said = world.hook(PROMPT).await.expect("ran").expect("said");
    assert!(said.to_string().contains("Your ask was answered"), "{said}");
    assert_eq!(world.state().acknowledged, ["late"]);
}

#[tokio::test(start_paused = true)]
async fn a_withdrawn_or_skipped_question_is_never_an_answer() {
    let world = World::default();
    world.state().withdraws = true;
    let said = world.hook(QUESTION).await.expect("ran").expect("said");
    assert!(denied(&said).contains("was withdrawn") && denied(&said).contains("not a no"), "{said}");
    let (world, said) = asked(vec![]).await;
    assert!(denied(&said).contains("skipped by the person"), "{said}");
    assert_eq!(world.state().acknowledged, ["answer-ask1"], "the person's skip was told");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_not_written_stays_owed() {
    let world = World::default();
    world.state().answers = Some((2, vec![(vec!["0"], "")]));
    assert!(matches!(world.hook_into(QUESTION, &mut Full(20)).await, Err(HookError::Output(_))));
    assert!(world.state().acknowledged.is_empty() && world.state().waits.is_empty());
    let said = world.hook(PROMPT).await.expect("ran").expect("said");
    assert!(said.to_string().contains("delivered before"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_cannot_be_asked_is_left_to_its_own_dialog() {
    let change = |change: fn(&mut Value)| {
        let mut input: Value = serde_json::from_str(QUESTION).expect("JSON");
        change(&mut input);
        input.to_string()
    };
    for input in [
        change(|input| drop(input["tool_use_id"].take())).replace("\"tool_use_id\":null,", ""),
        change(|input| input["tool_input"] = json!({ "questions": "none" })),
        change(|input| input["tool_input"] = json!({ "questions": [] })),
    ] {
        let world = World::default();
        assert!(matches!(world.hook(&input).await, Err(HookError::Nothing(_))), "{input}");
        assert!(world.state().asks.is_empty() && world.state().waits.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn hostile_questions_are_asked_as_they_are_and_answers_stay_on_their_line() {
    let asks = [
        include_str!("../../../../bin/compass/tests/fixtures/asks/hostile.json"),
        include_str!("../../../../bin/compass/tests/fixtures/asks/many-scripts.json"),
        include_str!("../../../../bin/compass/tests/fixtures/asks/previews.json"),
        include_str!("../../../../bin/compass/tests/fixtures/asks/thirty-options.json"),
        include_str!("../../../../bin/compass/tests/fixtures/asks/deploy.json"),
    ];
    for text in asks {
        let tool_input: Value = serde_json::from_str(text).expect("JSON");
        let mut input: Value = serde_json::from_str(QUESTION).expect("JSON");
        input["tool_input"] = tool_input.clone();
        let world = World::default();
        let count = tool_input["questions"].as_array().expect("questions").len();
        world.state().answers = Some((2, vec![(vec!["0"], "a\nb\u{202e}c"); count]));
        let said = world.hook(&input.to_string()).await.expect("ran").expect("said");
        let updated = &specific(&said)["updatedInput"];
        assert_eq!(updated["questions"], tool_input["questions"]);
        for question in tool_input["questions"].as_array().expect("questions") {
            let answer =
                updated["answers"][question["question"].as_str().expect("text")].as_str().expect("answered");
            assert!(answer.ends_with("a bc") && !answer.contains(['\n', '\u{1b}', '\u{202e}']), "{answer:?}");
            let posted = world.state().asks.values().next().cloned().expect("the ask");
            let asked = posted.questions.iter().find(|asked| asked.question == question["question"]);
            assert_eq!(asked.expect("as written").header, question["header"].as_str().unwrap_or_default());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn equal_labels_are_told_apart_by_their_numbers_and_equal_questions_keep_both_answers() {
    let mut input: Value = serde_json::from_str(QUESTION).expect("JSON");
    let question = json!({ "question": "Sure?", "options": [{ "label": "No" }, { "label": "No" }] });
    input["tool_input"] = json!({ "questions": [question, question] });
    let world = World::default();
    world.state().answers = Some((2, vec![(vec!["1"], ""), (vec!["0"], "")]));
    let said = world.hook(&input.to_string()).await.expect("ran").expect("said");
    let answers = &specific(&said)["updatedInput"]["answers"];
    assert_eq!(answers, &json!({ "Sure?": "No (option 2); then: No (option 1)" }));
}

#[tokio::test(start_paused = true)]
async fn an_elicitation_is_asked_and_answered_with_typed_content() {
    let answer = |answer: Answer| async {
        let world = World::default();
        world.state().answers = Some((2, answer));
        let said = world.hook(ELICITATION).await.expect("ran").expect("said");
        assert_eq!(specific(&said)["hookEventName"], "Elicitation");
        (world, specific(&said).clone())
    };
    let (world, said) = answer(vec![(vec![], "4.2"), (vec![], "3")]).await;
    assert_eq!(
        (&said["action"], &said["content"]),
        (&json!("accept"), &json!({ "version": "4.2", "instances": 3 }))
    );
    assert_eq!(world.state().acknowledged, ["answer-ask1"]);
    let (world, said) = answer(vec![(vec![], ""), (vec![], "")]).await;
    assert_eq!((&said["action"], &said["content"]), (&json!("decline"), &Value::Null));
    assert_eq!(world.state().acknowledged, ["answer-ask1"]);
    let (world, said) = answer(vec![(vec![], "soon"), (vec![], "")]).await;
    assert_eq!((&said["action"], &said["content"]), (&json!("cancel"), &Value::Null));
    assert!(world.state().acknowledged.is_empty(), "the person's words come as a message");
    assert!(world.hook(PROMPT).await.expect("ran").expect("said").to_string().contains("soon"));
}

#[tokio::test(start_paused = true)]
async fn an_elicitation_nobody_answers_is_withdrawn_and_left_to_its_own_dialog() {
    let world = World::default();
    assert!(matches!(world.hook(ELICITATION).await, Err(HookError::Nothing(_))));
    assert_eq!(world.state().cancelled, ["ask1"]);
    assert!(world.state().waits.is_empty());
    let world = World::default();
    world.state().withdraws = true;
    let said = world.hook(ELICITATION).await.expect("ran").expect("said");
    assert_eq!(specific(&said)["action"], "cancel");
}

#[tokio::test]
async fn a_form_that_cannot_be_asked_is_refused_by_the_name_of_its_field() {
    let mut nested: Value = serde_json::from_str(ELICITATION).expect("JSON");
    nested["requested_schema"]["properties"]["where"] = json!({ "type": "object" });
    for (input, told) in
        [(nested.to_string(), "\"where\""), (recorded!("elicitation-url").to_owned(), "mode \"url\"")]
    {
        let world = World::default();
        let Err(HookError::Nothing(reason)) = world.hook(&input).await else { panic!("{input}") };
        assert!(reason.contains(told), "{reason}");
        assert!(world.state().asks.is_empty());
    }
}

#[tokio::test]
async fn questions_that_the_answers_could_not_stand_beside_are_not_asked() {
    let world = World::default();
    let mut listed: Value = serde_json::from_str(QUESTION).expect("JSON");
    listed["tool_input"] = json!([listed["tool_input"]["questions"]]);
    let said = world.hook(&listed.to_string()).await;
    assert!(matches!(said, Err(HookError::Nothing(ref reason)) if reason.contains("no object")), "{said:?}");
    assert!(world.state().asks.is_empty());
}
