//! With the official library's client over a pair of streams.

use std::sync::{Arc, atomic::Ordering};

use compass_agent::{
    ports::{Journal as _, Wait},
    tools::{self, Access, PostAskParams},
};
use compass_harness::mcp::serve_stdio;
use rmcp::{
    RoleClient, ServiceExt as _,
    model::{CallToolRequestParams, CallToolResult, ErrorCode},
    service::{RunningService, ServiceError},
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::rig::{House, answer, handed, long, owed};

type Client = RunningService<RoleClient, ()>;

async fn client(house: &Arc<House>) -> Client {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(theirs);
    house.beside.spawn(serve_stdio(house.core(), input, output));
    ().serve(ours).await.expect("the handshake")
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> Result<CallToolResult, ServiceError> {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    client.peer().call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await
}

fn one_text(result: &CallToolResult) -> &str {
    let [block] = result.content.as_slice() else { panic!("exactly one block: {result:?}") };
    &block.as_text().expect("text").text
}

async fn status(client: &Client) -> String {
    let result = call(client, "compass_set_status", json!({ "activity": "here" })).await.expect("a result");
    assert_ne!(result.is_error, Some(true), "{result:?}");
    one_text(&result).to_owned()
}

#[tokio::test]
async fn the_tools_are_listed_exactly_as_the_registry_has_them() {
    let client = client(&House::new([])).await;
    let listed = client.list_all_tools().await.expect("a list");
    assert_eq!(listed.len(), tools::ALL.len());
    for (listed, tool) in listed.iter().zip(&tools::ALL) {
        assert_eq!((listed.name.as_ref(), listed.title.as_deref()), (tool.name, Some(tool.label)));
        assert_eq!(listed.description.as_deref(), Some(tool.description));
        assert_eq!(Value::Object((*listed.input_schema).clone()), tool.schema());
        let told = listed.annotations.as_ref().expect("annotations");
        assert_eq!(told.read_only_hint, Some(tool.access == Access::Read), "{}", tool.name);
        assert_eq!(told.destructive_hint, Some(tool.destructive), "{}", tool.name);
        assert_eq!(told.idempotent_hint, Some(tool.idempotent), "{}", tool.name);
        assert_eq!(told.open_world_hint, Some(true), "{}", tool.name);
    }
    let about = client.peer_info().and_then(|info| info.instructions.clone()).expect("instructions");
    assert!(about.contains("come with the result of a later call"), "{about}");
}

#[tokio::test]
async fn what_a_model_did_wrong_is_told_in_one_text_and_an_unknown_tool_is_an_error_that_lists_the_tools() {
    let house = House::new([]);
    let client = client(&house).await;
    for (arguments, told) in [
        (json!({ "topic": "t" }), "arguments of comms_post_message do not fit: missing field `text`"),
        (json!({ "topic": "t", "text": 5 }), "arguments of comms_post_message do not fit"),
        (json!({ "topic": "t", "text": " " }), "text must not be blank"),
    ] {
        let result = call(&client, "comms_post_message", arguments).await.expect("a result");
        assert_eq!(result.is_error, Some(true));
        assert!(one_text(&result).starts_with(told), "{result:?}");
    }
    let refused = call(&client, "comms_answer", json!({})).await;
    let Err(ServiceError::McpError(error)) = refused else { panic!("{refused:?}") };
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    assert!(error.message.contains("comms_post_ask"), "{error:?}");
    assert_eq!(house.calls(), []);
}

#[tokio::test]
async fn a_message_comes_with_the_next_result_behind_its_text_and_once() {
    let house = House::new([owed("m1")]);
    let client = client(&house).await;
    let text = status(&client).await;
    let (own, delivered) = text.split_once("\n\n").expect("two parts");
    assert!(!own.contains("msg") && delivered.starts_with("[messages "), "{text}");
    assert_eq!(handed(delivered), ["m1"]);
    house.settled().await;
    assert_eq!(house.acknowledged(), ["m1"]);
    assert_eq!(handed(&status(&client).await), [""; 0]);
    house.owe(owed("m2"));
    let failed = call(&client, "comms_post_message", json!({})).await.expect("a result");
    assert_eq!(handed(one_text(&failed)), ["m2"], "also behind a failure");
    assert_eq!(failed.is_error, Some(true));
}

#[tokio::test]
async fn whole_messages_fit_16_kib_oldest_first_and_a_larger_one_goes_alone() {
    let ids = ["a", "b", "c", "d"];
    let sizes = [7_000, 7_000, 7_000, 40_000];
    let house = House::new(ids.iter().zip(sizes).map(|(id, bytes)| long(id, bytes)));
    house.owe(owed("e"));
    let client = client(&house).await;
    let expected: [&[&str]; 4] = [&["a", "b"], &["c"], &["d"], &["e"]];
    for expected in expected {
        let text = status(&client).await;
        assert_eq!(handed(&text), expected);
        for id in expected {
            let size = ids.iter().position(|known| known == id).map_or(0, |index| sizes[index]);
            assert!(text.contains(&"x".repeat(size)), "{id} is whole");
        }
        house.settled().await;
    }
    assert_eq!(house.acknowledged(), ["a", "b", "c", "d", "e"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_side_by_side_never_hand_over_a_message_twice() {
    for _ in 0..20 {
        let house = House::new((0..30).map(|n| long(&format!("m{n}"), 3_000)));
        let client = Arc::new(client(&house).await);
        let mut calls = JoinSet::new();
        for _ in 0..12 {
            let client = Arc::clone(&client);
            calls.spawn(async move { status(&client).await });
        }
        let texts = calls.join_all().await;
        let mut seen: Vec<_> = texts.iter().flat_map(|text| handed(text)).collect();
        let all = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), all, "twice");
        assert!(texts.iter().all(|text| !text.contains("delivered before")), "none was in doubt");
        house.settled().await;
        let mut acknowledged = house.acknowledged();
        acknowledged.sort();
        assert_eq!(acknowledged, seen, "what was handed over and nothing else");
    }
}

#[tokio::test]
async fn an_answer_that_somebody_waits_for_is_left_to_them() {
    let house = House::new([answer("m1", "ask"), owed("m2")]);
    let ask = PostAskParams { questions: vec![], topic: "t".into(), channel: None, create_topic: true };
    let (key, owner, ask_id) = ("k".to_owned(), "hook".to_owned(), Some("ask".to_owned()));
    house.journal.clone().wait(&Wait { key, owner, ask, ask_id, keep: true }).expect("noted");
    let client = client(&house).await;
    assert_eq!(handed(&status(&client).await), ["m2"]);
    house.settled().await;
    assert_eq!(house.acknowledged(), ["m2"]);
    house.journal.clone().end_wait("k").expect("noted");
    assert_eq!(handed(&status(&client).await), ["m1"]);
}

#[tokio::test]
async fn a_server_out_of_reach_is_told_in_the_result_and_not_asked_for_more() {
    let mut house = House::new([owed("m1")]);
    Arc::get_mut(&mut house).expect("the only one").unreachable = true;
    let client = client(&house).await;
    assert_eq!(client.list_all_tools().await.expect("a list").len(), tools::ALL.len());
    let result = call(&client, "compass_set_status", json!({ "activity": "x" })).await.expect("a result");
    assert_eq!(result.is_error, Some(true));
    assert_eq!(one_text(&result), "compass_set_status failed: unavailable: nobody listens");
    assert_eq!(house.fetches.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn an_agent_that_is_prompted_with_its_messages_gets_none_in_results() {
    let house = House::new([owed("m1")]);
    let mut core = house.core();
    core.owed = None;
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(theirs);
    house.beside.spawn(serve_stdio(core, input, output));
    let client = ().serve(ours).await.expect("the handshake");
    let about = client.peer_info().and_then(|info| info.instructions.clone()).expect("instructions");
    assert!(about.contains("come as a later prompt"), "{about}");
    assert_eq!(handed(&status(&client).await), [""; 0]);
    assert_eq!(house.fetches.load(Ordering::SeqCst), 0);
}
