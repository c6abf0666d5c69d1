//! Commands about groups, channels, direct conversations and the tree.

use crate::support::{Storage, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_channels_and_their_members_are_made_and_changed_from_the_command_line() {
    let world = World::start(Storage::Sqlite).await.unwrap();
    let created = world.ok(&["groups", "create", "teams", "--shared"]).await;
    assert!(created.starts_with("created group teams, id "), "{created}");
    world.ok(&["groups", "create", "inner", "--parent", "teams"]).await;
    let groups = world.ok(&["groups"]).await;
    assert!(groups.contains("shared  @admin") && groups.contains("teams / inner"), "{groups}");
    let group = &world.json(&["groups"]).await[1];
    assert_eq!((group["name"].as_str(), group["shared"].as_bool()), (Some("teams"), Some(true)));

    let channel = &world.json(&["channels", "create", "news", "--group", "teams"]).await[0];
    assert_eq!(channel["group_id"], group["id"]);
    let subscribed = world.ok(&["channels", "members", "news", "--subscribe", "@bot"]).await;
    assert!(subscribed.contains("subscribed      @bot"), "{subscribed}");
    let renamed = &world.json(&["channels", "members", "news", "--rename", "latest"]).await[0];
    assert_eq!(renamed["name"], "latest");
    let members = world.ok(&["channels", "members", "latest"]).await;
    assert!(members.contains("not subscribed  @admin"), "{members}");
    let policy = world.ok(&["channels", "policy", "latest", "--owner", "admin", "--mandatory"]).await;
    assert!(policy.contains("#latest  owner posts  mandatory"), "{policy}");
    let listed = world.ok(&["channels"]).await;
    assert!(listed.contains("teams / #latest"), "{listed}");
    let optional = &world.json(&["channels", "policy", "latest", "--optional"]).await[0];
    assert!(optional["owner_account_id"].is_string(), "what is not named stays: {optional}");
    assert_eq!(optional["mandatory_subscription"], false);
    let unchanged = world.run(&["channels", "policy", "latest"]).await;
    assert!(unchanged.code == Some(2), "{unchanged:?}");

    world.ok(&["post", "--channel", "latest", "--topic", "t", "pin me"]).await;
    let message = world.json(&["read", "--channel", "latest"]).await[0]["id"].as_str().unwrap().to_owned();
    let board = world.ok(&["channels", "pin", "latest", &message]).await;
    assert_eq!(board.trim(), format!("1  {message}"));
    let again = world.run(&["channels", "pin", "latest", &message]).await;
    assert!(again.code == Some(5) && again.stderr.contains("already pinned"), "{again:?}");
    assert_eq!(world.ok(&["channels", "pin", "latest", &message, "--off"]).await.trim(), "");
    let unseen = world.run(&["channels", "join", "nothing"]).await;
    assert!(unseen.code == Some(2), "{unseen:?}");
    let joined = world.ok(&["channels", "join", "latest"]).await;
    assert!(joined.contains("#latest"), "{joined}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_are_moved_and_conversations_opened_from_the_command_line() {
    let world = World::start(Storage::Sqlite).await.unwrap();
    world.ok(&["agent", "create", "lead"]).await;
    let moved = world.ok(&["agent", "move", "bot", "--under", "@lead"]).await;
    assert_eq!(moved.trim(), "@bot reports to @lead");
    let cycle = world.run(&["agent", "move", "lead", "--under", "bot"]).await;
    assert!(cycle.code == Some(5) && cycle.stderr.contains("below itself"), "{cycle:?}");
    let root = world.json(&["agent", "move", "bot", "--root"]).await;
    assert!(root[0]["parent_agent_id"].is_null(), "{root:?}");
    let tree = world.ok(&["channels", "create", "floor", "--tree", "lead"]).await;
    assert!(tree.contains("#floor  tree"), "{tree}");

    world.ok(&["user", "create", "ben"]).await;
    let opened = world.ok(&["dm", "@ben", "Lunch?"]).await;
    assert!(opened.starts_with("opened #dm:admin:ben, id ") && opened.contains("posted, id "), "{opened}");
    let again = world.json(&["dm", "ben"]).await;
    assert_eq!(
        (again[0]["created"].as_bool(), again[0]["channel"]["kind"].as_str()),
        (Some(false), Some("dm"))
    );
    let read = world.ok(&["read", "--channel", "dm:admin:ben"]).await;
    assert!(read.contains("Lunch?"), "{read}");
    let third = world.run(&["channels", "members", "dm:admin:ben", "--add", "lead"]).await;
    assert!(third.code == Some(5) && third.stderr.contains("new_name"), "{third:?}");
}
