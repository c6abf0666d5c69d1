//! Commands about agents and people: roster, status, accounts; and what the program says of itself.

use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::support::{Process, Storage, World, in_time};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_status_that_is_set_is_shown_in_the_roster_and_a_watched_one_prints_what_changes() {
    let world = World::start(Storage::Sqlite).await.unwrap();
    world.ok(&["agent", "create", "child", "--parent", "bot"]).await;
    let mut command = world.command();
    command.args(["roster", "--watch", "--json"]);
    let (_watch, _stdin, stdout) = Process::spawn(&mut command);
    let mut lines = BufReader::new(stdout).lines();
    let mut next = async |what: &str| {
        let line = in_time(what, lines.next_line()).await.unwrap().unwrap();
        serde_json::from_str::<serde_json::Value>(&line).unwrap()
    };
    let first = [next("the first agent").await, next("the second agent").await];
    assert_eq!([&first[0]["handle"], &first[1]["handle"]], ["bot", "child"]);
    assert!(
        first.iter().all(|entry| entry["presence"] == "offline" && entry["activity"].is_null()),
        "{first:?}"
    );

    world.ok(&["status", "--agent", "bot", "reading the logs"]).await;
    let changed = next("the change").await;
    assert_eq!((&changed["handle"], &changed["activity"]), (&"bot".into(), &"reading the logs".into()));
    let shown = world.ok(&["status", "--agent", "bot"]).await;
    assert!(shown.starts_with("@bot  offline  reading the logs  "), "{shown}");

    let table = world.ok(&["roster"]).await;
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0][..2], ["AGENT", "PRESENCE"]);
    assert_eq!(rows[1][..5], ["@bot", "offline", "reading", "the", "logs"]);
    assert_eq!(rows[2], ["@child", "offline", "@bot"]);
    let below = world.json(&["roster", "--scope", "subtree", "--agent", "child"]).await;
    assert_eq!(below.len(), 1, "{below:?}");

    let long = "x".repeat(141);
    world.ok(&["status", "--agent", "child", &long]).await;
    let cut = next("the second change").await;
    assert_eq!(cut["activity"], "x".repeat(140), "the server cuts");
    let refused = world.run(&["status", "--agent", "nobody"]).await;
    assert_eq!(refused.code, Some(2), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn accounts_completions_and_manual_pages_are_printed() {
    let world = World::start(Storage::Sqlite).await.unwrap();
    let accounts = world.ok(&["accounts"]).await;
    let bot = accounts.lines().find(|line| line.starts_with("@bot")).unwrap();
    assert!(bot.contains("agent") && bot.contains("@admin"), "{accounts}");
    for shell in ["bash", "zsh", "fish"] {
        let script = world.ok(&["completions", shell]).await;
        assert!(script.contains("compass") && script.contains("roster"), "{shell}: {script}");
    }
    let page = world.ok(&["man"]).await;
    assert!(page.contains(".TH compass 1"), "{page}");
}
