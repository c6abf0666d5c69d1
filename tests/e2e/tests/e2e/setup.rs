//! `compass agent setup claude-code`: settings of every kind, and undone to the byte.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use serde_json::Value;
use tokio::process::Command;

use crate::support::{Done, PATIENCE, Storage, World, in_time};

const ODD: &str = "{\r\n\t// Comments stay\r\n\t\"model\": \"x\",\r\n\t\"hooks\": { \"Stop\": [ ], },\r\n}";
const SERVERS: &str = "{ \"mcpServers\": { \"other\": { \"command\": \"x\" } } }";

/// A home without a server, and a project in it.
async fn project() -> (World, PathBuf) {
    let world = World::bare(Storage::Memory).await.unwrap();
    let project = world.home().join("project");
    fs::create_dir(&project).unwrap();
    (world, project)
}

async fn setup(world: &World, project: &Path, more: &[&str]) -> Done {
    let project = project.to_str().unwrap();
    world.run(&[&["agent", "setup", "claude-code", "--project", project], more].concat()).await
}

async fn ok(world: &World, project: &Path, more: &[&str]) -> String {
    let done = setup(world, project, more).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    done.stdout
}

/// Every file below a folder with its bytes and its mode.
fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>, u32)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        if path.is_dir() {
            found.push((path.clone(), Vec::new(), mode));
            found.extend(tree(&path));
        } else {
            found.push((path.clone(), fs::read(&path).unwrap(), mode));
        }
    }
    found.sort();
    found
}

fn settings(project: &Path) -> PathBuf {
    project.join(".claude/settings.json")
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_setup_is_undone_to_the_byte() {
    for existing in [
        None,
        Some(("{}", "{}")),
        Some((ODD, SERVERS)),
        Some(("{\"a\":1}", "{\n}\n")),
        Some(("", " \r\n\t")),
        Some(("// only a comment", "/* one */\n// two\n\n")),
        Some(("\u{feff}", "\n")),
    ] {
        let (world, project) = project().await;
        if let Some((hooks, servers)) = existing {
            write(&settings(&project), hooks);
            write(&project.join(".mcp.json"), servers);
            fs::set_permissions(settings(&project), fs::Permissions::from_mode(0o600)).unwrap();
        }
        let before = tree(&project);
        let shown = ok(&world, &project, &["--agent", "bot", "--dry-run"]).await;
        assert!(shown.contains('+') && shown.contains("agent hook"), "{shown}");
        assert_eq!(tree(&project), before, "a dry run writes nothing");
        ok(&world, &project, &["--agent", "bot", "--yes"]).await;
        let after = tree(&project);
        assert_ne!(after, before);
        assert_eq!(ok(&world, &project, &["--agent", "bot", "--yes"]).await, "nothing to change\n");
        assert_eq!(tree(&project), after);
        ok(&world, &project, &["--agent", "other", "--wait", "20", "--yes"]).await;
        assert_ne!(tree(&project), after);
        ok(&world, &project, &["--undo", "--yes"]).await;
        assert_eq!(tree(&project), before, "{existing:?}");
        assert_eq!(ok(&world, &project, &["--undo", "--yes"]).await, "nothing to undo\n");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn through_a_linked_folder_a_setup_is_undone_too() {
    let (world, project) = project().await;
    let elsewhere = world.home().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, project.join(".claude")).unwrap();
    ok(&world, &project, &["--yes"]).await;
    assert!(elsewhere.join("settings.json").exists());
    ok(&world, &project, &["--undo", "--yes"]).await;
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert_eq!(fs::read_link(project.join(".claude")).unwrap(), elsewhere);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_leads_nowhere_is_left_alone() {
    for link in [".claude/settings.json", ".claude", ".mcp.json"] {
        let (world, project) = project().await;
        let link = project.join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink("nowhere", &link).unwrap();
        let done = setup(&world, &project, &["--yes"]).await;
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(done.stderr.contains("a link that leads nowhere"), "{done:?}");
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("nowhere"));
        assert!(!link.exists(), "nothing was made where it leads");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_a_file_that_was_edited_since_only_our_entries_are_taken_out() {
    let (world, project) = project().await;
    write(&settings(&project), ODD);
    ok(&world, &project, &["--yes"]).await;
    let edited = fs::read_to_string(settings(&project)).unwrap().replace("\"x\"", "\"y\"");
    write(&settings(&project), &edited);
    let servers = fs::read_to_string(project.join(".mcp.json")).unwrap();
    write(
        &project.join(".mcp.json"),
        &servers.replace("{\n  \"mcpServers\"", "{\n  \"mine\": 1,\n  \"mcpServers\""),
    );
    ok(&world, &project, &["--undo", "--yes"]).await;
    let left = fs::read_to_string(settings(&project)).unwrap();
    assert!(
        left.contains("\"y\"") && left.contains("// Comments stay") && !left.contains("compass"),
        "{left}"
    );
    let servers: Value =
        serde_json::from_str(&fs::read_to_string(project.join(".mcp.json")).unwrap()).unwrap();
    assert_eq!(servers, serde_json::json!({ "mine": 1 }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_between_two_setups_is_not_undone() {
    let (world, project) = project().await;
    write(&settings(&project), "{\"a\":1}");
    ok(&world, &project, &["--agent", "bot", "--yes"]).await;
    let edited = fs::read_to_string(settings(&project)).unwrap().replace("\"a\":1", "\"a\":2");
    write(&settings(&project), &edited);
    ok(&world, &project, &["--agent", "other", "--yes"]).await;
    ok(&world, &project, &["--undo", "--yes"]).await;
    let left: Value = serde_json::from_str(&fs::read_to_string(settings(&project)).unwrap()).unwrap();
    assert_eq!(left, serde_json::json!({ "a": 2 }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_setup_of_a_file_that_was_replaced_since_is_undone_to_the_byte() {
    let (world, project) = project().await;
    write(&settings(&project), "{\"a\":1}");
    ok(&world, &project, &["--yes"]).await;
    write(&settings(&project), ODD);
    ok(&world, &project, &["--yes"]).await;
    ok(&world, &project, &["--undo", "--yes"]).await;
    assert_eq!(fs::read_to_string(settings(&project)).unwrap(), ODD);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_was_made_stays_with_what_others_put_there() {
    let (world, project) = project().await;
    ok(&world, &project, &["--yes"]).await;
    write(&project.join(".claude/mine.md"), "mine");
    ok(&world, &project, &["--undo", "--yes"]).await;
    let left: Vec<PathBuf> = tree(&project).into_iter().map(|(path, ..)| path).collect();
    assert_eq!(left, [project.join(".claude"), project.join(".claude/mine.md")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_a_handle_is_refused_and_named() {
    let (world, project) = project().await;
    for bad in ["Bad Handle", "@bot", "-x", ""] {
        let done = setup(&world, &project, &[&format!("--agent={bad}"), "--yes"]).await;
        assert_eq!(done.code, Some(2), "{bad:?}: {done:?}");
        assert!(done.stderr.contains("--agent: handle "), "{bad:?}: {done:?}");
        assert_eq!(tree(&project), []);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_written_without_a_yes_or_over_what_is_not_understood() {
    let (world, project) = project().await;
    write(&settings(&project), "{ \"hooks\": ");
    let before = tree(&project);
    for (more, told) in [(&[][..], "settings.json"), (&["--yes"], "settings.json")] {
        let done = setup(&world, &project, more).await;
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(done.stderr.contains(told), "{done:?}");
    }
    assert_eq!(tree(&project), before);
    write(&settings(&project), "{}");
    let before = tree(&project);
    let done = setup(&world, &project, &[]).await;
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("--yes") && done.stdout.contains("agent hook"), "{done:?}");
    assert_eq!(tree(&project), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_program_wrote_before_the_yes_is_left_as_it_is() {
    let world = World::bare(Storage::Memory).await.unwrap();
    let file = world.home().join(".claude.json");
    write(&file, "{\n  \"numStartups\": 7\n}");
    let mut command = world.command();
    command.args(["agent", "setup", "claude-code", "--user"]);
    let meanwhile = file.clone();
    let said = tokio::task::spawn_blocking(move || {
        let patience = u64::try_from(PATIENCE.as_millis()).unwrap();
        let mut terminal = rexpect::session::spawn_command(command.into_std(), Some(patience)).unwrap();
        terminal.exp_string("Write this? [y/N] ").unwrap();
        // As Claude Code does when a session ends.
        fs::write(meanwhile, "{\n  \"numStartups\": 8\n}").unwrap();
        terminal.send_line("y").unwrap();
        let rest = terminal.exp_eof().unwrap();
        format!("{rest} {:?}", terminal.process_mut().wait().unwrap())
    });
    let said = said.await.unwrap();
    assert!(said.contains("changed meanwhile") && said.ends_with(", 1)"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\n  \"numStartups\": 8\n}");
    world.ok(&["agent", "setup", "claude-code", "--user", "--yes"]).await;
    assert!(fs::read_to_string(&file).unwrap().contains("\"numStartups\": 8"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dry_run_of_an_undo_forgets_nothing() {
    let (world, project) = project().await;
    write(&settings(&project), ODD);
    ok(&world, &project, &["--yes"]).await;
    let state = world.home().join(".local/state");
    let known = tree(&state);
    for file in [settings(&project), project.join(".mcp.json")] {
        let done = fs::read(&file).unwrap();
        // Taken out by hand, so that nothing is left to undo.
        write(&file, "{}");
        let shown = ok(&world, &project, &["--undo", "--dry-run"]).await;
        assert!(!shown.is_empty());
        assert_eq!(tree(&state), known);
        fs::write(&file, done).unwrap();
    }
    ok(&world, &project, &["--undo", "--yes"]).await;
    assert_eq!(fs::read_to_string(settings(&project)).unwrap(), ODD);
    assert_ne!(tree(&state), known);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_users_own_settings_are_in_the_home_folder() {
    let world = World::bare(Storage::Memory).await.unwrap();
    write(&world.home().join(".claude.json"), "{\n  \"numStartups\": 7\n}");
    let arguments = ["agent", "setup", "claude-code", "--user", "--yes"];
    world.ok(&arguments).await;
    let servers: Value =
        serde_json::from_str(&fs::read_to_string(world.home().join(".claude.json")).unwrap()).unwrap();
    assert_eq!(servers["numStartups"], 7);
    assert_eq!(servers["mcpServers"]["compass"]["args"], serde_json::json!(["agent", "mcp"]));
    assert!(world.home().join(".claude/settings.json").exists());
    world.ok(&[&arguments[..], &["--undo"]].concat()).await;
    assert_eq!(fs::read_to_string(world.home().join(".claude.json")).unwrap(), "{\n  \"numStartups\": 7\n}");
    assert!(!world.home().join(".claude").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_in_the_settings_delivers_a_message() {
    let world = World::start(Storage::Sqlite).await.unwrap();
    let project = world.home().join("a project's folder");
    fs::create_dir(&project).unwrap();
    ok(&world, &project, &["--agent", "bot", "--yes"]).await;
    let home = world.home_channel("bot").await;
    world.ok(&["post", "--channel", &home, "--topic", "t", "Staging is green"]).await;
    let settings: Value = serde_json::from_str(&fs::read_to_string(settings(&project)).unwrap()).unwrap();
    let command = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"].as_str().unwrap();
    let input = include_str!("../../../../adapters/harness/tests/data/hooks/user-prompt-submit.json");
    let mut shell = Command::new("sh");
    // As Claude Code runs it, in the environment that it has itself.
    shell.args(["-c", &format!("printf '%s' \"$INPUT\" | {command}")]).env_clear().env("INPUT", input);
    shell.env("HOME", world.home()).env("COMPASS_URL", world.url());
    let done = in_time("the hook", shell.output()).await.unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success() && said.contains("Staging is green"), "{said} {:?}", done.stderr);
    world.nothing_owed("bot").await;
}
