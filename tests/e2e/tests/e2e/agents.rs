//! Commands that start, list, follow and end agents.

use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::support::{Attach, Process, Storage, World, in_time, until};

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
