//! What every test needs: a world of processes, patience, trials, and drafts of asks.

mod acks;
mod attach;
mod browser;
mod drafts;
mod mcp;
mod process;
mod proxy;
mod random;
mod runner;
mod runner_process;
mod running;
mod tls;
mod world;

use std::time::{Duration, Instant};

use compass_client::{ChannelName, Client, Page, model::Message};

pub(crate) use acks::{Acks, now_us};
pub(crate) use attach::Attach;
pub(crate) use browser::Browser;
pub(crate) use drafts::{answered, choose, question, skip, write};
pub(crate) use mcp::{Mcp, McpHttp, Said, id_after};
pub(crate) use process::{Process, is_gone, program};
pub(crate) use proxy::Proxy;
pub(crate) use random::Random;
pub(crate) use runner::Runner;
pub(crate) use runner_process::{Given, Profile, RunnerProcess, given, given_answer, notes, program_of};
pub(crate) use running::{Running, open_ask};
pub(crate) use tls::{Authority, TlsProxy};
pub(crate) use world::{Done, Storage, World};

/// How long anything may take that must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Makes a test on SQLite and one on Postgres of each function.
macro_rules! on_both {
    ($($test:ident),* $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $test() {
                    let world = crate::support::World::start(crate::support::Storage::Sqlite).await;
                    super::$test(&mut world.unwrap()).await;
                }
            )*
        }
        mod postgres {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $test() {
                    // `None` where the test kit's own rule lets a machine without Postgres pass.
                    if let Some(mut world) =
                        crate::support::World::start(crate::support::Storage::Postgres).await
                    {
                        super::$test(&mut world).await;
                    }
                }
            )*
        }
    };
}
pub(crate) use on_both;

/// `full` trials if the run is a long one, else the sample.
pub(crate) fn trials(full: usize, sample: usize) -> usize {
    if compass_testkit::is_long() { full } else { sample }
}

/// Looks again and again until `look` finds something; the only place where a test waits by the clock.
pub(crate) async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "{what} did not come within {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits for `future`, at most as long as patience lasts.
pub(crate) async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(PATIENCE, future).await;
    done.unwrap_or_else(|_| panic!("{what} did not come within {PATIENCE:?}"))
}

/// How long an answer usually takes here: the median of a few.
pub(crate) async fn usual_time(world: &World, attach: &mut Attach) -> Duration {
    let person = world.person().await;
    let mut times = Vec::new();
    for trial in 0..5 {
        let (_, ask) = world.ask("bot", &format!("usual {trial}")).await;
        let start = Instant::now();
        person.answer(&ask.ask_id, choose("0")).await.unwrap();
        times.push(start.elapsed());
        let line = attach.answer_to(&ask.ask_id).await;
        attach.ack(line["message"]["id"].as_str().unwrap()).await;
    }
    world.nothing_owed("bot").await;
    times.sort();
    times[2]
}

/// Every message of a channel, page by page, the newest first.
pub(crate) async fn all_messages(person: &Client, channel: &ChannelName) -> Vec<Message> {
    let mut found: Vec<Message> = Vec::new();
    loop {
        let before = found.last().map(|message| message.id.clone());
        let page = Page { limit: 200, before, snapshot_seq: 0 };
        let messages = person.messages(channel, None, &page).await.unwrap();
        if messages.is_empty() {
            return found;
        }
        found.extend(messages);
    }
}
