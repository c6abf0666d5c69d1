//! Agents that speak the Model Context Protocol: over `compass agent mcp` and over the server's own port.

use std::{collections::BTreeSet, fs};

use compass_agent::tools;
use serde_json::{Value, json};

use crate::support::{Mcp, McpHttp, Said, Storage, World, id_after, until};

fn ask() -> Value {
    let options = json!([{ "label": "Yes" }, { "label": "No" }]);
    let questions = json!([{ "id": "go", "question": "Deploy now?", "options": options }]);
    json!({ "topic": "Release", "create_topic": true, "questions": questions })
}

async fn answer(world: &World, ask_id: &str) {
    world.ok(&["answer", "--ask", ask_id, "--option", "go=1"]).await;
}

/// What does nothing but say that the agent is here.
fn here() -> Value {
    json!({ "activity": "here" })
}

fn is_delivered(text: &str, ask_id: &str) -> bool {
    text.contains("\n\n[messages ") && text.contains(&format!("id=\"{ask_id}\"] Your ask was answered by "))
}

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_comes_with_the_next_result_over_standard_streams_and_once() {
    let world = World::start(Storage::Sqlite).await.unwrap();
    let mut mcp = Mcp::start(&world, "bot").await;
    assert_eq!(names(&mcp.ask("tools/list", &json!({})).await), tools::names());
    world.state("bot", "idle").await;
    let posted = mcp.call("comms_post_ask", ask()).await.ok();
    let ask_id = id_after(&posted, "ask");
    assert!(!posted.contains("[messages "), "{posted}");
    world.state("bot", "waiting").await;
    answer(&world, &ask_id).await;
    let next = mcp.call("compass_set_status", here()).await.ok();
    assert!(is_delivered(&next, &ask_id) && next.contains("] No\n"), "{next}");
    world.nothing_owed("bot").await;
    let after = mcp.call("compass_set_status", here()).await.ok();
    assert!(!after.contains("[messages "), "{after}");
    let wrong = mcp.call("comms_post_message", json!({ "topic": "t" })).await;
    assert!(wrong.failed && wrong.text.contains("missing field `text`"), "{wrong:?}");
    let unknown = mcp.ask("tools/call", &json!({ "name": "comms_answer", "arguments": {} })).await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert_eq!(mcp.close().await.code(), Some(0));
    world.state("bot", "offline").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_in_a_result_that_was_not_written_whole_comes_again_after_a_kill() {
    let world = World::start(Storage::Sqlite).await.unwrap();
    let home = world.home_channel("bot").await;
    // More than a pipe holds.
    let body = format!("begin {} end", "x".repeat(200_000));
    world.run_with_input(&["post", "--channel", &home, "--topic", "Long"], &body).await;
    let mut mcp = Mcp::start(&world, "bot").await;
    mcp.begin("tools/call", &json!({ "name": "compass_set_status", "arguments": here() })).await;
    let marks = || {
        let agents = fs::read_dir(state_dir(&world).join("agents")).ok()?;
        let logs = agents.filter_map(|agent| fs::read_to_string(agent.ok()?.path().join("marks.log")).ok());
        logs.into_iter().find(|log| log.contains("begun "))
    };
    let begun = until("a message that is being handed over", async || marks()).await;
    mcp.kill().await;
    assert!(!begun.contains("taken "), "{begun}");
    let owed = world.agent("bot").await.fetch(0, None).await.unwrap();
    assert_eq!(owed.deliveries.len(), 1, "nothing was acknowledged");

    let mut mcp = Mcp::start(&world, "bot").await;
    let again = mcp.call("compass_set_status", here()).await.ok();
    assert!(again.contains("[delivered before ") && again.contains(&body), "{} bytes", again.len());
    world.nothing_owed("bot").await;
    assert_eq!(mcp.close().await.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tools_are_there_before_the_server_and_work_once_it_is_reached() {
    let mut world = World::start(Storage::Sqlite).await.unwrap();
    world.kill_server().await;
    let mut mcp = Mcp::start(&world, "bot").await;
    assert_eq!(names(&mcp.ask("tools/list", &json!({})).await), tools::names());
    let cut_off = mcp.call("compass_set_status", here()).await;
    assert!(
        cut_off.failed && cut_off.text.starts_with("compass_set_status failed: unavailable: "),
        "{cut_off:?}"
    );
    world.serve().await;
    until("a call that works", async || {
        let said = mcp.call("compass_set_status", here()).await;
        (!said.failed).then_some(())
    })
    .await;
    world.state("bot", "idle").await;
    let ask_id = id_after(&mcp.call("comms_post_ask", ask()).await.ok(), "ask");
    answer(&world, &ask_id).await;
    assert!(is_delivered(&mcp.call("compass_set_status", here()).await.ok(), &ask_id));
    world.restart_server().await;
    world.state("bot", "idle").await;
    let no_agent = world.run(&["agent", "mcp", "--agent", ""]).await;
    assert_eq!(no_agent.code, Some(0), "the saved agent: {no_agent:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_a_runner_calls_go_over_its_socket_and_no_agent_is_needed() {
    let world = World::bare(Storage::Sqlite).await.unwrap();
    let nobody = world.run(&["agent", "mcp"]).await;
    assert_eq!((nobody.code, nobody.stdout.as_str()), (Some(2), ""), "{nobody:?}");
    let mut mcp = Mcp::launch(&world, &["--socket", "/nowhere/agent.sock"]).await;
    let cut_off = mcp.call("compass_set_status", here()).await;
    assert!(
        cut_off.failed && cut_off.text.starts_with("compass_set_status failed: unavailable: "),
        "{cut_off:?}"
    );
    assert_eq!(mcp.close().await.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_comes_with_the_next_result_over_http_and_once() {
    let world = World::start(Storage::Sqlite).await.unwrap();
    let mut http = McpHttp::start(&world, "bot").await;
    assert_eq!(names(&http.ask("tools/list", &json!({})).await), tools::names());
    let ask_id = id_after(&http.call("comms_post_ask", ask()).await.ok(), "ask");
    answer(&world, &ask_id).await;
    let next = http.call("compass_set_status", here()).await.ok();
    assert!(is_delivered(&next, &ask_id), "{next}");
    let after = http.call("compass_set_status", here()).await.ok();
    assert!(!after.contains("[messages "), "{after}");
    world.nothing_owed("bot").await;
    let unknown = http.call("comms_update_members", json!({ "channel": "nowhere" })).await;
    assert!(unknown.failed, "{unknown:?}");
    assert!(unknown.text.starts_with("comms_update_members failed: not_found: "), "{unknown:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http_only_an_agents_token_that_works_gets_in() {
    let world = World::start(Storage::Sqlite).await.unwrap();
    let mut person = McpHttp::new(&world, world.person_token());
    assert_eq!(person.send("tools/list", &json!({})).await.0, 403);
    let mut http = McpHttp::start(&world, "bot").await;
    let token = http.token.clone();
    let mut nobody = McpHttp::new(&world, "A".repeat(43));
    let (status, challenge, _) = nobody.send("tools/list", &json!({})).await;
    assert_eq!((status, challenge.as_deref()), (401, Some("Bearer")));
    world.person().await.revoke_token(&token).await.unwrap();
    assert_eq!(http.send("tools/list", &json!({})).await.0, 401, "at once");
}

fn state_dir(world: &World) -> std::path::PathBuf {
    let folder = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/state" };
    world.home().join(folder).join("compass")
}

/// Calls every tool, and some in vain; what each said, without what differs from world to world.
async fn everything_said(world: &World, mut call: impl AsyncFnMut(&str, Value) -> Said) -> Vec<String> {
    world.ok(&["agent", "create", "mate", "--parent", "bot"]).await;
    let mut said = Vec::new();
    let mut used = BTreeSet::new();
    let question = json!({ "id": "q", "question": "Ship?", "options": [{ "label": "Yes" }], "header": "Go" });
    let asks = json!({ "topic": "Release", "create_topic": true, "questions": [question] });
    let message = json!({ "channel": "plans", "topic": "Autumn", "create_topic": true, "text": "a <msg> b" });
    for (tool, arguments) in [
        ("compass_set_status", json!({ "activity": "reading\nlogs" })),
        ("comms_create_channel_group", json!({ "name": "teams", "visibility": "shared" })),
        ("comms_create_channel", json!({ "name": "plans", "group": "teams", "members": ["mate"] })),
        ("comms_create_channel", json!({ "name": "plans", "group": "teams" })),
        ("comms_update_members", json!({ "channel": "plans", "subscribe": ["mate"] })),
        ("comms_update_members", json!({ "channel": "nothing" })),
        ("comms_post_message", json!({ "channel": "plans", "topic": "Autumn", "text": "x" })),
        ("comms_post_message", message),
        ("comms_list_topics", json!({ "channel": "plans" })),
        ("comms_post_ask", asks.clone()),
        ("comms_post_ask", asks),
        ("comms_list_messages", json!({ "channel": "plans", "limit": 5 })),
        ("comms_list_messages", json!({ "before_message_id": "nope" })),
        ("comms_list_messages", json!({ "topic": "nope" })),
        ("compass_roster", json!({ "scope": "owner" })),
        ("compass_tree", json!({ "scope": "subtree" })),
        ("comms_open_dm", json!({ "peer_handle": "mate" })),
        ("comms_dm", json!({ "peer_handle": "mate", "topic": "Hello", "text": "x", "create_topic": true })),
        ("comms_dm", json!({ "peer_handle": "bot", "topic": "t", "text": "x" })),
    ] {
        used.insert(tool);
        said.push(call(tool, arguments).await);
    }
    // One of the two asks is answered, the other one withdrawn.
    let ids: Vec<_> = said.iter().filter(|said| said.text.contains("Posted ask ")).collect();
    let ids = [id_after(&ids[0].text, "ask"), id_after(&ids[1].text, "ask")];
    world.ok(&["answer", "--ask", &ids[0], "--text", "q=why not"]).await;
    for ask_id in [ids[1].as_str(), ids[1].as_str(), ids[0].as_str(), "nope"] {
        used.insert("comms_cancel_ask");
        said.push(call("comms_cancel_ask", json!({ "ask_id": ask_id })).await);
    }
    said.push(call("comms_list_messages", json!({})).await);
    assert_eq!(used, tools::names().into_iter().collect());
    said.iter().map(|said| format!("{} {}", said.failed, without_ids(&said.text))).collect()
}

/// A text without ids, fences and times.
fn without_ids(text: &str) -> String {
    let mut plain = String::new();
    for part in
        text.split_inclusive(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == ':' || c == '.'))
    {
        let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_id = [16, 32].contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_time = word.len() == 24 && word.ends_with('Z') && word.contains('T');
        plain.push_str(if is_id || is_time { "#" } else { word });
        plain.push_str(&part[word.len()..]);
    }
    plain
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tool_says_the_same_over_http_as_over_standard_streams() {
    let one = World::start(Storage::Sqlite).await.unwrap();
    let mut mcp = Mcp::start(&one, "bot").await;
    let over_streams = everything_said(&one, async |tool, arguments| mcp.call(tool, arguments).await).await;
    let other = World::start(Storage::Sqlite).await.unwrap();
    let mut http = McpHttp::start(&other, "bot").await;
    let over_http = everything_said(&other, async |tool, arguments| http.call(tool, arguments).await).await;
    // Rows are in the order of ids, and over HTTP nobody is present.
    let alike = |text: &str| {
        let presence = ["idle", "waiting", "offline"];
        let text = presence.iter().fold(text.to_owned(), |text, word| text.replace(word, "here"));
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    for (streams, http) in over_streams.iter().zip(&over_http) {
        assert_eq!(alike(streams), alike(http));
    }
    assert_eq!(over_streams.len(), over_http.len());
}
