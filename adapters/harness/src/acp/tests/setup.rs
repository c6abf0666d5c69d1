//! How an agent is made ready, in a first life and in later ones.

use agent_client_protocol::v1::schema::{ClientCapabilities, McpServer};
use tokio::time::Instant;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_fresh_agent_gets_a_new_conversation_with_our_tools_and_no_files_or_terminals() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::open(&folder, Abilities::default());
    assert!(!world.agent.has_room());
    world.until_ready().await;
    assert!(world.agent.has_room());
    let Got::Initialize(hello) = world.got().await else { panic!("initialize first") };
    let ours = hello.client_capabilities;
    assert_eq!((&ours.fs, ours.terminal), (&ClientCapabilities::new().fs, false));
    let Got::New(new) = world.got().await else { panic!("a new conversation") };
    assert_eq!(new.cwd, std::path::Path::new("/srv/work"));
    let [McpServer::Stdio(tools)] = new.mcp_servers.as_slice() else { panic!("{:?}", new.mcp_servers) };
    assert_eq!((tools.name.as_str(), tools.command.to_str()), ("compass", Some("/bin/compass")));
    assert_eq!(tools.args, ["agent", "mcp"]);
    assert_eq!((tools.env[0].name.as_str(), tools.env[0].value.as_str()), ("NAME", "value"));
}

/// A first life that ends, then a second one of these abilities; what its agent got after `initialize`.
async fn second_life(abilities: Abilities) -> (World, Vec<String>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    World::open(&folder, Abilities::default()).until_ready().await;
    let mut world = World::open(&folder, abilities);
    let mut shown = Vec::new();
    loop {
        match world.event().await {
            HarnessEvent::Streaming(false) => break,
            event => shown.push(label(&event)),
        }
    }
    (world, shown, folder)
}

#[tokio::test(start_paused = true)]
async fn a_later_life_goes_on_with_its_conversation_if_the_agent_can() {
    let resumes = Abilities { resumes: true, loads: true, ..Abilities::default() };
    let (mut world, shown, _folder) = second_life(resumes).await;
    assert_eq!(shown, ["shows notice peer 1.2 goes on with its earlier conversation."]);
    assert!(matches!(world.got().await, Got::Initialize(_)));
    assert!(matches!(world.got().await, Got::Resume(id) if id == peer::SESSION));

    let loads = Abilities { loads: true, ..Abilities::default() };
    let (mut world, shown, _folder) = second_life(loads).await;
    assert_eq!(shown.len(), 1, "what is loaded is the past: {shown:?}");
    assert!(matches!(world.got().await, Got::Initialize(_)));
    assert!(matches!(world.got().await, Got::Load(id) if id == peer::SESSION));
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_cannot_go_on_gives_way_to_a_new_one_that_is_kept() {
    for (abilities, why) in [
        (Abilities::default(), "it cannot go on with an earlier one"),
        (Abilities { loads: true, forgets: true, ..Abilities::default() }, "unknown session"),
        (Abilities { resumes: true, forgets: true, ..Abilities::default() }, "unknown session"),
    ] {
        let abilities = Abilities { session: Some("session 2"), ..abilities };
        let (_world, shown, folder) = second_life(abilities).await;
        assert!(shown[0].contains("begins a new conversation") && shown[0].contains(why), "{shown:?}");
        let third = Abilities { resumes: true, ..Abilities::default() };
        let mut world = World::open(&folder, third);
        world.until_ready().await;
        assert!(matches!(world.got().await, Got::Initialize(_)));
        assert!(matches!(world.got().await, Got::Resume(id) if id == "session 2"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_cannot_be_made_ready_is_an_error_that_says_why() {
    for (abilities, why) in [
        (Abilities { needs_sign_in: true, ..Abilities::default() }, "Log in (run `peer login`)"),
        (Abilities { silent: true, ..Abilities::default() }, "did not answer initialize within 120 s"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let begun = Instant::now();
        let error = World::open(&folder, abilities).try_event().await.unwrap_err().to_string();
        assert!(error.starts_with("ACP agent: ") && error.contains(why), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(121));
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_ends_before_it_is_ready_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::open(&folder, Abilities { silent: true, ..Abilities::default() });
    assert!(matches!(world.got().await, Got::Initialize(_)));
    world.peer.kill();
    world.expect(&["over"]).await;
}
