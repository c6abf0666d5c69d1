//! Commands that start, list, follow and end agents.

use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::support::{Attach, Process, Storage, World, in_time, until};

const PROMPT: &str = include_str!("../../../../adapters/harness/tests/data/hooks/user-prompt-submit.json");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_of_another_agent_than_the_one_that_is_named_is_refused() {
    let world = World::start(Storage::Sqlite).await.unwrap();
    world.ok(&["agent", "create", "other"]).await;
    world
        .ok(&["post", "--channel", &world.home_channel("other").await, "--topic", "t", "for the other"])
        .await;
    let token = world.agent_token("other");
    let says = |told: &str| {
        assert!(told.contains("is that of \"other\"") && told.contains("names \"bot\""), "{told}");
    };
    for command in [["agent", "attach"], ["agent", "mcp"]] {
        let done = world.run(&[&command[..], &["--agent", "bot", "--token", &token]].concat()).await;
        assert_eq!(done.code, Some(2), "{command:?}: {done:?}");
        says(&done.stderr);
    }
    let asked = ["ask", "Ship?", "--option", "Yes", "--topic", "t", "--agent", "bot", "--token", &token];
    let asked = world.run(&asked).await;
    assert_eq!(asked.code, Some(2), "{asked:?}");
    says(&asked.stderr);
    let hook = ["agent", "hook", "--agent", "bot", "--token", &token];
    let done = world.run_with_input(&hook, PROMPT).await;
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""), "{done:?}");
    says(&done.stderr);
    let own = ["agent", "hook", "--agent", "other", "--token", &token];
    let done = world.run_with_input(&own, PROMPT).await;
    assert!(done.stdout.contains("for the other"), "{done:?}");
    assert!(world.json(&["asks"]).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_live_agent_is_listed_followed_and_ended() {
    let world = World::start(Storage::Sqlite).await.unwrap();
    let none = world.run(&["agents", "start", "bot"]).await;
    assert_eq!(none.code, Some(5), "{none:?}");
    assert!(none.stderr.contains("no runner is attached"), "{none:?}");
    assert_eq!(world.run(&["agents", "logs", "bot"]).await.code, Some(2), "it is not running");
    assert_eq!(world.ok(&["agents", "status"]).await.lines().count(), 1, "the headings alone");
    assert!(world.ok(&["agents", "stop", "bot"]).await.contains("was not running"));

    let mut bot = Attach::start(&world, "bot").await;
    // The program may know its session before the server has heard that it runs.
    let listed = until("the session in the list", async || {
        world.json(&["agents", "status", "bot"]).await.first().cloned()
    })
    .await;
    assert_eq!(listed["session_id"], bot.session, "{listed:?}");
    let mut command = world.command();
    command.args(["agents", "logs", "bot", "--json"]);
    let (_logs, _stdin, stdout) = Process::spawn(&mut command);
    let mut lines = BufReader::new(stdout).lines();
    let first = in_time("the first line", lines.next_line()).await.unwrap().unwrap();
    let first: serde_json::Value = serde_json::from_str(&first).unwrap();
    assert!(first["state"].is_string() && first["event"].is_null(), "{first}");
    world.ok(&["agents", "stop", "bot"]).await;
    bot.line("stopped").await;
    let mut last = first;
    while let Some(line) = in_time("the end of the log", lines.next_line()).await.unwrap() {
        last = serde_json::from_str(&line).unwrap();
    }
    assert_eq!(last["state"], "stopped");
    let gone = world.run(&["agents", "remove", "bot"]).await;
    assert_eq!(gone.code, Some(5), "it has no place on a runner: {gone:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_administrator_ends_an_agent_that_it_takes_no_part_with() {
    let world = World::start(Storage::Sqlite).await.unwrap();
    let told = world.ok(&["user", "create", "eve"]).await;
    let secret = told.split_whitespace().last().unwrap();
    let eve = tempfile::tempdir().unwrap();
    let as_eve = |arguments: &[&str]| {
        let mut command = world.command();
        command.env("HOME", eve.path()).args(arguments);
        command
    };
    for arguments in [["login", secret].as_slice(), &["agent", "create", "hers"]] {
        assert!(as_eve(arguments).output().await.unwrap().status.success(), "{arguments:?}");
    }
    let (_attached, _stdin, _stdout) = Process::spawn(&mut as_eve(&["agent", "attach", "--agent", "hers"]));
    let sessions = async || {
        let rows = world.json(&["agents"]).await;
        rows.iter().find(|row| row["handle"] == "hers").unwrap()["sessions"].as_array().unwrap().len()
    };
    until("the session", async || (sessions().await == 1).then_some(())).await;
    assert_eq!(world.ok(&["agents", "status"]).await.lines().count(), 1, "it is not watched");
    assert!(world.ok(&["agents", "stop", "@hers"]).await.contains("stopped"));
    until("the end", async || (sessions().await == 0).then_some(())).await;
    let other = as_eve(&["agents", "stop", "bot"]).output().await.unwrap();
    assert_eq!(other.status.code(), Some(2), "a stranger sees nothing to stop");
}
