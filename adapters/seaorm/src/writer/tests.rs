//! What the writer's contract cannot see from outside: one batch, broken connections, corrupt rows.

use std::sync::Arc;

use compass_domain::{
    Account, AccountId, AccountKind, AskId, ChannelId, Classified as _, ErrorKind, Event, Handle, LockedAsk,
    Message, TenantId, UnixMillis, UserRole,
    message::{DraftBlock, IdempotencyKey, RequestDigest},
    topic::TopicSelector,
};
use compass_ports::{Ids, Locks, StorageError, WriteJob, Writes, submit};
use compass_testkit::{
    RandomIds, drafts,
    jobs::{Acknowledge, Answer, Cancel, JobError, Post, Raw, Route},
};
use sqlx::Connection as _;
use tokio::sync::Barrier;
use tokio_util::task::TaskTracker;

use super::{
    SeaWriter,
    needs::{Call, Needs},
    postgres::{counted_types, types},
    script,
    session::Session,
    sql::Read,
};
use crate::{
    blocks,
    dialect::Dialect,
    ids::id,
    testing::{Db, Recorder},
    transaction::{Access, Pools},
};

/// A person and its agent in one channel; the agent has a cursor there and is not subscribed.
struct World {
    db: Db,
    writer: SeaWriter,
    bus: Arc<Recorder>,
    ids: RandomIds,
    person: Account,
    agent: Account,
    channel: ChannelId,
}

impl World {
    async fn new(db: Db) -> Self {
        let ids = RandomIds::default();
        let (person, agent, channel) = (ids.account(), ids.account(), ids.channel());
        let values = vec![id(person), id(agent), id(channel)];
        // Deferred keys let the two rows of an agent and its home name each other.
        let accounts = "INSERT INTO accounts (id, tenant, handle, display_name, kind, owner, home_channel)
            VALUES ($1, 'default', 'ana', '', 0, NULL, NULL), ($2, 'default', 'bot', '', 1, $1, $3)";
        let channels =
            "INSERT INTO channels (id, tenant, name, name_key, kind, membership_mode, post_policy, mandatory)
            VALUES ($1, 'default', 'room', 'room', 0, 0, 0, false)";
        let members = "INSERT INTO channel_members (channel, account, tenant, subscribed, joined_no)
            VALUES ($3, $1, 'default', false, 1), ($3, $2, 'default', false, 2)";
        let cursors = "INSERT INTO cursors (agent, channel, tenant, acked_seq) VALUES ($1, $2, 'default', 0)";
        let seeds = [
            (accounts, values.clone()),
            (channels, vec![id(channel)]),
            (members, values),
            (cursors, vec![id(agent), id(channel)]),
        ];
        db.execute_all(seeds).await;
        let bus = Arc::new(Recorder::default());
        let writer = db.writer(&bus);
        let account = |id, handle, kind| Account {
            id,
            handle: Handle::parse(handle).unwrap(),
            display_name: String::new(),
            kind,
        };
        Self {
            person: account(person, "ana", AccountKind::User { role: UserRole::Member }),
            agent: account(
                agent,
                "bot",
                AccountKind::Agent { owner: person, home_channel: channel, parent: None },
            ),
            db,
            writer,
            bus,
            ids,
            channel,
        }
    }

    /// On each database.
    async fn all() -> Vec<Self> {
        let mut worlds = Vec::new();
        for db in Db::both().await {
            worlds.push(Self::new(db).await);
        }
        worlds
    }

    async fn postgres() -> Option<Self> {
        Some(Self::new(Db::postgres().await?).await)
    }

    fn post(&self, author: &Account, blocks: Vec<DraftBlock>) -> (Post, Vec<AskId>) {
        let (content, asks) = drafts::content(blocks, &self.ids);
        let post = Post {
            author: author.actor(),
            channel: self.channel,
            topic: topic("talk"),
            new_topic: self.ids.topic(),
            id: self.ids.message(),
            content,
            key: None,
            now: UnixMillis(1_000),
        };
        (post, asks)
    }

    fn text(&self, author: &Account, text: &str) -> Post {
        self.post(author, vec![drafts::text(text)]).0
    }

    fn keyed(&self, text: &str, key: &str) -> Post {
        let key = IdempotencyKey::parse(key).unwrap().unwrap();
        Post { key: Some((key, RequestDigest([7; 32]))), ..self.text(&self.person, text) }
    }

    async fn ask(&self, count: usize) -> (Arc<Message>, Vec<AskId>) {
        let blocks = (0..count).map(|_| DraftBlock::Ask(drafts::yes_or_no())).collect();
        let (post, asks) = self.post(&self.agent, blocks);
        (self.submit(post).await.unwrap().message, asks)
    }

    fn answer(&self, ask: AskId) -> Answer {
        let by = self.person.actor().human().unwrap();
        Answer {
            ask,
            by,
            answers: drafts::answers(drafts::yes()),
            id: self.ids.message(),
            now: UnixMillis(2_000),
        }
    }

    fn cancel(&self, ask: AskId) -> Cancel {
        Cancel { ask, actor: self.agent.id, now: UnixMillis(2_000) }
    }

    async fn submit<J: WriteJob>(&self, job: J) -> Result<J::Outcome, J::Error> {
        submit(&self.writer, &tenant(), job).await
    }

    async fn count(&self, sql: &str) -> i64 {
        self.db.number(sql).await
    }
}

fn tenant() -> TenantId {
    TenantId::default_tenant()
}

fn topic(name: &str) -> TopicSelector {
    TopicSelector::Name { name: compass_domain::TopicName::parse(name).unwrap(), existing_only: false }
}

const READS: [(Read, &str); 13] = [
    (Read::LockChannels, r#"{"channels":[],"asks":[]}"#),
    (Read::LockMessages, "[]"),
    (Read::LockTopics, r#"{"ids":[],"names":[],"asks":[]}"#),
    (Read::LockUnrouted, "[]"),
    (Read::LockOwed, "[]"),
    (Read::LockCursors, "[]"),
    (Read::Participants, r#"{"channels":[],"asks":[]}"#),
    (Read::Posted, "[]"),
    (Read::Asks, "[]"),
    (Read::Places, "[]"),
    (Read::OwnSeqs, "[]"),
    (Read::Routed, "[]"),
    (Read::Audience, "[]"),
];

#[tokio::test]
async fn every_read_runs_on_empty_tables() {
    for db in Db::both().await {
        for (read, payload) in READS {
            let mut session = Session::new(&db.storage.pools, &tenant());
            let call = Call { read, payload: payload.to_owned() };
            let rows = session.read(&[call]).await.unwrap_or_else(|fault| panic!("{read:?}: {fault:?}"));
            assert!(matches!(rows.as_slice(), [rows] if rows.is_empty()), "{read:?}");
            session.abandon().await;
        }
    }
}

#[tokio::test]
async fn joined_reads_return_the_rows_of_each_in_the_order_of_the_calls() {
    for world in World::all().await {
        let (message, asks) = world.ask(1).await;
        let locks = [
            Locks::Answer { ask: asks[0], actor: world.agent.id },
            Locks::Route { message: message.id() },
            Locks::Acknowledge { agent: world.agent.id, messages: vec![message.id()] },
        ];
        let calls = Needs::of(&locks).calls().unwrap();
        let mut session = Session::new(&world.db.storage.pools, &tenant());
        let rows = session.read(&calls).await.unwrap();
        session.abandon().await;
        let found: Vec<(Read, usize)> = calls.iter().map(|call| call.read).zip(rows.iter().map(Vec::len)).collect();
        let of = |read| found.iter().find(|(other, _)| *other == read).map(|(_, rows)| *rows);
        for read in [Read::LockChannels, Read::LockTopics, Read::Participants, Read::Asks, Read::Places, Read::Routed] {
            assert_eq!(of(read), Some(1), "{read:?} of {found:?}");
        }
        let asked = calls.iter().position(|call| call.read == Read::Asks).unwrap();
        // Postgres writes ids with hyphens.
        assert!(rows[asked][0].columns.replace('-', "").contains(&asks[0].to_string()));
        assert!(rows[asked][0].blocks.as_ref().unwrap().contains("ask"));
    }
}

/// The plan that a statement keeps, made as the role and with the settings of the writer's connection.
async fn plan(connection: &mut sqlx::PgConnection, types: &str, values: &str, sql: &str) -> String {
    let script =
        format!("PREPARE planned ({types}) AS {sql}; EXPLAIN EXECUTE planned ({values}); DEALLOCATE planned");
    let rows = sqlx::raw_sql(sqlx::AssertSqlSafe(script)).fetch_all(connection).await.unwrap();
    let lines = rows.iter().map(|row| sqlx::Row::get::<String, _>(row, 0));
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn no_statement_of_the_writer_scans_a_table() {
    let Some(world) = World::postgres().await else { return };
    let mut connection = sqlx::PgConnection::connect(&world.db.url).await.unwrap();
    let settings = format!("SET ROLE compass_app; {}", super::postgres::SETTINGS);
    sqlx::raw_sql(sqlx::AssertSqlSafe(settings)).execute(&mut connection).await.unwrap();
    let mut plans = Vec::new();
    for (read, _) in READS {
        let statement = read.statement();
        let plan = plan(&mut connection, "jsonb, text", "'{}', 'default'", &statement.postgres).await;
        plans.push((statement.name, plan));
    }
    let writes = super::changes::postgres_statements();
    for (name, sql) in &writes {
        plans.push((name, plan(&mut connection, "jsonb, text", "'[]', 'default'", sql).await));
    }
    let loads = || READS.iter().map(|(read, _)| *read).filter(|read| !read.locks());
    let joined = script::union(loads().map(|read| (read.statement().postgres.as_ref(), read.has_blocks())));
    let values = format!("'default'{}", ", '{}'".repeat(loads().count()));
    plans.push(("loads", plan(&mut connection, &types(loads().count()), &values, &joined).await));
    let joined = script::modify(writes.iter().map(|(_, sql)| (*sql, true)));
    let values = format!("'default'{}, '{{}}'", ", '[]'".repeat(writes.len()));
    plans.push(("writes", plan(&mut connection, &counted_types(writes.len()), &values, &joined).await));
    let mut wholes = Vec::new();
    for (name, plan) in plans {
        assert!(!plan.contains("Seq Scan"), "{name}:\n{plan}");
        // An index that is read without a condition is the whole table in another order.
        let lines: Vec<&str> = plan.lines().collect();
        for pair in lines.windows(2) {
            let whole = pair[0].contains("Index") && pair[0].contains("Scan") && !pair[1].contains("Index Cond");
            if whole {
                wholes.push(format!("{name}: {}", pair[0].trim()));
            }
        }
    }
    assert!(wholes.is_empty(), "{}", wholes.join("\n"));
}

#[tokio::test]
async fn no_statement_of_the_writer_reads_a_whole_tenant_on_sqlite() {
    let world = World::new(Db::sqlite().await).await;
    let Pools::Sqlite { read, .. } = &world.db.storage.pools else { panic!("not SQLite") };
    let reads = READS.map(|(read, _)| (read.statement().name, read.statement().sqlite.as_ref().to_owned()));
    let writes = super::changes::sqlite_statements();
    let writes = writes.into_iter().map(|(name, sql)| (name, sql.to_owned()));
    for (name, sql) in reads.into_iter().chain(writes) {
        let explain = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
        let rows = sqlx::query(explain).bind("[]").bind("default").fetch_all(read).await.unwrap();
        for row in rows {
            let step: String = sqlx::Row::get(&row, "detail");
            assert!(!step.contains("(tenant=?)"), "{name}: {step}");
        }
    }
}

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

#[tokio::test]
async fn jobs_of_one_batch_see_each_other_and_commit_once() {
    for world in World::all().await {
        let jobs =
            (0..10).map(|n| world.submit(world.text(&world.person, &format!("it's {n} \\ \u{1f600}"))));
        let posted = futures::future::join_all(jobs).await;
        let seqs: Vec<u64> = posted.into_iter().map(|one| one.unwrap().message.seq().0).collect();
        assert_eq!(seqs, (1..=10).collect::<Vec<u64>>());
        assert_eq!(world.count("SELECT CAST(message_count AS bigint) FROM topics").await, 10);
        assert_eq!(world.count("SELECT last_seq FROM channels").await, 10);
        // The first one told its topic too, in the same list.
        let lists = world.bus.lists();
        assert_eq!(lists.len(), 10);
        assert!(matches!(lists[0].as_slice(), [Event::TopicUpserted(_), Event::MessagePosted(_)]));
    }
}

#[tokio::test]
async fn two_asks_of_one_message_that_end_in_one_batch_both_end() {
    for world in World::all().await {
        let (message, asks) = world.ask(3).await;
        let (one, other) =
            tokio::join!(world.submit(world.answer(asks[0])), world.submit(world.cancel(asks[1])));
        let (one, _) = one.unwrap();
        assert!(other.unwrap());
        assert_eq!(one.id(), message.id());
        let ended = "SELECT count(*) FROM asks WHERE closed_at_ms IS NOT NULL";
        assert_eq!(world.count(ended).await, 2);
        // The third is still open in blocks and entry alike, or this would be corrupt.
        let (stored, _) = world.submit(world.answer(asks[2])).await.unwrap();
        assert!(stored.asks().all(|ask| !ask.is_open()));
        assert_eq!(world.count(ended).await, 3);
    }
}

#[tokio::test]
async fn a_job_that_breaks_its_batch_fails_alone() {
    for world in World::all().await {
        let (_, asks) = world.ask(1).await;
        let stray = world.text(&world.person, "to nowhere");
        let before = world.count("SELECT count(*) FROM messages").await;
        let raw = {
            let (topic, ids) = (world.ids.topic(), world.ids.message());
            let (author, channel) = (world.person.actor(), world.channel);
            let content = stray.content.clone();
            Raw::new(Locks::Cancel { ask: asks[0], actor: world.agent.id }, move |loaded| {
                let mut writes = Writes::none();
                let found = loaded.ask_for(asks[0], AccountId::from_bytes([0; 16]));
                assert!(matches!(found, Ok(None)));
                let placement = compass_domain::message::Placement {
                    id: ids,
                    channel,
                    topic,
                    seq: compass_domain::Seq(50),
                    at: UnixMillis(1),
                };
                writes.append(compass_domain::NewMessage::post(author, &content, placement, None));
                writes
            })
        };
        let (broken, fine) = tokio::join!(world.submit(raw), world.submit(world.text(&world.person, "fine")));
        assert!(matches!(broken, Err(StorageError::Internal(_))), "{broken:?}");
        assert_eq!(fine.unwrap().message.seq().0, 2);
        assert_eq!(world.count("SELECT count(*) FROM messages").await, before + 1);
    }
}

#[tokio::test]
async fn a_failure_after_the_close_leaves_the_ask_open() {
    for world in World::all().await {
        let (message, asks) = world.ask(1).await;
        let (ask, agent) = (asks[0], world.agent.id);
        let stray = world.text(&world.person, "to nowhere");
        let (topic, new, channel, author) =
            (world.ids.topic(), world.ids.message(), world.channel, world.person.actor());
        let raw = Raw::new(Locks::Cancel { ask, actor: agent }, move |loaded| {
            let found = loaded.ask_for(ask, agent).unwrap().unwrap();
            let LockedAsk::Open(open) = loaded.lock_ask(ask, &found).unwrap() else { panic!("open") };
            let mut writes = Writes::none();
            writes.close(open.cancel(UnixMillis(5)));
            let placement = compass_domain::message::Placement {
                id: new,
                channel,
                topic,
                seq: compass_domain::Seq(2),
                at: UnixMillis(5),
            };
            writes.append(compass_domain::NewMessage::post(author, &stray.content, placement, None));
            writes
        });
        world.submit(raw).await.unwrap_err();
        assert_eq!(world.count("SELECT count(*) FROM messages").await, 1);
        assert_eq!(world.count("SELECT count(*) FROM asks WHERE closed_at_ms IS NULL").await, 1);
        let (answered, _) = world.submit(world.answer(ask)).await.unwrap();
        assert_eq!(answered.id(), message.id());
    }
}

/// The condition alone, without any lock: the second proof of one winner.
#[tokio::test]
async fn a_stale_end_is_a_conflict_and_changes_nothing() {
    for world in World::all().await {
        let (_, asks) = world.ask(2).await;
        let stale = world.stale(asks[0]).await;
        world.submit(world.answer(asks[0])).await.unwrap();
        let blocks = if world.db.url.starts_with("sqlite") {
            "SELECT unicode(blocks) + length(blocks) FROM messages WHERE seq = 1"
        } else {
            "SELECT hashtextextended(blocks::text, 0) FROM messages WHERE seq = 1"
        };
        let before = world.count(blocks).await;
        let raw = Raw::new(Locks::Acknowledge { agent: world.agent.id, messages: Vec::new() }, move |_| {
            let mut writes = Writes::none();
            writes.close(stale.clone());
            writes
        });
        let refused = world.submit(raw).await;
        assert!(matches!(refused, Err(StorageError::Conflict(_))), "{refused:?}");
        assert_eq!(world.count(blocks).await, before);
        assert_eq!(world.count("SELECT count(*) FROM asks WHERE closed_at_ms IS NULL").await, 1);
    }
}

impl World {
    /// An end of an open ask that is not stored.
    async fn stale(&self, ask: AskId) -> compass_domain::ClosedAsk {
        let kept: Arc<std::sync::Mutex<Option<compass_domain::ClosedAsk>>> = Arc::default();
        let (keep, agent) = (Arc::clone(&kept), self.agent.id);
        let raw = Raw::new(Locks::Cancel { ask, actor: agent }, move |loaded| {
            let found = loaded.ask_for(ask, agent).unwrap().unwrap();
            let LockedAsk::Open(open) = loaded.lock_ask(ask, &found).unwrap() else { panic!("open") };
            *keep.lock().unwrap() = Some(open.cancel(UnixMillis(5)));
            Writes::none()
        });
        self.submit(raw).await.unwrap();
        kept.lock().unwrap().take().unwrap()
    }
}

#[test]
fn every_text_that_closes_carries_the_condition() {
    for dialect in [Dialect::Postgres, Dialect::Sqlite] {
        for change in blocks::close(dialect, &[]).unwrap() {
            assert!(change.sql.contains("closed_at_ms IS NULL"), "{}", change.name);
        }
    }
}

#[tokio::test]
async fn an_ask_whose_entry_disagrees_with_its_blocks_is_corrupt_and_stays() {
    for world in World::all().await {
        let (_, asks) = world.ask(1).await;
        let (_, other) = world.ask(1).await;
        world
            .db
            .execute(
                "UPDATE asks SET digest = $1 WHERE ask_id = $2",
                vec![vec![0_u8; 32].into(), id(asks[0])],
            )
            .await;
        let (corrupt, fine) =
            tokio::join!(world.submit(world.answer(asks[0])), world.submit(world.answer(other[0])));
        let corrupt = corrupt.unwrap_err();
        assert_eq!(corrupt.kind(), ErrorKind::Internal);
        assert!(matches!(corrupt, JobError::Storage(StorageError::Corrupt(_))), "{corrupt:?}");
        fine.unwrap();
        assert_eq!(world.count("SELECT count(*) FROM asks WHERE closed_at_ms IS NULL").await, 1);
    }
}

#[tokio::test]
async fn a_repeat_of_a_post_that_cannot_be_read_is_corrupt() {
    for world in World::all().await {
        world.submit(world.keyed("first", "key")).await.unwrap();
        let broken = if world.db.url.starts_with("sqlite") {
            "UPDATE messages SET blocks = '[{\"kind\":\"song\"}]'"
        } else {
            "UPDATE messages SET blocks = '[{\"kind\":\"song\"}]'::jsonb"
        };
        world.db.execute(broken, Vec::new()).await;
        let (repeat, fine) = tokio::join!(
            world.submit(world.keyed("first", "key")),
            world.submit(world.text(&world.person, "beside it"))
        );
        let repeat = repeat.unwrap_err().to_string();
        assert!(repeat.contains("block 0: unknown kind \"song\""), "{repeat}");
        fine.unwrap();
    }
}

#[tokio::test]
async fn an_owed_row_that_is_cleared_in_the_batch_that_makes_it_is_gone() {
    for world in World::all().await {
        let post = world.submit(world.text(&world.person, "@bot look")).await.unwrap();
        // Its home is elsewhere, so here only an owed row keeps a mention for it.
        let home = world.ids.channel();
        let channel =
            "INSERT INTO channels (id, tenant, name, name_key, kind, membership_mode, post_policy, mandatory)
            VALUES ($1, 'default', 'home', 'home', 0, 0, 0, false)";
        let moved = "UPDATE accounts SET home_channel = $1 WHERE kind = 1";
        world.db.execute_all([(channel, vec![id(home)]), (moved, vec![id(home)])]).await;
        let message = post.message.id();
        let receipt = Acknowledge { agent: world.agent.id, messages: vec![message] };
        let (routed, acknowledged) = tokio::join!(world.submit(Route { message }), world.submit(receipt));
        assert_eq!(routed.unwrap(), Some(vec![world.agent.id]));
        acknowledged.unwrap();
        assert_eq!(world.count("SELECT count(*) FROM owed").await, 0);
        assert_eq!(world.count("SELECT count(*) FROM unrouted").await, 0);
        assert_eq!(world.count("SELECT acked_seq FROM cursors").await, 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_writers_and_many_tasks_leave_dense_seqs() {
    for world in World::all().await {
        let second = world.db.writer(&world.bus);
        let tasks = TaskTracker::new();
        let barrier = Arc::new(Barrier::new(32));
        let mut handles = Vec::new();
        for n in 0..32 {
            let writer = if n % 2 == 0 { world.writer.clone() } else { second.clone() };
            let posts: Vec<Post> = (0..8).map(|m| world.text(&world.person, &format!("{n} {m}"))).collect();
            let barrier = Arc::clone(&barrier);
            handles.push(tasks.spawn(async move {
                barrier.wait().await;
                for post in posts {
                    submit(&writer, &tenant(), post).await.unwrap();
                }
            }));
        }
        for handle in handles {
            handle.await.unwrap();
        }
        assert_eq!(world.count("SELECT count(*) FROM messages").await, 256);
        assert_eq!(world.count("SELECT max(seq) FROM messages").await, 256);
        assert_eq!(world.count("SELECT last_seq FROM channels").await, 256);
        let disordered = "SELECT count(*) FROM messages a JOIN messages b ON a.seq = b.seq + 1 AND a.position < b.position";
        assert_eq!(world.count(disordered).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answer_against_cancel_from_two_writers_has_one_winner() {
    for world in World::all().await {
        let second = world.db.writer(&world.bus);
        let mut wins = [0; 2];
        for trial in 0..50 {
            let (_, asks) = world.ask(1).await;
            let barrier = Arc::new(Barrier::new(2));
            let writers = if trial % 2 == 0 { [&world.writer, &second] } else { [&second, &world.writer] };
            let [one, other] = writers.map(Clone::clone);
            let (answer, cancel) = (world.answer(asks[0]), world.cancel(asks[0]));
            let tasks = TaskTracker::new();
            let wait = Arc::clone(&barrier);
            let answered = tasks.spawn(async move {
                wait.wait().await;
                submit(&one, &tenant(), answer).await
            });
            let cancelled = tasks.spawn(async move {
                barrier.wait().await;
                submit(&other, &tenant(), cancel).await
            });
            match (answered.await.unwrap(), cancelled.await.unwrap()) {
                (Ok(_), Err(lost)) => {
                    assert_eq!(lost.kind(), ErrorKind::Conflict);
                    wins[0] += 1;
                }
                (Err(lost), Ok(true)) => {
                    assert_eq!(lost.kind(), ErrorKind::Conflict);
                    wins[1] += 1;
                }
                other => panic!("trial {trial}: {other:?}"),
            }
        }
        assert_eq!(wins[0] + wins[1], 50);
        let answers = world.count("SELECT count(*) FROM messages WHERE answers_ask_id IS NOT NULL").await;
        assert_eq!(answers, wins[0]);
        assert_eq!(world.count("SELECT count(*) FROM asks WHERE ended = 2").await, wins[1]);
    }
}

/// The sessions of writers on the server, but not of this connection.
const TERMINATE: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%compass\\_%'";
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%EXECUTE compass\\_%'";

async fn until_a_writer_waits(admin: &mut sqlx::PgConnection) {
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
    let (writer, post) = (world.writer.clone(), world.keyed("second", "key"));
    let waiting = TaskTracker::new().spawn(async move { submit(&writer, &tenant(), post).await });
    until_a_writer_waits(&mut admin).await;
    sqlx::raw_sql(TERMINATE).execute(&mut admin).await.unwrap();
    let unknown = waiting.await.unwrap().unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::OutcomeUnknown);
    sqlx::raw_sql("ROLLBACK").execute(&mut holder).await.unwrap();
    let again = world.submit(world.keyed("second", "key")).await.unwrap();
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
