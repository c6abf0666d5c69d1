//! `compass ask`: its exit codes, and what is left when it is killed, interrupted or out of time.

use std::{
    fs::{self, File},
    os::unix::fs::symlink,
    process::Stdio,
};

use compass_client::{Page, model::AskState};
use rustix::process::Signal;
use serde_json::Value;
use tokio::process::Command;

use crate::support::{
    Done, Mcp, PATIENCE, Running, Storage, World, choose, in_time, on_both, open_ask, program, skip, until,
};

on_both!(
    a_killed_ask_resumes_the_same_ask_under_its_key,
    an_ask_that_waits_outlives_a_restart_of_the_server,
    the_answer_that_was_printed_is_acknowledged_and_owed_no_more,
);

const WAIT: &[&str] = &["ask", "--wait", "--json", "--option", "Yes", "--option", "No", "--key", "k1", "Go?"];

async fn answer(world: &World, ask_id: &str, option: &str) {
    world.ok(&["answer", "--ask", ask_id, "--option", &format!("0={option}")]).await;
}

fn json(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"))
}

/// True if a process has a handler of its own for a signal; elsewhere than on Linux nobody can tell.
fn handles(pid: u32, signal: Signal) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else { return true };
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
    u64::from_str_radix(caught, 16).unwrap() >> (signal.as_raw() - 1) & 1 == 1
}

/// How the asks of the agent's home channel stand, newest first.
async fn states(world: &World) -> Vec<AskState> {
    let messages = world.agent("bot").await.agent_messages(None, None, &Page::default()).await.unwrap();
    messages.iter().flat_map(compass_client::model::Message::asks).map(|ask| ask.state).collect()
}

async fn a_killed_ask_resumes_the_same_ask_under_its_key(world: &mut World) {
    let first = Running::start(world, WAIT);
    let ask_id = open_ask(world).await;
    first.signal(Signal::KILL);
    assert_eq!(first.done().await.code, None);
    let resumed = Running::start(world, WAIT);
    answer(world, &ask_id, "1").await;
    let done = resumed.done().await;
    assert_eq!(done.code, Some(0), "{done:?}");
    let end = json(&done);
    assert_eq!((&end["ask_id"], &end["state"]), (&ask_id.into(), &"answered".into()));
    assert_eq!(end["questions"][0]["chosen"][0]["label"], "No");
    assert_eq!(states(world).await, [AskState::Answered], "it was asked once");
    // Once more after the end: the same end, from the ask's own state.
    let again = world.run(WAIT).await;
    assert_eq!((again.code, json(&again)), (Some(0), end));
}

async fn an_ask_that_waits_outlives_a_restart_of_the_server(world: &mut World) {
    let waiting = Running::start(world, WAIT);
    let ask_id = open_ask(world).await;
    world.restart_server().await;
    answer(world, &ask_id, "0").await;
    let done = waiting.done().await;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(json(&done)["questions"][0]["chosen"][0]["option_id"], "0");
}

async fn the_answer_that_was_printed_is_acknowledged_and_owed_no_more(world: &mut World) {
    let waiting = Running::start(world, WAIT);
    let ask_id = open_ask(world).await;
    answer(world, &ask_id, "0").await;
    assert_eq!(waiting.done().await.code, Some(0));
    let owed = world.agent("bot").await.fetch(0, None).await.unwrap().deliveries;
    assert!(owed.is_empty(), "{owed:?}");
}

/// Runs a command with the outputs it was given.
async fn ended(mut command: Command) -> Done {
    in_time("the end", command.spawn().unwrap().wait_with_output()).await.unwrap().into()
}

async fn world() -> World {
    World::start(Storage::Sqlite).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_0_without_wait_says_what_was_asked_and_under_which_key() {
    let world = world().await;
    let posted = world.json(&["ask", "Go?", "--key", "k2"]).await;
    assert_eq!((&posted[0]["state"], &posted[0]["key"]), (&"open".into(), &"k2".into()));
    assert_eq!(posted[0]["ask_id"], open_ask(&world).await);
    let text = world.ok(&["ask", "Go?", "--key", "k2"]).await;
    assert!(text.contains(&open_ask(&world).await) && text.contains("k2"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_0_for_an_ask_of_which_everything_was_skipped_and_the_output_says_so() {
    let world = world().await;
    let waiting = Running::start(&world, WAIT);
    let ask_id = open_ask(&world).await;
    world.person().await.answer(&ask_id, vec![skip("0")]).await.unwrap();
    let done = waiting.done().await;
    assert_eq!(done.code, Some(0), "{done:?}");
    let end = json(&done);
    assert_eq!((&end["all_skipped"], &end["questions"][0]["skipped"]), (&true.into(), &true.into()));
    let text = world.ok(&["ask", "--wait", "--option", "Yes", "--option", "No", "--key", "k1", "Go?"]).await;
    assert!(text.contains("skipped"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_2_for_wrong_usage_and_nothing_is_asked() {
    let world = world().await;
    for arguments in [
        &["ask"][..],
        &["ask", " "],
        &["ask", "Go?", "--file", "ask.json"],
        &["ask", "Go?", "--option", "Yes", "--recommended", "2"],
        &["ask", "Go?", "--timeout", "3"],
        // An unset variable of a script: without a key every look would ask anew.
        &["ask", "Go?", "--wait", "--timeout", "3", "--key", ""],
        &["ask", "--file", "there-is-no-such-file.json"],
        &["ask", "Go?", "--url", "localhost"],
    ] {
        let done = world.run(arguments).await;
        assert_eq!(done.code, Some(2), "{arguments:?}: {done:?}");
        assert!(!done.stderr.is_empty() && done.stdout.is_empty(), "{done:?}");
    }
    for input in ["", "[]", "{\"questions\":[]}", "{\"questions\":[{\"question\":\"a\\ud800\"}]}", "\u{0}"] {
        let done = world.run_with_input(&["ask", "--file", "-"], input).await;
        assert_eq!(done.code, Some(2), "{input:?}: {done:?}");
    }
    assert!(states(&world).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_3_when_the_time_is_up_and_the_ask_stays_open() {
    let world = world().await;
    let done = world.run(&["ask", "--wait", "--timeout", "0", "Go?"]).await;
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stderr.contains("still open"), "{done:?}");
    assert_eq!(states(&world).await, [AskState::Open]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_4_for_an_ask_that_was_withdrawn_meanwhile_or_by_its_own_time_out() {
    let world = world().await;
    let waiting = Running::start(&world, WAIT);
    let ask_id = open_ask(&world).await;
    world.agent("bot").await.agent_cancel_ask(&ask_id).await.unwrap();
    let done = waiting.done().await;
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_eq!(json(&done)["state"], "cancelled");
    let done = world.run(&["ask", "--wait", "--timeout", "0", "--withdraw", "Later?"]).await;
    assert_eq!(done.code, Some(4), "{done:?}");
    assert!(done.stderr.contains("withdrawn"), "{done:?}");
    assert_eq!(states(&world).await, [AskState::Cancelled; 2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_is_gone_makes_no_answer_of_a_withdrawal_and_loses_none() {
    let world = world().await;
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let unread = async |arguments: &[&str]| {
        let mut command = world.command();
        command.args(arguments).stdin(Stdio::null()).stdout(writer.try_clone().unwrap());
        command.stderr(Stdio::piped());
        ended(command).await
    };
    for json in [&[][..], &["--json"]] {
        let withdrawn = ["ask", "--wait", "--timeout", "0", "--withdraw", "Later?"];
        let done = unread(&[&withdrawn[..], json].concat()).await;
        assert_eq!(done.code, Some(4), "{done:?}");
    }
    world.ok(&["ask", "--option", "Yes", "--option", "No", "--key", "k1", "Go?"]).await;
    answer(&world, &open_ask(&world).await, "1").await;
    let done = unread(WAIT).await;
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stderr.contains("the answer was not acknowledged"), "{done:?}");
    assert_eq!(world.agent("bot").await.fetch(0, None).await.unwrap().deliveries.len(), 1);
    assert_eq!(world.run(WAIT).await.code, Some(0));
    world.nothing_owed("bot").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reason_that_cannot_be_written_leaves_the_code_as_it_is() {
    let world = world().await;
    for (arguments, code) in [
        (&["ask", "--wait", "--timeout", "0", "Go?"][..], 3),
        (&["ask", "--wait", "--timeout", "0", "--withdraw", "Go?"], 4),
        (&["ask", "Go?", "--channel", "nowhere"], 5),
    ] {
        let mut command = world.command();
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(File::options().write(true).open("/dev/full").unwrap());
        let done = ended(command).await;
        assert_eq!(done.code, Some(code), "{arguments:?}: {done:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_5_when_the_server_refuses() {
    let world = world().await;
    for arguments in [
        &["ask", "Go?", "--channel", "nowhere"][..],
        &["ask", "Go?", "--topic", ""],
        &["ask", "Go?", "--token", "nonsense"],
    ] {
        let done = world.run(arguments).await;
        assert_eq!(done.code, Some(5), "{arguments:?}: {done:?}");
    }
    world.ok(&["ask", "Go?", "--key", "k"]).await;
    let done = world.run(&["ask", "Stop?", "--key", "k"]).await;
    assert_eq!(done.code, Some(5), "{done:?}");
    assert!(done.stderr.contains("already_exists"), "{done:?}");
    assert_eq!(states(&world).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_6_when_there_is_no_server() {
    let mut world = world().await;
    world.kill_server().await;
    let done = world.run(&["ask", "Go?"]).await;
    assert_eq!(done.code, Some(6), "{done:?}");
    let done = world.run(&["ask", "Go?", "--wait", "--timeout", "1"]).await;
    assert_eq!(done.code, Some(6), "{done:?}");
    world.serve().await;
    assert!(states(&world).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupt_leaves_the_ask_open_and_prints_a_command_that_resumes_it() {
    for signal in [Signal::INT, Signal::TERM] {
        interrupted(signal).await;
    }
}

async fn interrupted(signal: Signal) {
    let world = world().await;
    let waiting = Running::start(&world, &["ask", "--wait", "--json", "It's time; go?", "--option", "$HOME"]);
    let ask_id = open_ask(&world).await;
    // It is waited for once it looks at its signals.
    let pid = waiting.pid();
    until("a handler of the signal", async || handles(pid, signal).then_some(())).await;
    waiting.signal(signal);
    let done = waiting.done().await;
    assert_eq!(done.code, Some(3), "{done:?}");
    assert_eq!(open_ask(&world).await, ask_id);
    let (_, resume) = done.stderr.split_once("resume it with: ").unwrap_or_else(|| panic!("{done:?}"));
    // A person pastes it into a shell that knows the program by its name.
    symlink(program(), world.home().join("compass")).unwrap();
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", resume]).env_clear().env("PATH", world.home()).env("HOME", world.home());
    let resumed = Running::spawn(shell);
    answer(&world, &ask_id, "0").await;
    let done = resumed.done().await;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(json(&done)["ask_id"], *ask_id);
    assert_eq!(json(&done)["questions"][0]["chosen"][0]["label"], "$HOME");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_without_a_configured_agent_is_told_about_the_flag_that_makes_one() {
    let mut world = World::bare(Storage::Sqlite).await.unwrap();
    world.serve().await;
    let done = world.run(&["ask", "--agent", "new-bot", "Go?"]).await;
    assert_eq!(done.code, Some(2), "nobody is signed in: {done:?}");
    assert!(done.stderr.contains("compass login"), "{done:?}");
    let file = world.data_dir().join("sign-in");
    world.ok(&["login", "--sign-in-file", file.to_str().unwrap()]).await;
    let done = world.run(&["ask", "Go?"]).await;
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("--agent"), "{done:?}");
    world.ok(&["ask", "--agent", "new-bot", "Go?"]).await;
    let listed = world.json(&["asks"]).await;
    assert_eq!(listed.len(), 1);
    // It is the default from now on.
    world.ok(&["ask", "And now?"]).await;
    let person = world.person().await;
    for entry in person.open_asks(None, &Page::default()).await.unwrap() {
        let ask = entry.message.asks().next().unwrap().clone();
        let refused = person.answer(&ask.ask_id, choose("0")).await.unwrap_err();
        assert_eq!(refused.code(), "invalid_argument", "an answer to another question");
        person.answer(&ask.ask_id, vec![skip("0")]).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_at_a_terminal_without_an_agent_is_asked_once_to_create_one() {
    let mut world = World::bare(Storage::Sqlite).await.unwrap();
    world.serve().await;
    let file = world.data_dir().join("sign-in");
    world.ok(&["login", "--sign-in-file", file.to_str().unwrap()]).await;
    let asked = |answer: Option<&'static str>| {
        let mut command = world.command();
        command.args(["ask", "Go?", "--key", "k"]);
        tokio::task::spawn_blocking(move || {
            let patience = u64::try_from(PATIENCE.as_millis()).unwrap();
            let mut terminal = rexpect::session::spawn_command(command.into_std(), Some(patience)).unwrap();
            if let Some(answer) = answer {
                terminal.exp_string("No agent is set up yet").unwrap();
                terminal.send_line(answer).unwrap();
            }
            let rest = terminal.exp_eof().unwrap();
            (format!("{:?}", terminal.process_mut().wait().unwrap()), rest)
        })
    };
    let (status, rest) = asked(Some("")).await.unwrap();
    assert!(status.ends_with(", 2)") && rest.contains("nothing was asked"), "{status}: {rest}");
    let (status, rest) = asked(Some("my-bot")).await.unwrap();
    assert!(status.ends_with(", 0)") && rest.contains("posted ask"), "{status}: {rest}");
    let (status, rest) = asked(None).await.unwrap();
    assert!(status.ends_with(", 0)") && rest.contains("posted ask"), "asked once: {status}: {rest}");
    assert_eq!(world.json(&["asks"]).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_leave_an_answer_to_the_ask_that_waits_until_it_is_gone() {
    let world = world().await;
    let mut mcp = Mcp::start(&world, "bot").await;
    let status = || serde_json::json!({ "activity": "here" });
    let waits = async || {
        until("the wait in the journal", async || {
            let agents = world.home().join(".local/state/compass/agents");
            let agent = fs::read_dir(agents).ok()?.next()?.ok()?.path();
            fs::read_dir(agent.join("waits")).ok()?.next()?.ok().map(|_| agent.join("lock"))
        })
        .await
    };
    let waiting = Running::start(&world, WAIT);
    let ask_id = open_ask(&world).await;
    // A process that is stopped while it holds the journal's lock would keep everybody out.
    File::open(waits().await).unwrap().lock().unwrap();
    waiting.signal(Signal::STOP);
    answer(&world, &ask_id, "1").await;
    let said = mcp.call("compass_set_status", status()).await.ok();
    assert!(!said.contains(&ask_id), "it is left to the ask: {said}");
    waiting.signal(Signal::CONT);
    assert_eq!(waiting.done().await.code, Some(0));
    let said = mcp.call("compass_set_status", status()).await.ok();
    assert!(!said.contains(&ask_id), "it was printed: {said}");
    world.nothing_owed("bot").await;
    // One that is killed leaves its answer to the others.
    let other = ["ask", "--wait", "--option", "Yes", "--option", "No", "Once more?"];
    let killed = Running::start(&world, &other);
    let ask_id = open_ask(&world).await;
    waits().await;
    killed.signal(Signal::KILL);
    assert_eq!(killed.done().await.code, None);
    answer(&world, &ask_id, "0").await;
    let said = mcp.call("compass_set_status", status()).await.ok();
    assert!(said.contains(&ask_id), "{said}");
    mcp.close().await;
}
