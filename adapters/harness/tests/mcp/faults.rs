//! Clients that hang up, cancel or break off, as raw lines.

use std::{sync::Arc, time::Duration};

use compass_agent::ports::{Call, HarnessError};
use compass_harness::mcp::serve_stdio;
use serde_json::{Value, json};
use tokio::{
    io::{
        AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines,
        ReadHalf, WriteHalf,
    },
    task::JoinHandle,
};

use crate::rig::{House, call, cancel, handed, initialize, long, owed, status, text};

pub(crate) type Served = JoinHandle<Result<(), HarnessError>>;

/// A client that writes and reads lines.
pub(crate) struct Raw {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
}

impl Raw {
    /// A client behind pipes that hold so many bytes.
    pub(crate) async fn start(house: &Arc<House>, pipe: usize) -> (Self, Served) {
        let (ours, theirs) = tokio::io::duplex(pipe);
        let (input, output) = tokio::io::split(theirs);
        let served = house.beside.spawn(serve_stdio(house.core(), input, output));
        let (read, write) = tokio::io::split(ours);
        let mut raw = Self { lines: BufReader::new(read).lines(), write };
        raw.write(&initialize(0)).await;
        assert_eq!(raw.read().await["id"], 0);
        raw.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        (raw, served)
    }

    pub(crate) async fn write(&mut self, line: &Value) {
        self.write_bytes(format!("{line}\n").as_bytes()).await;
    }

    pub(crate) async fn write_bytes(&mut self, bytes: &[u8]) {
        self.write.write_all(bytes).await.expect("written");
    }

    pub(crate) async fn read(&mut self) -> Value {
        let line = self.lines.next_line().await.expect("read").expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }
}

#[tokio::test]
async fn a_client_that_is_gone_before_the_flush_got_nothing_and_the_message_comes_again_marked() {
    let house = House::new([long("m1", 5_000)]);
    let (mut raw, served) = Raw::start(&house, 1024).await;
    raw.write(&status(1, "x")).await;
    // A part of the result is in the pipe; the rest cannot be written.
    let mut part = [0; 100];
    let mut read = raw.lines.into_inner();
    read.read_exact(&mut part).await.expect("a part");
    drop((read, raw.write));
    served.await.expect("no panic").expect("a clean end");
    assert_eq!(house.acknowledged(), [""; 0]);

    let (mut raw, _served) = Raw::start(&house, 1 << 20).await;
    raw.write(&status(1, "x")).await;
    let again = raw.read().await;
    assert_eq!(handed(text(&again)), ["m1"]);
    assert!(text(&again).contains("[delivered before "), "{again}");
    house.settled().await;
    assert_eq!(house.acknowledged(), ["m1"]);
}

#[tokio::test]
async fn nothing_is_acknowledged_while_a_result_is_not_flushed() {
    let house = House::new([long("m1", 5_000), owed("m2")]);
    let (mut raw, _served) = Raw::start(&house, 1024).await;
    raw.write(&status(1, "x")).await;
    let mut part = [0; 100];
    raw.lines.get_mut().read_exact(&mut part).await.expect("a part");
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(house.acknowledged(), [""; 0], "the rest is still here");
    while raw.lines.get_mut().read_u8().await.expect("a byte") != b'\n' {}
    house.settled().await;
    assert_eq!(house.acknowledged(), ["m1", "m2"]);
}

#[tokio::test(start_paused = true)]
async fn a_result_waits_for_one_that_is_being_read_and_carries_what_came_meanwhile() {
    let house = House::new([long("m1", 5_000)]);
    let (mut raw, _served) = Raw::start(&house, 1024).await;
    raw.write(&status(1, "first")).await;
    raw.lines.get_mut().read_u8().await.expect("a part");
    house.owe(owed("m2"));
    raw.write(&status(2, "second")).await;
    while house.calls().len() < 2 {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    while raw.lines.get_mut().read_u8().await.expect("a byte") != b'\n' {}
    let second = raw.read().await;
    assert_eq!((&second["id"], handed(text(&second))), (&json!(2), vec!["m2".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_result_does_not_wait_long_for_one_that_is_not_read() {
    let house = House::new([long("m1", 40_000)]);
    let (mut raw, _served) = Raw::start(&house, 1024).await;
    raw.write(&status(1, "first")).await;
    while house.calls().is_empty() {
        tokio::task::yield_now().await;
    }
    raw.write(&status(2, "second")).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let (first, second) = (raw.read().await, raw.read().await);
    assert_eq!((handed(text(&first)), handed(text(&second)).len()), (vec!["m1".to_owned()], 0));
}

#[tokio::test]
async fn a_cancelled_call_goes_on_and_carries_nothing_away() {
    let house = House::new([owed("m1")]);
    let (mut raw, _served) = Raw::start(&house, 1 << 20).await;
    raw.write(&status(1, "slow")).await;
    house.waiting.acquire().await.expect("open").forget();
    raw.write(&cancel(1)).await;
    // What comes after it proves that it was read.
    raw.write(&call(2, "comms_post_message", &json!({}))).await;
    let second = raw.read().await;
    assert_eq!(second["id"], 2);
    assert_eq!(handed(text(&second)), ["m1"]);
    house.gate.add_permits(1);
    house.settled().await;
    assert_eq!(house.calls(), [Call::SetStatus { activity: "slow".into() }], "it was done all the same");
    house.owe(owed("m2"));
    raw.write(&status(3, "x")).await;
    let third = raw.read().await;
    assert_eq!((&third["id"], handed(text(&third))), (&json!(3), vec!["m2".to_owned()]));
}

#[tokio::test]
async fn a_post_of_a_client_that_hangs_up_lands() {
    let house = House::new([]);
    let (mut raw, served) = Raw::start(&house, 1 << 20).await;
    raw.write(&status(1, "slow")).await;
    house.waiting.acquire().await.expect("open").forget();
    drop(raw);
    house.gate.add_permits(1);
    served.await.expect("no panic").expect("a clean end");
    assert_eq!(house.calls().len(), 1);
}

#[tokio::test]
async fn two_open_requests_of_one_id_carry_nothing() {
    let house = House::new([owed("m1")]);
    let (mut raw, _served) = Raw::start(&house, 1 << 20).await;
    for _ in 0..2 {
        raw.write(&status(1, "slow")).await;
        house.waiting.acquire().await.expect("open").forget();
    }
    house.gate.add_permits(2);
    assert_eq!(handed(text(&raw.read().await)), [""; 0]);
    house.settled().await;
    assert_eq!(house.acknowledged(), [""; 0]);
    raw.write(&status(2, "x")).await;
    assert_eq!(handed(text(&raw.read().await)), ["m1"]);
}

#[tokio::test]
async fn an_input_that_ends_at_once_is_a_clean_end() {
    let house = House::new([]);
    assert!(serve_stdio(house.core(), tokio::io::empty(), tokio::io::sink()).await.is_ok());
    let (raw, served) = Raw::start(&house, 1 << 20).await;
    drop(raw);
    served.await.expect("no panic").expect("a clean end");
}
