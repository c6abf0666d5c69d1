//! Commands of people: post, an ask of their own, tail.

use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::support::{Process, Storage, World, in_time, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ask_of_a_person_says_at_posting_that_it_cannot_be_withdrawn() {
    let world = World::start(Storage::Sqlite).await.unwrap();
    let home = world.home_channel("bot").await;
    let ask = r#"{"questions":[{"question":"Lunch?","options":[{"label":"Yes"},{"label":"No"}]}]}"#;
    let done = world
        .run_with_input(&["post", "--channel", &home, "--topic", "Lunch", "--ask", "-", "Your turn"], ask)
        .await;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stderr.contains("cannot be withdrawn"), "{done:?}");
    let plain = world.run(&["post", "--channel", &home, "--topic", "Lunch", "no ask"]).await;
    assert!(plain.code == Some(0) && !plain.stderr.contains("withdrawn"), "{plain:?}");
    let open = world.json(&["asks"]).await;
    assert_eq!(open[0]["ask"]["questions"][0]["question"], "Lunch?");
    world.ok(&["answer", "--label", "0=Yes"]).await;
    let read = world.ok(&["read", "--channel", &home]).await;
    assert!(read.contains("Your turn") && read.contains("answered by @admin"), "{read}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tail_shows_what_is_posted_and_how_an_ask_ended() {
    let mut world = World::start(Storage::Sqlite).await.unwrap();
    let home = world.home_channel("bot").await;
    let mut command = world.command();
    command.args(["tail", "--json"]);
    let (_tail, _stdin, stdout) = Process::spawn(&mut command);
    let mut lines = BufReader::new(stdout).lines();
    let mut number = 0;
    // The tail is open when it shows a post; each look posts one more.
    until("an open tail", async || {
        number += 1;
        let text = format!("knock {number}");
        world.ok(&["post", "--channel", &home, "--topic", "Talk", &text]).await;
        tokio::time::timeout(std::time::Duration::from_millis(300), lines.next_line()).await.ok()
    })
    .await
    .unwrap()
    .unwrap();
    let (_, ask) = world.ask("bot", "tailed").await;
    world.ok(&["answer", "--ask", &ask.ask_id, "--option", "go=0"]).await;
    let mut shown = String::new();
    while !shown.contains("message_updated") || !shown.contains("ask_answer") {
        shown.push_str(&in_time("a line of the tail", lines.next_line()).await.unwrap().unwrap());
    }
    assert!(shown.contains(&ask.ask_id), "{shown}");
    world.restart_server().await;
    world.ok(&["post", "--channel", &home, "--topic", "Talk", "after the restart"]).await;
    while !shown.contains("after the restart") {
        shown.push_str(&in_time("a line after the restart", lines.next_line()).await.unwrap().unwrap());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn topics_are_changed_searched_and_marked_as_read_from_the_command_line() {
    let world = World::start(Storage::Sqlite).await.unwrap();
    let home = world.home_channel("bot").await;
    for (topic, text) in [("Plan", "the anchor holds"), ("Ideas", "a second anchor"), ("Ideas", "chains")] {
        world.ok(&["post", "--channel", &home, "--topic", topic, text]).await;
    }
    world.ask("bot", "rope").await;
    let found = world.json(&["search", "anchors -second"]).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["blocks"][0]["text"], "the anchor holds");
    let shown = world.ok(&["search", "--channel", &home, "anchor or chain"]).await;
    assert!(
        shown.contains("a second anchor") && shown.contains("Ideas") && shown.contains("chains"),
        "{shown}"
    );
    assert_eq!(world.ok(&["search", "nowhere"]).await.trim(), "nothing found");

    let target = ["--channel", &home, "--topic"];
    let change = async |what: &str, topic: &str, more: &[&str]| {
        let mut command = vec!["topics", what];
        command.extend(target);
        command.push(topic);
        command.extend(more);
        world.json(&command).await.remove(0)
    };
    assert_eq!(change("rename", "plan", &["Course"]).await["name"], "Course");
    assert_eq!(change("archive", "Course", &[]).await["archived"], true);
    let listed = world.json(&["topics", "--channel", &home]).await;
    assert!(listed.iter().all(|topic| topic["name"] != "Course"), "{listed:?}");
    assert_eq!(change("revive", "Course", &[]).await["archived"], false);
    let joined = change("rename", "Course", &["IDEAS"]).await;
    assert_eq!((&joined["name"], &joined["message_count"]), (&"Ideas".into(), &3.into()));
    let refused = world.run(&["topics", "rename", "--channel", &home, "--topic", "Course", "x"]).await;
    assert!(refused.code == Some(2) && refused.stderr.contains("no topic"), "{refused:?}");

    let unread = async || {
        let listed = world.json(&["topics", "--channel", &home]).await;
        listed.iter().map(|topic| topic["read"]["unread_count"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(unread().await, 1, "the agent's ask");
    world.ok(&["read", "--channel", &home, "--mark"]).await;
    assert_eq!(unread().await, 0);
    let table = world.ok(&["topics", "--channel", &home]).await;
    assert!(table.contains("0 unread"), "{table}");
}
