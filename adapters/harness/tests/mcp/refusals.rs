//! What cannot be read or does not fit is answered, and the connection goes on.

use serde_json::{Value, json};

use crate::{
    faults::Raw,
    http::{post, read, send, server},
    rig::{House, request, status},
};

/// Bytes of the longest line.
const LIMIT: usize = 4 * 1024 * 1024;

/// A call whose text is so long that its line has so many bytes.
fn line_of(bytes: usize, id: &Value) -> Vec<u8> {
    let line = |text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"no_tool","arguments":{{"t":"{text}"}}}},"id":{id}}}"#
        )
    };
    let text = "x".repeat(bytes - line("").len());
    line(&text).into_bytes()
}

fn refused(answer: &Value, code: i32, id: &Value, told: &str) {
    assert_eq!((&answer["error"]["code"], answer.get("id")), (&json!(code), Some(id)), "{answer}");
    assert!(answer["error"]["message"].as_str().is_some_and(|text| text.contains(told)), "{answer}");
    assert_eq!(answer["jsonrpc"], "2.0");
}

#[tokio::test]
async fn a_line_that_cannot_be_read_or_is_too_long_is_answered_and_the_next_one_is_served() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":"d","method":"ping","params":{{"a":{}{}}}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let surrogate = r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"a\ud83d"}}"#;
    let cases: [(&[u8], i32, Value, &str); 11] = [
        (b"nonsense", -32700, Value::Null, "cannot be read as JSON: expected"),
        (
            b"{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":3",
            -32700,
            Value::Null,
            "cannot be read as JSON: EOF",
        ),
        (b"{\"id\":\"\xff\"}", -32700, Value::Null, "invalid unicode"),
        (b"\"a\\ud83d\"", -32700, Value::Null, "hex escape"),
        (b"{\"id\":3,\"method\":\"m\xff\"}", -32700, json!(3), "invalid unicode"),
        (surrogate.as_bytes(), -32700, json!(4), "hex escape"),
        (deep.as_bytes(), -32700, json!("d"), "recursion limit"),
        (b"[]", -32600, Value::Null, "no JSON-RPC 2.0 message"),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
            -32600,
            Value::Null,
            "no JSON-RPC 2.0 message",
        ),
        (
            &line_of(LIMIT + 1, &json!("l")),
            -32600,
            json!("l"),
            "has 4194305 bytes; it must have at most 4194304",
        ),
        (&vec![b'x'; 2 * LIMIT], -32600, Value::Null, "has 8388608 bytes; it must have at most 4194304"),
    ];
    let house = House::new([]);
    let (mut raw, _served) = Raw::start(&house, 1 << 20).await;
    for (line, code, id, told) in cases {
        raw.write_bytes(line).await;
        raw.write_bytes(b"\n").await;
        refused(&raw.read().await, code, &id, told);
        raw.write(&request(9, "ping", &json!({}))).await;
        assert_eq!(raw.read().await, json!({ "jsonrpc": "2.0", "id": 9, "result": {} }));
    }
    raw.write_bytes(&line_of(LIMIT, &json!("l"))).await;
    raw.write_bytes(b"\n").await;
    refused(&raw.read().await, -32602, &json!("l"), "no_tool");
    // Neither a blank line nor a notification is ever answered.
    raw.write_bytes(b"\r\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":5}\n").await;
    raw.write(&request(10, "ping", &json!({}))).await;
    assert_eq!(raw.read().await["id"], 10);
}

#[tokio::test]
async fn a_byte_order_mark_is_no_part_of_a_line() {
    let house = House::new([]);
    let (mut raw, _served) = Raw::start(&house, 1 << 20).await;
    raw.write_bytes("\u{feff}".as_bytes()).await;
    raw.write(&request(9, "ping", &json!({}))).await;
    assert_eq!(raw.read().await, json!({ "jsonrpc": "2.0", "id": 9, "result": {} }));
}

#[tokio::test]
async fn a_call_that_is_no_message_and_has_null_for_params_has_none() {
    let house = House::new([]);
    let (mut raw, _served) = Raw::start(&house, 1 << 20).await;
    raw.write_bytes(b"{\"jsonrpc\":\"1.0\",\"id\":3,\"method\":\"tools/call\",\"params\":null}\n").await;
    refused(&raw.read().await, -32602, &json!(3), "tools/call has no params");
}

#[tokio::test]
async fn a_call_whose_id_cannot_be_read_is_no_call() {
    let house = House::new([]);
    let (mut raw, _served) = Raw::start(&house, 1 << 20).await;
    raw.write_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"tools/call\",\"params\":{}}\n").await;
    refused(&raw.read().await, -32600, &Value::Null, "no JSON-RPC 2.0 message");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_and_results_never_share_a_line() {
    const ROUNDS: u64 = 200;
    let house = House::new([]);
    let (mut raw, _served) = Raw::start(&house, 2048).await;
    let mut seen = (0, vec![]);
    for round in 0..ROUNDS / 2 {
        for id in [2 * round, 2 * round + 1] {
            raw.write_bytes(format!("nonsense\n{}\n", status(id, "x")).as_bytes()).await;
        }
        for _ in 0..4 {
            match raw.read().await {
                line if line.get("error").is_some() => seen.0 += 1,
                line => seen.1.extend(line["id"].as_u64()),
            }
        }
    }
    seen.1.sort_unstable();
    assert_eq!(seen, (ROUNDS, (0..ROUNDS).collect()));
}

#[tokio::test]
async fn params_that_do_not_fit_are_told_over_both_transports() {
    let name = "compass_set_status";
    let house = House::new([]);
    let (mut raw, _served) = Raw::start(&house, 1 << 20).await;
    let http = server(&house);
    for (params, told) in [
        (
            Some(json!({ "name": name, "arguments": [] })),
            "arguments of tools/call must be an object, not an array",
        ),
        (
            Some(json!({ "name": name, "arguments": "x" })),
            "arguments of tools/call must be an object, not a string",
        ),
        (Some(json!({ "name": 5 })), "name of tools/call must be a string, not a number"),
        (Some(json!({ "arguments": {} })), "params of tools/call have no name"),
        (Some(json!({})), "params of tools/call have no name"),
        (Some(json!({ "name": name, "requestState": 5 })), "params of tools/call do not fit"),
        (
            Some(json!({ "name": name, "arguments": null, "requestState": 5 })),
            "params of tools/call do not fit",
        ),
        (Some(Value::Null), "tools/call has no params"),
        (None, "tools/call has no params"),
    ] {
        let mut asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call" });
        if let Some(params) = params {
            asked["params"] = params;
        }
        raw.write(&asked).await;
        refused(&raw.read().await, -32602, &json!(1), told);
        refused(&read(send(&http, post(None, &asked)).await).await, -32602, &json!(1), told);
    }
    raw.write(&request(2, "tools/call", &json!("x"))).await;
    refused(&raw.read().await, -32602, &json!(2), "params of tools/call must be an object, not a string");
    raw.write(&request(4, "no/method", &json!({}))).await;
    refused(&raw.read().await, -32601, &json!(4), "no/method");
    assert_eq!(house.calls(), []);
}
