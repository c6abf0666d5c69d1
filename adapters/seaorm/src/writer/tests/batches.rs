//! Jobs that share a batch, and rows that are not what they should be.

use std::sync::Arc;

use compass_domain::{AccountId, AskId, Classified as _, ErrorKind, Event, LockedAsk, UnixMillis};
use compass_ports::{Ids as _, Locks, StorageError, Writes, submit};
use compass_testkit::jobs::{Acknowledge, JobError, Post, Raw, Route};
use tokio::sync::Barrier;
use tokio_util::task::TaskTracker;

use super::{World, tenant};
use crate::{blocks, ids::id, writer::table::Shape};

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
                    run: 0,
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
                run: 0,
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
    for change in blocks::close(&[], Shape::Many).unwrap() {
        let mut postgres = String::new();
        change.append(&mut postgres, 2);
        let (sqlite, _) = change.sqlite().unwrap();
        for sql in [postgres.as_str(), sqlite] {
            assert!(sql.contains("closed_at_ms IS NULL"), "{}: {sql}", change.name());
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
