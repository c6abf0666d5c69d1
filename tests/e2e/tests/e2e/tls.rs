//! People, agents and runners behind a proxy that speaks TLS with the certificate of a private authority.

use std::{fs, process::Stdio};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::support::{
    Attach, Authority, Mcp, Profile, RunnerProcess, Storage, TlsProxy, World, choose, given_answer, in_time,
    until,
};

const PROMPT: &str = include_str!("../../../../adapters/harness/tests/data/hooks/user-prompt-submit.json");

/// A world whose server is found through a proxy that its commands trust.
async fn behind_tls() -> (World, TlsProxy, Authority) {
    let mut world = World::bare(Storage::Sqlite).await.unwrap();
    world.serve().await;
    let authority = Authority::new(world.home(), "authority");
    let proxy = TlsProxy::start(world.address(), &authority).await;
    world.look_at(proxy.url(), authority.file());
    let file = world.data_dir().join("sign-in");
    world.ok(&["login", "--sign-in-file", file.to_str().unwrap()]).await;
    world.ok(&["agent", "create", "bot"]).await;
    (world, proxy, authority)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_and_every_kind_of_agent_work_behind_tls() {
    let (world, proxy, _authority) = behind_tls().await;
    world.ok(&["agent", "create", "ran"]).await;
    let person = world.person().await;

    // A command of a person, and a hook.
    let home = world.home_channel("bot").await;
    world.ok(&["post", "--channel", &home, "--topic", "t", "Staging is green"]).await;
    let done = world.run_with_input(&["agent", "hook"], PROMPT).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    let said: Value = serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"));
    let context = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.contains("Staging is green"), "{said}");
    world.nothing_owed("bot").await;

    // An attached program asks and gets its answer over the same link.
    let mut attach = Attach::start(&world, "bot").await;
    let question = json!({ "id": "go", "question": "Ship?", "options": [{ "label": "Yes" }] });
    let ask = json!({ "topic": "Release", "create_topic": true, "questions": [question] });
    let asked = attach.call("comms_post_ask", ask).await;
    let ask_id = asked["output"]["ask_id"].as_str().unwrap().to_owned();
    person.answer(&ask_id, choose("0")).await.unwrap();
    let line = attach.answer_to(&ask_id).await;
    attach.ack(line["message"]["id"].as_str().unwrap()).await;
    world.nothing_owed("bot").await;
    assert!(attach.close().await.0.success());

    // A client of the Model Context Protocol is present.
    let mut mcp = Mcp::start(&world, "bot").await;
    world.state("bot", "idle").await;
    mcp.call("compass_set_status", json!({ "activity": "behind TLS" })).await.ok();
    assert!(mcp.close().await.success());

    // A runner starts an agent, whose ask is answered.
    let profile = Profile { asks: 1, ..Profile::quiet("ran") };
    let runner = RunnerProcess::set_up(&world, "box", &[profile]).await;
    let mut runner = runner.through(proxy.url());
    runner.attach(&world).await;
    world.ok(&["agents", "start", "ran"]).await;
    let ask_id = crate::support::open_ask(&world).await;
    person.answer(&ask_id, choose("0")).await.unwrap();
    given_answer(&world, "ran", &ask_id).await;
    runner.end().await;

    let agreed = proxy.agreed();
    assert!(agreed.len() > 6, "each went through the proxy: {agreed:?}");
    assert!(agreed.iter().all(|agreed| agreed.as_deref() == Some(b"h2".as_slice())), "{agreed:?}");
}

/// The first line of a command that may try again for ever, or else why it ended.
async fn first_words(world: &World, arguments: &[&str]) -> String {
    let mut command = world.command();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    match in_time("the first words of a command", lines.next_line()).await.unwrap() {
        Some(line) => line,
        None => String::from_utf8(child.wait_with_output().await.unwrap().stderr).unwrap(),
    }
}

/// What each kind of command says when its connection cannot be made.
async fn complaints(world: &World) -> Vec<(&'static str, String)> {
    let mut told = Vec::new();
    // Saved tokens go to the address they were saved for alone.
    let (token, agent_token) = (world.person_token(), world.agent_token("bot"));
    let person = world.run(&["channels", "--token", &token]).await;
    assert_eq!(person.code, Some(6), "{person:?}");
    told.push(("a person's command", person.stderr));
    let hook = world.run_with_input(&["agent", "hook", "--token", &agent_token], PROMPT).await;
    assert_eq!((hook.code, hook.stdout.as_str()), (Some(0), ""), "a hook stands in nobody's way: {hook:?}");
    told.push(("a hook", hook.stderr));
    told.push((
        "an attached program",
        first_words(world, &["agent", "attach", "--token", &agent_token]).await,
    ));
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_of_another_authority_is_told_as_such() {
    let (mut world, proxy, _authority) = behind_tls().await;
    let stranger = Authority::new(world.home(), "stranger");
    let runner = RunnerProcess::set_up(&world, "box", &[Profile::quiet("bot")]).await;
    world.look_at(proxy.url(), stranger.file());
    let known = proxy.agreed().len();
    for (who, told) in complaints(&world).await {
        assert!(told.contains("certificate"), "{who}: {told}");
    }
    assert_eq!(proxy.agreed().len(), known, "nothing was sent to a server that is not trusted");
    let mut runner = runner.through(proxy.url());
    runner.start(&world);
    let log = world.home().join("box").join("log");
    until("the runner's complaint", async || {
        fs::read_to_string(&log).unwrap_or_default().contains("certificate").then_some(())
    })
    .await;
    runner.kill().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_with_the_wrong_scheme_is_told_as_such() {
    let (mut world, proxy, authority) = behind_tls().await;
    world.look_at(proxy.plain_url(), authority.file());
    for (who, told) in complaints(&world).await {
        assert!(told.contains("https://"), "{who}: {told}");
    }
    world.look_at(format!("https://{}", world.address()), authority.file());
    for (who, told) in complaints(&world).await {
        assert!(told.contains("http://"), "{who}: {told}");
    }
}
