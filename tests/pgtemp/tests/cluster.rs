//! A temporary server takes connections, and neither its processes nor its files outlive it.
#![expect(clippy::expect_used, reason = "helpers of tests fail the test")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use compass_pgtemp::{Binaries, Cluster, Durability, Error};

/// Set for the copy of this test program that holds a server and is killed.
const HOLDER: &str = "COMPASS_PGTEMP_HOLDER";

fn binaries() -> Binaries {
    Binaries::locate().expect("a usable setting").expect("a PostgreSQL server, or COMPASS_PG_BIN")
}

/// Asks for one value over the wire protocol, since not every source of the server brings psql.
fn query(cluster: &Cluster, sql: &str) -> String {
    let port = cluster.url("postgres").split_once("port=").expect("a port").1.replace("&user=compass", "");
    let mut socket = UnixStream::connect(cluster.dir().join(format!(".s.PGSQL.{port}"))).expect("it listens");
    let startup = b"\0\x03\0\0user\0compass\0database\0postgres\0\0";
    socket.write_all(&length_and(startup)).expect("it reads");
    read_until_ready(&mut socket);
    socket.write_all(b"Q").expect("it reads");
    socket.write_all(&length_and(format!("{sql}\0").as_bytes())).expect("it reads");
    let row = read_until_ready(&mut socket);
    // A row of one column: a count of two bytes, a length of four, the value.
    String::from_utf8(row.get(6..).unwrap_or_default().to_vec()).expect("text")
}

fn length_and(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("a short message");
    [&length.to_be_bytes(), body].concat()
}

/// Gives the last data row before the server is ready for the next query.
fn read_until_ready(socket: &mut UnixStream) -> Vec<u8> {
    let mut row = Vec::new();
    loop {
        let mut head = [0; 5];
        socket.read_exact(&mut head).expect("a message");
        let [kind, length @ ..] = head;
        let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
        socket.read_exact(&mut body).expect("its body");
        match kind {
            b'Z' => return row,
            b'D' => row = body,
            b'E' => row = [b"      ".as_slice(), &body].concat(),
            _ => {}
        }
    }
}

fn postmaster(dir: &Path) -> PathBuf {
    let file = fs::read_to_string(dir.join("data/postmaster.pid")).expect("a running server");
    Path::new("/proc").join(file.lines().next().expect("a pid"))
}

fn shared_memory(dir: &Path) -> String {
    let file = fs::read_to_string(dir.join("data/postmaster.pid")).expect("a running server");
    let line = file.lines().nth(6).expect("the line of the segment");
    line.split_whitespace().nth(1).expect("its id").to_owned()
}

#[test]
fn each_kind_has_the_durability_it_names_and_a_stop_leaves_nothing() {
    let binaries = binaries();
    for (kind, fsync) in [(Durability::Fast, "off"), (Durability::Durable, "on")] {
        let cluster = Cluster::start(&binaries, kind).expect("it starts");
        assert_eq!(query(&cluster, "show fsync"), fsync);
        assert_eq!(query(&cluster, "show synchronous_commit"), fsync);
        assert_eq!(query(&cluster, "show max_connections"), "300");
        assert_eq!(query(&cluster, "show listen_addresses"), "");
        let (dir, process) = (cluster.dir().to_path_buf(), postmaster(cluster.dir()));
        cluster.stop().expect("it stops");
        assert!(!dir.exists());
        assert!(!process.exists());
    }
}

#[test]
fn two_servers_run_side_by_side() {
    let binaries = binaries();
    let first = Cluster::start(&binaries, Durability::Fast).expect("it starts");
    let second = Cluster::start(&binaries, Durability::Fast).expect("it starts");
    assert_ne!(first.url("postgres"), second.url("postgres"));
    query(&first, "create database only_in_the_first");
    assert_eq!(query(&second, "select count(*) from pg_database where datname ~ 'first'"), "0");
}

#[test]
fn a_server_that_cannot_start_says_why_and_leaves_nothing() {
    let place = tempfile::tempdir().expect("a directory");
    let real = binaries();
    let broken = place.path().join("bin");
    fs::create_dir(&broken).expect("a directory");
    std::os::unix::fs::symlink(real.dir().join("postgres"), broken.join("postgres")).expect("a link");
    let genuine = real.dir().join("initdb");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" != --version ] || exec {} --version\necho \"no room in $2\"\nexit 1\n",
        genuine.display()
    );
    fs::write(broken.join("initdb"), script).expect("a file");
    fs::set_permissions(broken.join("initdb"), fs::Permissions::from_mode(0o755)).expect("permissions");
    let found = Binaries::in_dir(&broken).expect("it looks like a server");
    match Cluster::start(&found, Durability::Fast) {
        Err(Error::Start(log)) => {
            let (_, data) = log.trim_end().split_once("no room in ").expect("what initdb printed");
            assert!(!Path::new(data).parent().expect("the private directory").exists(), "{data} is left");
        }
        other => panic!("expected a failed start, got {other:?}"),
    }
}

#[test]
fn a_server_that_crashed_is_cleaned_up() {
    let cluster = Cluster::start(&binaries(), Durability::Fast).expect("it starts");
    let process = postmaster(cluster.dir());
    let pid = process.file_name().expect("a pid");
    assert!(Command::new("kill").arg("-KILL").arg(pid).status().expect("kill runs").success());
    let dir = cluster.dir().to_path_buf();
    let segment = shared_memory(&dir);
    cluster.stop().expect("it stops");
    assert!(!dir.exists());
    let segments = fs::read_to_string("/proc/sysvipc/shm").expect("the list of segments");
    let ids: Vec<_> = segments.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert!(!ids.contains(&segment.as_str()), "segment {segment} is left");
}

#[test]
fn a_server_ends_with_a_starter_that_is_killed() {
    let itself = std::env::current_exe().expect("this program");
    let mut holder = Command::new(itself)
        .args(["--exact", "hold_a_server_until_killed", "--nocapture", "--ignored"])
        .env(HOLDER, "1")
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let printed = BufReader::new(holder.stdout.take().expect("a pipe"));
    let dir = printed
        .lines()
        .map_while(Result::ok)
        .find_map(|line| line.split_once("holding ").map(|(_, dir)| PathBuf::from(dir)))
        .expect("the holder names its directory");
    let process = postmaster(&dir);
    holder.kill().expect("SIGKILL");
    holder.wait().expect("it ends");
    // Nothing signals the end of a process that is not a child, so its traces are polled for.
    let deadline = Instant::now() + Duration::from_secs(30);
    while (dir.exists() || process.exists()) && Instant::now() < deadline {
        std::thread::yield_now();
    }
    assert!(!dir.exists());
    assert!(!process.exists());
}

#[test]
#[ignore = "the body of the holder that another test starts and kills"]
fn hold_a_server_until_killed() {
    if std::env::var_os(HOLDER).is_none() {
        return;
    }
    let cluster = Cluster::start(&binaries(), Durability::Fast).expect("it starts");
    println!("holding {}", cluster.dir().display());
    loop {
        std::thread::park();
    }
}
