//! ACP agents under a runner, over real server, runner, core and agent processes, with the person at the command line.

use std::{
    fs,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::support::{
    Process, Profile, RunnerProcess, World, in_time, notes, on_both, program_of, until, write,
};

on_both!(
    an_acp_agent_asks_and_a_later_life_of_it_reads_the_answer_and_prints_it,
    a_permission_is_answered_from_the_command_line_and_the_agent_goes_on_within_a_second,
    a_permission_of_an_agent_that_died_is_withdrawn_within_ten_seconds_of_its_restart,
    a_permission_the_agent_no_longer_wants_is_gone_from_the_inbox_at_once,
    an_agent_that_is_stopped_leaves_no_permission_open,
    a_mention_cuts_a_turn_short_and_is_read_once,
    a_form_is_filled_in_at_the_command_line,
);

/// An answer that was given has to move the agent on within this time.
const AT_ONCE: Duration = Duration::from_secs(1);
/// An ask whose agent died is to be gone this long after its restart.
const AFTER_RESTART: Duration = Duration::from_secs(10);

async fn runner(world: &World) -> RunnerProcess {
    let runner = RunnerProcess::attached(world, "box", &[Profile::acp("bot")]).await;
    world.ok(&["agents", "start", "bot"]).await;
    ready(world, 1).await;
    runner
}

/// Everything of one kind that the agent wrote down.
fn noted(world: &World, what: &str) -> Vec<Value> {
    notes(world, "bot").into_iter().filter(|note| note["what"] == what).collect()
}

/// Waits for so many lives that have a conversation; the time the newest one began.
async fn ready(world: &World, lives: usize) {
    until("an agent with a conversation", async || {
        let talks = noted(world, "new").len() + noted(world, "load").len();
        (noted(world, "life").len() >= lives && talks >= lives).then_some(())
    })
    .await;
}

async fn noted_value(world: &World, what: &str) -> Value {
    until(what, async || Some(noted(world, what).pop()?["value"].clone())).await
}

/// Tells the agent something in its home channel.
async fn tell(world: &World, text: &str) {
    let home = world.home_channel("bot").await;
    world.person().await.post(write(&home, text)).await.unwrap();
}

/// Waits for the one ask in the person's inbox.
async fn open_ask(world: &World) -> Value {
    until("an open ask", async || world.json(&["asks"]).await.pop()).await["ask"].clone()
}

/// Waits until the person's inbox is empty.
async fn nothing_open(world: &World) {
    until("an empty inbox", async || world.json(&["asks"]).await.is_empty().then_some(())).await;
}

/// The ids of a life's processes: the core and the program.
fn processes(world: &World) -> (Pid, Pid) {
    let life = noted(world, "life").pop().unwrap();
    let pid = |value: &Value| Pid::from_raw(i32::try_from(value.as_i64().unwrap()).unwrap()).unwrap();
    (pid(&life["value"]["parent"]), pid(&life["pid"]))
}

async fn an_acp_agent_asks_and_a_later_life_of_it_reads_the_answer_and_prints_it(world: &mut World) {
    let _runner = runner(world).await;
    tell(world, "do:ask Which colour?").await;
    let ask = open_ask(world).await;
    assert_eq!(ask["questions"][0]["question"], "Which colour?");
    let called = noted_value(world, "called").await;
    assert!(!called["isError"].as_bool().unwrap_or_default(), "{called}");
    noted_value(world, "turn").await;
    kill_process(program_of(world, "bot").unwrap(), Signal::KILL).unwrap();
    ready(world, 2).await;
    assert_eq!(noted_value(world, "load").await, "talk", "its conversation goes on");

    let mut command = world.command();
    command.args(["agents", "logs", "bot"]);
    let (_logs, _stdin, stdout) = Process::spawn(&mut command);
    let mut lines = BufReader::new(stdout).lines();
    in_time("the first line of the log", lines.next_line()).await.unwrap();
    let id = ask["ask_id"].as_str().unwrap();
    world.ok(&["answer", "--ask", id, "--option", "colour=1"]).await;
    let mut shown = String::new();
    while !shown.contains("Blue") {
        shown.push_str(&in_time("the answer in the log", lines.next_line()).await.unwrap().unwrap());
    }
    world.nothing_owed("bot").await;
    let read =
        noted(world, "prompt").iter().filter(|note| note["value"].as_str().unwrap().contains("Blue")).count();
    assert_eq!(read, 1, "once");
}

async fn a_permission_is_answered_from_the_command_line_and_the_agent_goes_on_within_a_second(
    world: &mut World,
) {
    let _runner = runner(world).await;
    for (option, decided) in [("permission=0", "yes"), ("permission=1", "no")] {
        tell(world, "do:permission").await;
        let ask = open_ask(world).await;
        assert_eq!(ask["questions"][0]["question"], "Drop the table of orders");
        let before = noted(world, "permission").len();
        world.ok(&["answer", "--option", option]).await;
        let answered = Instant::now();
        let outcome = until("the permission", async || noted(world, "permission").get(before).cloned()).await;
        assert!(answered.elapsed() < AT_ONCE, "{:?}", answered.elapsed());
        assert_eq!(outcome["value"], decided);
        world.nothing_owed("bot").await;
    }
    let prompts = noted(world, "prompt");
    assert_eq!(prompts.len(), 2, "an answer that was taken is no prompt: {prompts:?}");
}

async fn a_permission_of_an_agent_that_died_is_withdrawn_within_ten_seconds_of_its_restart(
    world: &mut World,
) {
    let mut runner = runner(world).await;
    for (lives, killed) in (2..).zip(["program", "core", "runner"]) {
        tell(world, "do:permission").await;
        open_ask(world).await;
        let (core, program) = processes(world);
        match killed {
            "program" => kill_process(program, Signal::KILL).unwrap(),
            "core" => kill_process(core, Signal::KILL).unwrap(),
            _ => {
                runner.kill().await;
                runner.start(world);
            }
        }
        until("the next life", async || (noted(world, "life").len() >= lives).then_some(())).await;
        let restarted = Instant::now();
        nothing_open(world).await;
        assert!(restarted.elapsed() < AFTER_RESTART, "{killed}: {:?}", restarted.elapsed());
        ready(world, lives).await;
    }
    assert!(noted(world, "permission").is_empty(), "nothing was decided");
}

async fn a_permission_the_agent_no_longer_wants_is_gone_from_the_inbox_at_once(world: &mut World) {
    let _runner = runner(world).await;
    let file = world.home().join("bot.log.cancel");
    for order in ["do:cancel-permission", "do:leave-permission"] {
        let turns = noted(world, "turn").len();
        tell(world, order).await;
        let ask = open_ask(world).await;
        fs::write(&file, "").unwrap();
        until("the end of the turn", async || (noted(world, "turn").len() > turns).then_some(())).await;
        let gone = Instant::now();
        nothing_open(world).await;
        assert!(gone.elapsed() < AT_ONCE, "{order}: {:?}", gone.elapsed());
        let id = ask["ask_id"].as_str().unwrap();
        let late = world.run(&["answer", "--ask", id, "--option", "permission=0"]).await;
        assert_ne!(late.code, Some(0), "{late:?}");
        fs::remove_file(&file).unwrap();
    }
    assert_eq!(noted_value(world, "permission").await, "nothing");
}

async fn an_agent_that_is_stopped_leaves_no_permission_open(world: &mut World) {
    let _runner = runner(world).await;
    tell(world, "do:permission").await;
    open_ask(world).await;
    world.ok(&["agents", "stop", "bot"]).await;
    let stopped = Instant::now();
    nothing_open(world).await;
    assert!(stopped.elapsed() < AT_ONCE, "{:?}", stopped.elapsed());
}

async fn a_mention_cuts_a_turn_short_and_is_read_once(world: &mut World) {
    let _runner = runner(world).await;
    tell(world, "do:slow").await;
    until("the slow turn", async || (noted(world, "prompt").len() == 1).then_some(())).await;
    world.state("bot", "working").await;
    tell(world, "@bot look here").await;
    until("the mention", async || (noted(world, "prompt").len() == 2).then_some(())).await;
    let prompts = noted(world, "prompt");
    let second = prompts[1]["value"].as_str().unwrap();
    assert!(second.contains("look here") && second.contains("[interrupted "), "{second}");
    assert!(!second.contains("do:slow"), "{second}");
    assert_eq!(noted(world, "turn")[0]["value"], json!("cancelled"));
    world.nothing_owed("bot").await;
    tell(world, "canary").await;
    until("the canary", async || (noted(world, "prompt").len() == 3).then_some(())).await;
    assert!(noted(world, "prompt")[2]["value"].as_str().unwrap().contains("canary"));
}

async fn a_form_is_filled_in_at_the_command_line(world: &mut World) {
    let _runner = runner(world).await;
    tell(world, "do:elicit Which port?").await;
    let ask = open_ask(world).await;
    let question = &ask["questions"][0];
    assert!(question["question"].as_str().unwrap().contains("Which port?"), "{question}");
    let text = format!("{}=8080", question["question_id"].as_str().unwrap());
    world.ok(&["answer", "--text", &text]).await;
    let answered = Instant::now();
    let elicited = noted_value(world, "elicited").await;
    assert!(answered.elapsed() < AT_ONCE, "{:?}", answered.elapsed());
    assert_eq!(elicited, json!({ "action": "accept", "content": { "port": 8080 } }));
}
