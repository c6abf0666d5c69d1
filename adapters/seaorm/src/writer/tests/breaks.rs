//! Connections, disks and callers that go away.

use compass_domain::{Classified as _, ErrorKind};
use compass_ports::submit;
use compass_testkit::jobs::Post;
use sqlx::Connection as _;
use tokio_util::task::TaskTracker;

use super::{World, tenant, topic};
use crate::{
    testing::Db,
    transaction::{Access, Pools},
    writer::SeaWriter,
};

#[tokio::test]
async fn a_full_disk_refuses_one_write_and_not_the_ones_after_it() {
    let world = World::new(Db::sqlite().await).await;
    let Pools::Sqlite { write, .. } = &world.db.storage.pools else { panic!("not SQLite") };
    world.submit(world.text(&world.person, "before")).await.unwrap();
    let pages: i64 = sqlx::query_scalar("PRAGMA page_count").fetch_one(write).await.unwrap();
    let full = sqlx::AssertSqlSafe(format!("PRAGMA max_page_count = {pages}"));
    sqlx::query(full).execute(write).await.unwrap();
    let refused = world.submit(world.text(&world.person, &"x".repeat(200_000))).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unavailable, "{refused}");
    // The limit went with the connection that met it.
    world.submit(world.text(&world.person, "after")).await.unwrap();
    assert_eq!(world.count("SELECT count(*) FROM messages").await, 2);
}

#[tokio::test]
async fn a_caller_that_goes_away_while_a_transaction_begins_leaves_none_open() {
    for world in World::all().await {
        for trial in 0..200_u32 {
            let tenant = tenant();
            let begin = world.db.storage.pools.tenant(&tenant, Access::Snapshot);
            // Dropped after this many polls, so somewhere between the first byte and the answer.
            drop_after(begin, trial % 6).await;
        }
        for _ in 0..50 {
            assert_eq!(world.count("SELECT count(*) FROM messages").await, 0);
        }
    }
}

/// Polls a future a few times and drops it.
async fn drop_after<F: Future>(future: F, polls: u32) {
    let mut future = Box::pin(future);
    for _ in 0..polls {
        if futures::poll!(&mut future).is_ready() {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// The sessions of writers on the server, but not of this connection.
const TERMINATE: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%compass\\_%'";
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%EXECUTE compass\\_%'";

pub(super) async fn until_a_writer_waits(admin: &mut sqlx::PgConnection) {
    while sqlx::query_scalar::<_, i64>(WAITING).fetch_one(&mut *admin).await.unwrap() == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_broke_before_the_commit_is_made_again_and_nobody_notices() {
    let Some(world) = World::postgres().await else { return };
    world.submit(world.text(&world.person, "first")).await.unwrap();
    let mut admin = sqlx::PgConnection::connect(&world.db.url).await.unwrap();
    sqlx::raw_sql(TERMINATE).execute(&mut admin).await.unwrap();
    let idle = world.submit(world.text(&world.person, "after an idle break")).await.unwrap();
    assert_eq!(idle.message.seq().0, 2);

    let mut holder = sqlx::PgConnection::connect(&world.db.url).await.unwrap();
    sqlx::raw_sql("BEGIN; SELECT id FROM channels FOR UPDATE").execute(&mut holder).await.unwrap();
    let (writer, post) = (world.writer.clone(), world.text(&world.person, "after a break while locking"));
    let waiting = TaskTracker::new().spawn(async move { submit(&writer, &tenant(), post).await });
    until_a_writer_waits(&mut admin).await;
    sqlx::raw_sql(TERMINATE).execute(&mut admin).await.unwrap();
    sqlx::raw_sql("ROLLBACK").execute(&mut holder).await.unwrap();
    assert_eq!(waiting.await.unwrap().unwrap().message.seq().0, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_breaks_while_committing_leaves_the_outcome_unknown() {
    let Some(world) = World::postgres().await else { return };
    world.submit(world.text(&world.person, "first")).await.unwrap();
    let mut admin = sqlx::PgConnection::connect(&world.db.url).await.unwrap();
    let mut holder = sqlx::PgConnection::connect(&world.db.url).await.unwrap();
    // An uncommitted row with the same key makes the insert wait for its end.
    let rival = "INSERT INTO messages (id, tenant, channel, topic, author, at_ms, seq, blocks, search_text,
            client_request_id, request_digest)
        SELECT gen_random_uuid(), tenant, channel, topic, author, 0, 900, blocks, '', 'key', '\\x00' FROM messages";
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("BEGIN; {rival}"))).execute(&mut holder).await.unwrap();
    // In a topic that is not known, so that it is decided under locks.
    let second = || Post { topic: topic("elsewhere"), ..world.keyed("second", "key") };
    let (writer, post) = (world.writer.clone(), second());
    let waiting = TaskTracker::new().spawn(async move { submit(&writer, &tenant(), post).await });
    until_a_writer_waits(&mut admin).await;
    sqlx::raw_sql(TERMINATE).execute(&mut admin).await.unwrap();
    let unknown = waiting.await.unwrap().unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::OutcomeUnknown);
    sqlx::raw_sql("ROLLBACK").execute(&mut holder).await.unwrap();
    let again = world.submit(second()).await.unwrap();
    assert_eq!((again.inserted, again.message.seq().0), (true, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreachable_database_is_unavailable_for_the_whole_batch_and_then_works_again() {
    let Some(world) = World::postgres().await else { return };
    world.submit(world.text(&world.person, "first")).await.unwrap();
    let options: sqlx::postgres::PgConnectOptions = world.db.url.parse().unwrap();
    let name = options.get_database().unwrap().to_owned();
    let mut server = sqlx::PgConnection::connect_with(&options.database("postgres")).await.unwrap();
    let allow =
        |allowed: bool| sqlx::AssertSqlSafe(format!("ALTER DATABASE {name} ALLOW_CONNECTIONS {allowed}"));
    sqlx::raw_sql(allow(false)).execute(&mut server).await.unwrap();
    let end = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
    sqlx::raw_sql(sqlx::AssertSqlSafe(end)).execute(&mut server).await.unwrap();
    let posts = (0..20).map(|n| world.submit(world.text(&world.person, &n.to_string())));
    let posted = futures::future::join_all(posts).await;
    let kinds = posted.into_iter().map(|one| one.unwrap_err().kind());
    assert!(kinds.into_iter().all(|kind| kind == ErrorKind::Unavailable));
    sqlx::raw_sql(allow(true)).execute(&mut server).await.unwrap();
    let again = world.submit(world.text(&world.person, "again")).await.unwrap();
    assert_eq!(again.message.seq().0, 2);
}

#[tokio::test]
async fn a_stopped_writer_finishes_its_queue_and_takes_nothing_more() {
    for world in World::all().await {
        let stop = tokio_util::sync::CancellationToken::new();
        let tasks = TaskTracker::new();
        let writer = SeaWriter::start(&world.db.storage, world.bus.clone(), &tasks, stop.clone());
        let default = tenant();
        let posts = (0..3).map(|n| submit(&writer, &default, world.text(&world.person, &n.to_string())));
        let stopping = async {
            stop.cancel();
            tasks.close();
        };
        let (posted, ()) = tokio::join!(futures::future::join_all(posts), stopping);
        assert!(posted.iter().all(Result::is_ok), "{posted:?}");
        tasks.wait().await;
        let refused = submit(&writer, &tenant(), world.text(&world.person, "late")).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unavailable);
    }
}
