//! `compass serve` as a process: one per data directory, a clean end, nothing held after a kill.

use std::{
    fs::File,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::Command,
};

use crate::support::{Attach, Process, Storage, World, choose, in_time, on_both, write};

on_both!(
    a_second_server_on_one_data_directory_is_refused_and_told_the_pid,
    a_signal_ends_a_server_with_a_live_session_and_an_open_tail_within_seconds,
);

async fn a_second_server_on_one_data_directory_is_refused_and_told_the_pid(world: &mut World) {
    let pid = world.server_pid().as_raw_nonzero();
    let data_dir = world.data_dir();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--data-dir", data_dir.to_str().unwrap()];
    let second = world.run(&arguments).await;
    assert_eq!(second.code, Some(2), "{second:?}");
    assert!(second.stderr.contains(&format!("pid {pid})")), "{second:?}");
    world.json(&["asks"]).await;
    world.restart_server().await;
    assert_ne!(world.server_pid().as_raw_nonzero(), pid, "a killed server's lock is free at once");
    world.json(&["asks"]).await;
}

async fn a_signal_ends_a_server_with_a_live_session_and_an_open_tail_within_seconds(world: &mut World) {
    let mut attach = Attach::start(world, "bot").await;
    let home = world.home_channel("bot").await;
    let mut command = world.command();
    command.args(["tail", "--json"]);
    let (_tail, _stdin, stdout) = Process::spawn(&mut command);
    let mut lines = BufReader::new(stdout).lines();
    // The tail is open when it shows what was posted; until then one more is posted.
    let opened = async {
        loop {
            world.person().await.post(write(&home, "is it open?")).await.unwrap();
            let line = tokio::time::timeout(Duration::from_millis(500), lines.next_line()).await;
            if let Ok(line) = line {
                return line.unwrap().unwrap();
            }
        }
    };
    let opened = in_time("the first line of the tail", opened).await;
    assert!(opened.contains("is it open?"), "{opened}");
    let start = Instant::now();
    let status = world.end_server().await;
    let took = start.elapsed();
    assert!(status.success(), "{status}");
    assert!(took < Duration::from_secs(5), "it took {took:?}");
    attach.line("detached").await;
    world.serve().await;
    attach.line("attached").await;
    let (_, ask) = world.ask("bot", "after the end").await;
    world.person().await.answer(&ask.ask_id, choose("0")).await.unwrap();
    attach.answer_to(&ask.ask_id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_in_memory_does_the_main_job_and_keeps_no_message() {
    let mut world = World::start(Storage::Memory).await.unwrap();
    let mut attach = Attach::start(&world, "bot").await;
    let (_, ask) = world.ask("bot", "in memory").await;
    world.ok(&["answer", "--ask", &ask.ask_id, "--option", "go=1"]).await;
    attach.answer_to(&ask.ask_id).await;
    assert!(world.end_server().await.success());
    assert!(!world.data_dir().join("compass.db").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_whose_log_cannot_be_written_serves_all_the_same() {
    let world = World::start(Storage::Sqlite).await.unwrap();
    let data = world.home().join("another");
    let mut command = world.command();
    // Everything is logged, to a disk that is full.
    command.args(["serve", "--listen", "127.0.0.1:0", "--log", "debug", "--data-dir"]).arg(&data);
    command.stderr(File::options().write(true).open("/dev/full").unwrap());
    let (mut process, _stdin, stdout) = Process::spawn(&mut command);
    let mut lines = BufReader::new(stdout).lines();
    let line = in_time("the first line", lines.next_line()).await.unwrap().expect("a server that runs");
    let url = line.rsplit(' ').next().unwrap();
    let file = data.join("sign-in");
    world.ok(&["login", "--url", url, "--sign-in-file", file.to_str().unwrap()]).await;
    world.ok(&["agent", "create", "bot", "--url", url]).await;
    world.ok(&["ask", "--url", url, "Go?"]).await;
    process.signal(Signal::TERM);
    assert!(process.ended().await.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_flags_it_keeps_a_sqlite_file_in_the_platforms_data_directory_and_a_private_sign_in() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::bare(Storage::Sqlite).await.unwrap();
    let mut command: Command = world.command();
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    let (mut process, _stdin, stdout) = Process::spawn(&mut command);
    let mut lines = BufReader::new(stdout).lines();
    let line = in_time("the first line", lines.next_line()).await.unwrap().unwrap();
    let url = line.rsplit(' ').next().unwrap();
    let folder = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
    let data = world.home().join(folder).join("compass");
    for private in ["compass.db", "sign-in"] {
        let mode = std::fs::metadata(data.join(private)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{private}");
    }
    // The README's way: the secret is found where the server left it.
    let done = world.run(&["login", "--url", url]).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("@admin"), "{done:?}");
    let secret = std::fs::read_to_string(data.join("sign-in")).unwrap();
    let spent = world.run(&["login", "--url", url, secret.trim()]).await;
    assert_eq!(spent.code, Some(5), "a sign-in works once: {spent:?}");
    assert_eq!(spent.stderr.lines().count(), 1, "the words of the server say what to do: {spent:?}");
    let again = world.run(&["login", "--url", url]).await;
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.stdout.starts_with("signed in already"), "{again:?}");
    process.signal(rustix::process::Signal::TERM);
    assert!(process.ended().await.success());
}
