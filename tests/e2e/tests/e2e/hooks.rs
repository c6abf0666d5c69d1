//! `compass agent hook` on a real server: what it hands over, what it acknowledges, and questions to people.

use std::{fs::File, process::Stdio};

use compass_client::Page;
use rustix::process::Signal;
use serde_json::Value;
use tokio::{io::AsyncWriteExt as _, process::Command};

use crate::support::{Done, Mcp, Running, Storage, World, in_time, on_both, open_ask, skip, until};

on_both!(
    a_message_is_context_of_one_prompt_and_acknowledged,
    a_question_answered_in_time_runs_on_its_answer,
    a_late_answer_is_context_of_the_next_prompt_and_the_question_is_not_asked_again,
);

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!("../../../../adapters/harness/tests/data/hooks/", $name, ".json"))
    };
}

const PROMPT: &str = recorded!("user-prompt-submit");
const STOP: &str = recorded!("stop");
const STOP_AGAIN: &str = recorded!("stop-again");
const QUESTION: &str = recorded!("pre-tool-use-question");
const ELICITATION: &str = recorded!("elicitation");
const HOOK: [&str; 2] = ["agent", "hook"];

async fn world() -> World {
    World::start(Storage::Sqlite).await.unwrap()
}

/// Posts a text of the person's in the agent's home channel.
async fn post(world: &World, text: &str) {
    let home = world.home_channel("bot").await;
    let done = world.run_with_input(&["post", "--channel", &home, "--topic", "t"], text).await;
    assert_eq!(done.code, Some(0), "{done:?}");
}

/// Runs the hook to its end and gives what it said; it must end well.
async fn hook(world: &World, input: &str) -> Option<Value> {
    said(&world.run_with_input(&HOOK, input).await)
}

fn said(done: &Done) -> Option<Value> {
    assert_eq!(done.code, Some(0), "{done:?}");
    (!done.stdout.is_empty()).then(|| serde_json::from_str(&done.stdout).unwrap())
}

fn context(said: &Value) -> &str {
    said["hookSpecificOutput"]["additionalContext"].as_str().unwrap()
}

fn reason(said: &Value) -> &str {
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "deny", "{said}");
    said["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap()
}

/// How many messages the agent is owed.
async fn owed(world: &World) -> usize {
    world.agent("bot").await.fetch(0, None).await.unwrap().deliveries.len()
}

async fn waiting(world: &World, input: &str) -> Running {
    Running::start_with(world, &HOOK, input).await
}

async fn asks(world: &World) -> usize {
    let messages = world.agent("bot").await.agent_messages(None, None, &Page::default()).await.unwrap();
    messages.iter().flat_map(compass_client::model::Message::asks).count()
}

/// Answers the recorded question: one by option, one by options and a text, one by a text, one skipped.
async fn answer(world: &World, ask_id: &str) {
    let flags = ["--option", "0=1", "--option", "1=0", "--option", "1=2", "--text", "1=and the docs"];
    let more = ["--text", "2=in cold storage", "--skip", "3"];
    world.ok(&[&["answer", "--ask", ask_id][..], &flags, &more].concat()).await;
}

async fn a_message_is_context_of_one_prompt_and_acknowledged(world: &mut World) {
    post(world, "Staging is green").await;
    let said = hook(world, PROMPT).await.unwrap();
    assert!(context(&said).contains("Staging is green"), "{said}");
    assert_eq!(owed(world).await, 0);
    assert_eq!(hook(world, PROMPT).await, None);
    post(world, "Production too").await;
    let said = hook(world, PROMPT).await.unwrap();
    assert!(!context(&said).contains("Staging") && context(&said).contains("Production too"), "{said}");
}

async fn a_question_answered_in_time_runs_on_its_answer(world: &mut World) {
    let waiting = self::waiting(world, QUESTION).await;
    answer(world, &open_ask(world).await).await;
    let said = said(&waiting.done().await).unwrap();
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "allow", "{said}");
    let updated = &said["hookSpecificOutput"]["updatedInput"];
    let answers = &updated["answers"];
    assert_eq!(answers["Which environment should the 4.2 release go to first?"], "Canary 5% (option 2)");
    assert_eq!(
        answers["Which checks must pass before it continues?"],
        "Smoke tests (option 1), Migration dry run (option 3), and the docs"
    );
    assert_eq!(answers["The migration drops column `legacy_id`. Keep a copy?"], "in cold storage");
    assert!(answers["Anything the on-call should know?"].as_str().unwrap().contains("skipped by the person"));
    let input: Value = serde_json::from_str(QUESTION).unwrap();
    assert_eq!(updated["questions"], input["tool_input"]["questions"]);
    assert_eq!(owed(world).await, 0);
    assert_eq!(hook(world, PROMPT).await, None, "it was given to the question");
}

async fn a_late_answer_is_context_of_the_next_prompt_and_the_question_is_not_asked_again(world: &mut World) {
    let at_once = ["agent", "hook", "--wait", "0"];
    for _ in 0..2 {
        let said = said(&world.run_with_input(&at_once, QUESTION).await).unwrap();
        assert!(reason(&said).contains("comes by itself"), "{said}");
        assert!(reason(&said).contains(&open_ask(world).await), "{said}");
    }
    assert_eq!(asks(world).await, 1);
    answer(world, &open_ask(world).await).await;
    let told = hook(world, PROMPT).await.unwrap();
    assert!(
        context(&told).contains("Your ask was answered") && context(&told).contains("Canary 5%"),
        "{told}"
    );
    assert_eq!(owed(world).await, 0);
    let again = said(&world.run_with_input(&at_once, QUESTION).await).unwrap();
    assert_eq!(again["hookSpecificOutput"]["permissionDecision"], "allow", "{again}");
    assert_eq!(asks(world).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_that_was_not_written_acknowledges_nothing() {
    let world = world().await;
    post(&world, "one").await;
    let into = async |stdout: Stdio, input: &str| {
        let mut command = world.command();
        command.args(HOOK).stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).await.unwrap();
        in_time("the end of a hook", child.wait_with_output()).await.unwrap()
    };
    for input in [PROMPT, STOP] {
        let full = into(File::options().write(true).open("/dev/full").unwrap().into(), input).await;
        assert_eq!(full.status.code(), Some(1), "{full:?}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let closed = into(writer.into(), input).await;
        assert_eq!(closed.status.code(), Some(1), "{closed:?}");
        assert!(String::from_utf8_lossy(&closed.stderr).contains("nothing was acknowledged"), "{closed:?}");
        // What a program starts with instead of an output that is closed.
        let null = into(Stdio::null(), input).await;
        assert_eq!(null.status.code(), Some(1), "{null:?}");
        assert!(String::from_utf8_lossy(&null.stderr).contains("nothing was acknowledged"), "{null:?}");
        assert_eq!(owed(&world).await, 1);
    }
    let said = hook(&world, PROMPT).await.unwrap();
    assert!(context(&said).contains("[delivered before "), "{said}");
    assert_eq!(owed(&world).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_stays_owed_if_there_is_no_output_to_write_it_to() {
    let world = world().await;
    let at_once = ["agent", "hook", "--wait", "0"];
    said(&world.run_with_input(&at_once, QUESTION).await).unwrap();
    answer(&world, &open_ask(&world).await).await;
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" agent hook --wait 0 >&-"]).arg(world.command().as_std().get_program());
    command.env_clear().env("HOME", world.home()).env("COMPASS_URL", world.url());
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(QUESTION.as_bytes()).await.unwrap();
    let closed = in_time("the end of a hook", child.wait_with_output()).await.unwrap();
    assert_eq!(closed.status.code(), Some(1), "{closed:?}");
    assert!(String::from_utf8_lossy(&closed.stderr).contains("nothing was acknowledged"), "{closed:?}");
    assert_eq!(owed(&world).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fits_9000_characters_goes_whole_and_one_more_is_announced() {
    let world = world().await;
    post(&world, &"x".repeat(5_000)).await;
    let said = hook(&world, PROMPT).await.unwrap();
    let frame = context(&said).chars().count() - 5_000;
    post(&world, &"x".repeat(9_000 - frame)).await;
    let said = hook(&world, PROMPT).await.unwrap();
    assert_eq!(context(&said).chars().count(), 9_000);
    assert_eq!(owed(&world).await, 0);
    post(&world, &"x".repeat(9_001 - frame)).await;
    post(&world, "behind it").await;
    for _ in 0..2 {
        let said = hook(&world, PROMPT).await.unwrap();
        let text = context(&said);
        assert!(text.starts_with("[message waits ") && text.lines().count() == 1, "{text}");
        assert!(text.contains("comms_") && text.contains("1 message more behind it"), "{text}");
        assert_eq!(owed(&world).await, 2, "an announcement is no receipt");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_announced_message_comes_whole_with_the_result_of_the_next_tool_and_once() {
    let world = world().await;
    let body = format!("begin {} end", "x".repeat(20_000));
    post(&world, &body).await;
    post(&world, "behind it").await;
    let announced = hook(&world, PROMPT).await.unwrap();
    assert!(context(&announced).starts_with("[message waits "), "{announced}");
    let mut mcp = Mcp::start(&world, "bot").await;
    let result = mcp.call("compass_set_status", serde_json::json!({ "activity": "here" })).await.ok();
    assert!(result.contains(&body) && !result.contains("delivered before"), "{} bytes", result.len());
    until("the receipt of the result", async || (owed(&world).await == 1).then_some(())).await;
    let said = hook(&world, PROMPT).await.unwrap();
    assert!(context(&said).contains("behind it") && !context(&said).contains("begin"), "{said}");
    assert_eq!(owed(&world).await, 0);
    mcp.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_fit_comes_whole_with_the_next_output() {
    let world = world().await;
    for text in ["a", "b", "c"] {
        post(&world, &text.repeat(4_000)).await;
    }
    let first = hook(&world, PROMPT).await.unwrap();
    assert!(context(&first).contains(&"b".repeat(4_000)) && !context(&first).contains("ccc"), "{first}");
    assert!(context(&first).contains("1 message more"), "{first}");
    assert_eq!(owed(&world).await, 1);
    let second = hook(&world, PROMPT).await.unwrap();
    assert!(context(&second).contains(&"c".repeat(4_000)), "{second}");
    assert_eq!(owed(&world).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_goes_on_for_new_messages_three_times_in_a_row() {
    let world = world().await;
    assert_eq!(hook(&world, STOP).await, None);
    for _ in 0..2 {
        for input in [STOP, STOP_AGAIN, STOP_AGAIN] {
            post(&world, "more").await;
            let said = hook(&world, input).await.unwrap();
            assert_eq!(said["decision"], "block", "{said}");
            assert!(said["reason"].as_str().unwrap().contains("more"), "{said}");
        }
        post(&world, "the fourth").await;
        assert_eq!(hook(&world, STOP_AGAIN).await, None);
        assert_eq!(owed(&world).await, 1);
        assert!(context(&hook(&world, PROMPT).await.unwrap()).contains("the fourth"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ask_that_was_withdrawn_or_skipped_is_never_an_answer() {
    let world = world().await;
    let waiting = self::waiting(&world, QUESTION).await;
    world.agent("bot").await.agent_cancel_ask(&open_ask(&world).await).await.unwrap();
    let withdrawn = said(&waiting.done().await).unwrap();
    assert!(
        reason(&withdrawn).contains("withdrawn") && reason(&withdrawn).contains("not a no"),
        "{withdrawn}"
    );
    let other = QUESTION.replace("toolu_01EXAMPLE", "toolu_02EXAMPLE");
    let waiting = self::waiting(&world, &other).await;
    let skipped = ["0", "1", "2", "3"].map(skip).to_vec();
    world.person().await.answer(&open_ask(&world).await, skipped).await.unwrap();
    let skipped = said(&waiting.done().await).unwrap();
    assert!(reason(&skipped).contains("skipped by the person"), "{skipped}");
    assert_eq!(owed(&world).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_leave_an_answer_to_the_hook_that_waits_until_it_is_gone() {
    let world = world().await;
    let waiting = self::waiting(&world, QUESTION).await;
    let ask_id = open_ask(&world).await;
    // It waits once its journal knows the ask, which is right after the post.
    let lock = until("the wait in the journal", async || {
        let agents = world.home().join(".local/state/compass/agents");
        let agent = std::fs::read_dir(agents).ok()?.next()?.ok()?.path();
        let wait = std::fs::read_dir(agent.join("waits")).ok()?.next()?.ok()?.path();
        std::fs::read_to_string(wait).ok()?.contains(&ask_id).then(|| agent.join("lock"))
    })
    .await;
    // A process that is stopped while it holds the journal's lock would keep everybody out.
    let lock = File::open(lock).unwrap();
    lock.lock().unwrap();
    drop(lock);
    waiting.signal(Signal::STOP);
    answer(&world, &ask_id).await;
    assert_eq!(hook(&world, PROMPT).await, None, "the answer is left to the question");
    assert_eq!(owed(&world).await, 1);
    waiting.signal(Signal::KILL);
    assert_eq!(waiting.done().await.code, None);
    let said = hook(&world, PROMPT).await.unwrap();
    assert!(context(&said).contains("Your ask was answered"), "{said}");
    assert_eq!(owed(&world).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_elicitation_is_answered_with_typed_content() {
    let world = world().await;
    let waiting = self::waiting(&world, ELICITATION).await;
    let ask_id = open_ask(&world).await;
    world.ok(&["answer", "--ask", &ask_id, "--text", "0=4.2", "--text", "1=3"]).await;
    let said = said(&waiting.done().await).unwrap();
    assert_eq!(said["hookSpecificOutput"]["action"], "accept", "{said}");
    let content = serde_json::json!({ "version": "4.2", "instances": 3 });
    assert_eq!(said["hookSpecificOutput"]["content"], content);
    assert_eq!(owed(&world).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_compass_does_not_stand_in_the_way_of_a_session() {
    let mut world = world().await;
    post(&world, "one").await;
    let misused = world.run_with_input(&["agent", "hook", "--no-such-flag"], PROMPT).await;
    assert_eq!(misused.code, Some(1), "code 2 would block the session: {misused:?}");
    let stranger = world.run_with_input(&["agent", "hook", "--agent", "nobody"], PROMPT).await;
    assert!(said(&stranger).is_none() && stranger.stderr.contains("nobody"), "{stranger:?}");
    for input in ["", "{", "{\"hook_event_name\":\"SomethingNew\"}", recorded!("subagent-stop")] {
        assert_eq!(hook(&world, input).await, None, "{input}");
    }
    let refused = world.run_with_input(&["agent", "hook", "--token", "cmp_wrong"], PROMPT).await;
    assert!(said(&refused).is_none() && !refused.stderr.is_empty(), "{refused:?}");
    world.kill_server().await;
    for input in [PROMPT, STOP, QUESTION, ELICITATION] {
        let done = world.run_with_input(&HOOK, input).await;
        assert!(said(&done).is_none() && done.stderr.lines().count() == 1, "{done:?}");
    }
    let start = hook(&world, recorded!("session-start")).await.unwrap();
    assert!(start["systemMessage"].as_str().unwrap().contains("not at work"), "{start}");
    world.serve().await;
    assert!(context(&hook(&world, PROMPT).await.unwrap()).contains("one"));
}
