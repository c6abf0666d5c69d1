//! Jobs that are decided from what the last batches left.

use std::sync::Arc;

use compass_domain::{ErrorKind, MessageId};
use compass_ports::submit;
use compass_testkit::jobs::{Acknowledge, JobError};
use sqlx::Connection as _;
use tokio_util::task::TaskTracker;

use super::{World, breaks::until_a_writer_waits, tenant};
use crate::{ids::id, testing::Recorder};

const STATEMENT: &str = "SELECT query FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%EXECUTE compass\\_%'";

fn kind<T>(refused: Result<T, JobError>) -> ErrorKind {
    match refused {
        Err(JobError::Refused(kind)) => kind,
        Err(JobError::Storage(error)) => panic!("{error}"),
        Ok(_) => panic!("not refused"),
    }
}

impl World {
    /// The script by which a lone job that waits for a lock is stored.
    async fn script_of<J: compass_ports::WriteJob>(&self, job: J) -> String
    where
        J::Error: std::fmt::Debug,
    {
        let mut admin = sqlx::PgConnection::connect(&self.db.url).await.unwrap();
        let mut holder = sqlx::PgConnection::connect(&self.db.url).await.unwrap();
        let hold = "BEGIN; SELECT id FROM channels FOR UPDATE; SELECT agent FROM cursors FOR UPDATE";
        sqlx::raw_sql(hold).execute(&mut holder).await.unwrap();
        let writer = self.writer.clone();
        let waiting = TaskTracker::new().spawn(async move { submit(&writer, &tenant(), job).await });
        until_a_writer_waits(&mut admin).await;
        let script: String = sqlx::query_scalar(STATEMENT).fetch_one(&mut admin).await.unwrap();
        sqlx::raw_sql("ROLLBACK").execute(&mut holder).await.unwrap();
        waiting.await.unwrap().unwrap();
        script
    }

    async fn run(&self, sql: &str) {
        self.db.execute(sql, Vec::new()).await;
    }

    fn receipt(&self, message: MessageId) -> Acknowledge {
        Acknowledge { agent: self.agent.id, messages: vec![message] }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lone_post_answer_or_receipt_is_one_statement_once_its_rows_are_known() {
    let Some(world) = World::postgres().await else { return };
    let is_one = |script: &str| script.starts_with("EXECUTE ") && script.matches("EXECUTE ").count() == 1;
    let first = world.script_of(world.text(&world.person, "first")).await;
    assert!(first.starts_with("BEGIN"), "{first}");
    let second = world.script_of(world.text(&world.person, "second")).await;
    assert!(is_one(&second), "{second}");
    let (message, asks) = world.ask(1).await;
    let answer = world.script_of(world.answer(asks[0])).await;
    assert!(is_one(&answer), "{answer}");
    world.submit(world.receipt(message.id())).await.unwrap();
    let posted = world.submit(world.text(&world.person, "third")).await.unwrap().message;
    let receipt = world.script_of(world.receipt(posted.id())).await;
    assert!(is_one(&receipt), "{receipt}");
    assert_eq!(world.count("SELECT count(*) FROM messages").await, 5);
    assert_eq!(world.count("SELECT last_seq FROM channels").await, 5);
}

#[tokio::test]
async fn rows_that_changed_elsewhere_are_read_again() {
    let Some(world) = World::postgres().await else { return };
    let post = |text: &str| world.text(&world.person, text);
    world.submit(post("first")).await.unwrap();
    world.run("UPDATE channels SET last_seq = 7, last_at_ms = 5000").await;
    let eighth = world.submit(post("eighth")).await.unwrap().message;
    assert_eq!((eighth.seq().0, eighth.at().0), (8, 5_000));
    world.run("UPDATE topics SET message_count = 40").await;
    world.submit(post("forty-first")).await.unwrap();
    assert_eq!(world.count("SELECT CAST(message_count AS bigint) FROM topics").await, 41);
    world.run("UPDATE topics SET archived = true").await;
    world.submit(post("revives")).await.unwrap();
    assert_eq!(world.count("SELECT count(*) FROM topics WHERE archived").await, 0);
    world.run("UPDATE topics SET name = 'other', name_key = 'other'").await;
    world.submit(post("in a topic of the old name")).await.unwrap();
    assert_eq!(world.count("SELECT count(*) FROM topics").await, 2);
    world.db.execute("UPDATE channels SET post_policy = 1, owner = $1", vec![id(world.agent.id)]).await;
    assert_eq!(kind(world.submit(post("by another")).await), ErrorKind::NotFound);
    world.run("UPDATE channels SET post_policy = 0, owner = NULL").await;
    world.submit(post("by anyone")).await.unwrap();
    world.db.execute("DELETE FROM channel_members WHERE account = $1", vec![id(world.person.id)]).await;
    assert_eq!(kind(world.submit(post("by a stranger")).await), ErrorKind::NotFound);
    assert_eq!(world.count("SELECT last_seq FROM channels").await, 12);
}

#[tokio::test]
async fn an_ask_that_ended_elsewhere_is_not_ended_again() {
    let Some(world) = World::postgres().await else { return };
    let other = world.db.writer(&Arc::new(Recorder::default()));
    for by_cancel in [false, true] {
        let (_, asks) = world.ask(1).await;
        if by_cancel {
            submit(&other, &tenant(), world.cancel(asks[0])).await.unwrap();
        } else {
            submit(&other, &tenant(), world.answer(asks[0])).await.unwrap();
        }
        assert_eq!(kind(world.submit(world.answer(asks[0])).await), ErrorKind::Conflict);
    }
    let removed = "DELETE FROM channel_members WHERE account = $1";
    let (_, asks) = world.ask(1).await;
    world.db.execute(removed, vec![id(world.person.id)]).await;
    assert_eq!(kind(world.submit(world.answer(asks[0])).await), ErrorKind::NotFound);
    assert_eq!(world.count("SELECT count(*) FROM asks WHERE closed_at_ms IS NULL").await, 1);
}

#[tokio::test]
async fn a_cursor_that_moved_elsewhere_is_read_again_and_passes_own_messages() {
    let Some(world) = World::postgres().await else { return };
    let other = world.db.writer(&Arc::new(Recorder::default()));
    let acked = || world.count("SELECT acked_seq FROM cursors");
    let one = world.submit(world.text(&world.person, "one")).await.unwrap().message;
    world.submit(world.receipt(one.id())).await.unwrap();
    assert_eq!(acked().await, 1);
    world.ask(1).await;
    let three = world.submit(world.text(&world.person, "three")).await.unwrap().message;
    let four = world.submit(world.text(&world.person, "four")).await.unwrap().message;
    submit(&other, &tenant(), world.receipt(three.id())).await.unwrap();
    assert_eq!(acked().await, 3);
    world.submit(world.receipt(four.id())).await.unwrap();
    assert_eq!(acked().await, 4);
    // Known from the first batch on: what the agent wrote itself needs no receipt.
    world.ask(1).await;
    let six = world.submit(world.text(&world.person, "six")).await.unwrap().message;
    let seven = world.submit(world.text(&world.person, "seven")).await.unwrap().message;
    world.submit(world.receipt(seven.id())).await.unwrap();
    assert_eq!(acked().await, 5);
    world.submit(world.receipt(six.id())).await.unwrap();
    assert_eq!(acked().await, 7);
}

#[tokio::test]
async fn a_key_that_was_used_returns_the_first_message_also_when_its_rows_are_known() {
    let Some(world) = World::postgres().await else { return };
    world.submit(world.text(&world.person, "first")).await.unwrap();
    let stored = world.submit(world.keyed("second", "key")).await.unwrap();
    let again = world.submit(world.keyed("second", "key")).await.unwrap();
    assert_eq!((again.inserted, again.message.id()), (false, stored.message.id()));
    assert_eq!(world.count("SELECT last_seq FROM channels").await, 2);
}

#[tokio::test]
async fn two_writers_that_take_turns_leave_dense_seqs() {
    let Some(world) = World::postgres().await else { return };
    let other = world.db.writer(&Arc::new(Recorder::default()));
    for turn in 0..20_u64 {
        let writer = if turn % 3 == 0 { &other } else { &world.writer };
        let posted = submit(writer, &tenant(), world.text(&world.person, "turn")).await.unwrap();
        assert_eq!(posted.message.seq().0, turn + 1);
    }
    assert_eq!(world.count("SELECT CAST(message_count AS bigint) FROM topics").await, 20);
}
