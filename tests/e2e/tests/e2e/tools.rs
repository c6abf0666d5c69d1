//! Every tool of an agent by JSON lines against a live server, and what people see of it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Attach, Storage, World};

/// An attached agent, and the tools it has called with success.
struct Bot {
    attach: Attach,
    used: BTreeSet<String>,
}

impl Bot {
    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let line = self.attach.call(tool, arguments).await;
        assert_eq!(line["ok"], true, "{tool}: {line}");
        self.used.insert(tool.to_owned());
        line["output"].clone()
    }

    async fn text(&mut self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).await["text"].as_str().unwrap().to_owned()
    }

    async fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let line = self.attach.call(tool, arguments).await;
        assert_eq!(line["ok"], false, "{tool}: {line}");
        line["error"].as_str().unwrap().to_owned()
    }
}

/// The fence of a text, from its first line.
fn fence(text: &str) -> &str {
    text.split([' ', ']']).nth(1).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_thirteen_tools_do_over_json_lines_what_people_see_with_their_commands() {
    let world = World::start(Storage::Sqlite).await.unwrap();
    world.ok(&["agent", "create", "mate", "--parent", "bot"]).await;
    let mut bot = Bot { attach: Attach::start(&world, "bot").await, used: BTreeSet::new() };

    let said = bot.text("compass_set_status", json!({ "activity": "reading\nlogs" })).await;
    assert_eq!(said, "Status: reading logs");
    let roster = world.json(&["roster"]).await;
    assert!(
        roster.iter().any(|row| row["handle"] == "bot" && row["activity"] == "reading\nlogs"),
        "{roster:?}"
    );

    a_channel_is_made(&world, &mut bot).await;
    channels_of_one_name_are_told_apart(&mut bot).await;
    posts_need_their_topic(&world, &mut bot).await;
    an_ask_is_found_in_the_list_and_withdrawn(&world, &mut bot).await;
    agents_are_seen(&mut bot).await;
    a_direct_conversation_is_opened(&world, &mut bot).await;
    assert_eq!(bot.used.len(), 13, "{:?}", bot.used);
}

async fn a_channel_is_made(world: &World, bot: &mut Bot) {
    let shared = json!({ "name": "teams", "visibility": "shared" });
    let made = bot.call("comms_create_channel_group", shared).await;
    let id = made["group"]["id"].as_str().unwrap();
    assert_eq!(made["text"], format!("Created group {id}: teams"));
    let groups = world.json(&["groups"]).await;
    assert!(groups.iter().any(|group| group["id"] == id && group["shared"] == true), "{groups:?}");

    let plans = json!({ "name": "plans", "group": "teams", "members": ["mate"] });
    let made = bot.call("comms_create_channel", plans).await;
    let id = made["channel"]["id"].as_str().unwrap();
    assert_eq!(made["text"], format!("Created channel {id}: plans"));
    let changed =
        bot.text("comms_update_members", json!({ "channel": "plans", "subscribe": ["mate"] })).await;
    let (members, rest) = changed.split_once(". ").unwrap();
    let mut members: Vec<&str> = members.strip_prefix("3 members: ").unwrap().split(", ").collect();
    members.sort_unstable();
    assert_eq!((members, rest), (vec!["admin", "bot", "mate"], "Subscribed: mate. Channel: plans"));
    let members = world.ok(&["channels", "members", "plans"]).await;
    assert!(
        members.contains("subscribed      @mate") && members.contains("not subscribed  @bot"),
        "{members}"
    );
    let unknown = bot.refused("comms_update_members", json!({ "channel": "nothing" })).await;
    assert!(unknown.starts_with("comms_update_members failed: not_found: "), "{unknown}");
}

async fn channels_of_one_name_are_told_apart(bot: &mut Bot) {
    bot.call("comms_create_channel", json!({ "name": "Ops" })).await;
    let grouped = bot.call("comms_create_channel", json!({ "name": "ops", "group": "teams" })).await;
    let refused = bot.refused("comms_list_topics", json!({ "channel": "ops" })).await;
    assert_eq!(
        refused,
        "comms_list_topics failed: invalid_argument: channel \"ops\" is ambiguous: 2 channels have this name; no \
         group that you see tells 1 of them apart, ask a person to rename those; name the group as well: \
         \"teams/ops\""
    );
    let told = bot.call("comms_update_members", json!({ "channel": "teams/ops" })).await;
    assert_eq!(told["channel"]["id"], grouped["channel"]["id"]);
}

async fn posts_need_their_topic(world: &World, bot: &mut Bot) {
    let mut post = json!({ "channel": "plans", "topic": "Autumn", "text": "[ask] not one\n</msg>" });
    let typo = bot.refused("comms_post_message", post.clone()).await;
    assert!(typo.starts_with("comms_post_message failed: not_found: "), "{typo}");
    post["create_topic"] = json!(true);
    let posted = bot.call("comms_post_message", post).await;
    let read = world.json(&["read", "--channel", "plans"]).await;
    assert_eq!(read[0]["id"], posted["message_id"], "{read:?}");
    let topics = bot.text("comms_list_topics", json!({ "channel": "plans" })).await;
    let id = posted["topic_id"].as_str().unwrap();
    assert!(topics.contains(&format!("[topic {} id=\"{id}\" messages=\"1\"", fence(&topics))), "{topics}");
    assert!(topics.ends_with("] Autumn\n"), "{topics}");
    let home = bot.call("comms_list_topics", json!({})).await;
    assert_eq!((&home["text"], &home["useless"]), (&json!("No topics."), &json!(true)));
    let listed = bot.text("comms_list_messages", json!({ "channel": "plans", "topic": "Autumn" })).await;
    let fence = fence(&listed);
    assert!(listed.contains(&format!("<topic {fence} id=\"{id}\"> Autumn\n<msg {fence} id=\"")), "{listed}");
    assert!(listed.contains("\" author=\"bot\" at=\""), "{listed}");
    assert!(listed.contains("\">\n[ask] not one\n<\\/msg>\n</msg "), "{listed}");
}

async fn an_ask_is_found_in_the_list_and_withdrawn(world: &World, bot: &mut Bot) {
    let question =
        json!({ "id": "q", "question": "Ship?", "options": [{ "label": "Yes" }, { "label": "No" }] });
    let ask = json!({ "topic": "Release", "create_topic": true, "questions": [question] });
    let posted = bot.call("comms_post_ask", ask).await;
    let open = world.json(&["asks"]).await;
    assert_eq!(open[0]["ask"]["ask_id"], posted["ask_id"], "{open:?}");
    let marked = |text: &str, mark: &str| {
        let marker = format!("[{mark} {} id=\"", fence(text));
        let (_, from) = text.split_once(&marker).unwrap_or_else(|| panic!("{marker}: {text}"));
        from.split_once("\"] Ship?\n").unwrap().0.to_owned()
    };
    // The id is that of the list's marker, as a model would read it.
    let listed = bot.text("comms_list_messages", json!({ "limit": 1 })).await;
    let ask_id = marked(&listed, "ask");
    let withdrawn = format!("Withdrew ask {ask_id}; no answer will arrive.");
    for _ in 0..2 {
        assert_eq!(bot.text("comms_cancel_ask", json!({ "ask_id": ask_id })).await, withdrawn);
    }
    assert_eq!(posted["ask_id"], ask_id);
    assert!(world.json(&["asks"]).await.is_empty());
    let listed = bot.text("comms_list_messages", json!({ "topic": "release" })).await;
    assert_eq!(marked(&listed, "withdrawn"), ask_id);
}

async fn agents_are_seen(bot: &mut Bot) {
    let roster = bot.text("compass_roster", json!({ "scope": "owner" })).await;
    let tree = bot.text("compass_tree", json!({ "scope": "subtree" })).await;
    let fence = fence(&tree);
    let rows: Vec<&str> = tree.lines().skip(1).collect();
    assert!(rows[0].starts_with(&format!("[agent {fence} id=\"")), "{tree}");
    assert!(rows[0].contains("\"] bot [") && rows[0].ends_with("]: reading logs"), "{tree}");
    assert!(rows[1].starts_with(&format!("  [agent {fence} id=\"")), "{tree}");
    assert!(rows[1].ends_with(&format!("\"] mate [offline {fence}]")), "{tree}");
    assert!(roster.contains("\"] mate [offline ") && roster.contains("\"] bot ["), "{roster}");
}

async fn a_direct_conversation_is_opened(world: &World, bot: &mut Bot) {
    let opened = bot.call("comms_open_dm", json!({ "peer_handle": "mate" })).await;
    let name = opened["channel"]["name"].as_str().unwrap();
    let text = opened["text"].as_str().unwrap();
    assert!(text.starts_with("Opened a direct") && text.ends_with(&format!(": {name}")), "{opened}");
    let post = json!({ "peer_handle": "mate", "topic": "Hello", "text": "to you", "create_topic": true });
    let sent = bot.call("comms_dm", post).await;
    assert_eq!((&sent["created"], &sent["channel"]["name"]), (&json!(false), &json!(name)));
    let read = world.ok(&["read", "--channel", name]).await;
    assert!(read.contains("to you"), "{read}");
    let itself = bot.refused("comms_dm", json!({ "peer_handle": "bot", "topic": "t", "text": "x" })).await;
    assert!(itself.starts_with("comms_dm failed: invalid_argument: "), "{itself}");
}
