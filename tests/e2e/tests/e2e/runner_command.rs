//! `compass runner`: its configuration, and its ends.

use std::{fs, os::unix::fs::PermissionsExt as _};

use rustix::process::Signal;

use crate::support::{Process, Storage, World, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_is_added_by_its_handle_and_the_configuration_can_be_run() {
    let world = World::start(Storage::Memory).await.unwrap();
    let config = world.home().join("runner.toml");
    let config = config.to_str().unwrap();
    let add = ["runner", "add", "bot", "--config", config, "--directory", "/", "--", "cat", "-u"];
    world.ok(&add).await;
    let told = world.ok(&["runner", "check", "--config", config]).await;
    assert!(told.contains("1 agent,"), "{told}");
    let again = world.run(&add).await;
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("agent[1].account_id"), "{again:?}");
    let text = fs::read_to_string(config).unwrap();
    fs::write(config, text.replace("\"cat\"", "\"surely-no-such-program\"")).unwrap();
    let refused = world.run(&["runner", "check", "--config", config]).await;
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("agent[0].command"), "{refused:?}");
    fs::write(config, format!("socket_dir = \"/{}\"\n{text}", "x".repeat(90))).unwrap();
    let refused = world.run(&["runner", "check", "--config", config]).await;
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("socket_dir") && refused.stderr.contains("bytes"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_runner_attaches_with_its_token_and_ends_on_request() {
    let world = World::start(Storage::Memory).await.unwrap();
    let config = world.home().join("runner.toml");
    let token = world.home().join("runner-token");
    fs::write(&token, world.ok(&["token", "create", "--runner", "box"]).await).unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o640)).unwrap();
    world.ok(&["runner", "add", "bot", "--config", config.to_str().unwrap(), "--", "cat"]).await;
    let log = world.home().join("runner.log");
    let mut command = world.command();
    // A short one: the sockets below it have paths of a limited length.
    let state = world.home().join("state");
    let (config, state) = (config.to_str().unwrap(), state.to_str().unwrap());
    let runner_on = ["runner", "--config", config, "--state-dir", state];
    command.args(runner_on).arg("--token-file").arg(&token);
    command.stderr(fs::File::create(&log).unwrap());
    let (mut runner, _stdin, _stdout) = Process::spawn(&mut command);
    until("the runner", async || fs::read_to_string(&log).unwrap().contains("attached").then_some(())).await;
    let told = fs::read_to_string(&log).unwrap();
    assert!(told.contains("has mode 0640, others may read it; run `chmod 600"), "{told}");
    let second = world.run(&[&runner_on[..], &["--token", "x"]].concat()).await;
    assert_eq!(second.code, Some(2), "one runner uses a state directory: {second:?}");
    runner.signal(Signal::TERM);
    assert!(runner.ended().await.success());
    let stranger = world.run(&[&runner_on[..], &["--token", "x"]].concat()).await;
    assert_eq!(stranger.code, Some(5), "{stranger:?}");
    let without = world.run(&runner_on).await;
    assert_eq!(without.code, Some(2));
    assert!(without.stderr.contains("--token-file"), "{without:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn directories_of_a_runner_are_its_own_and_not_its_agents() {
    let world = World::start(Storage::Memory).await.unwrap();
    let config = world.home().join("runner.toml");
    let token = world.home().join("runner-token");
    let elsewhere = world.home().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(&token, world.ok(&["token", "create", "--runner", "box"]).await).unwrap();
    let (config_text, elsewhere_text) = (config.to_str().unwrap(), elsewhere.to_str().unwrap());
    let add = ["runner", "add", "bot", "--config", config_text, "--directory", elsewhere_text, "--", "cat"];
    world.ok(&add).await;
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("socket_dir = \"sockets\"\n{text}")).unwrap();
    let log = world.home().join("runner.log");
    let mut command = world.command();
    command.current_dir(world.home());
    command.args([
        "runner",
        "--config",
        "runner.toml",
        "--token-file",
        "runner-token",
        "--state-dir",
        "state",
    ]);
    command.stderr(fs::File::create(&log).unwrap());
    let (_runner, _stdin, _stdout) = Process::spawn(&mut command);
    until("the runner", async || fs::read_to_string(&log).unwrap().contains("attached").then_some(())).await;
    world.ok(&["agents", "start", "bot"]).await;
    until("the agent's core", async || {
        let rows = world.json(&["agents", "status"]).await;
        rows.iter().any(|row| row["state"] == "ready").then_some(())
    })
    .await;
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "nothing is made where the agent runs");
}
