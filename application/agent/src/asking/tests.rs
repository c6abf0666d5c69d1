//! An ask and its end while time stands still: answered, withdrawn, too late, unreachable, run again.

use std::sync::Mutex;

use async_trait::async_trait;

use super::*;
use crate::{
    ports::{Mark, Owed},
    seen::{SeenBlock, SeenMessage},
    testing::{Paper, answer, ask, ids},
};

/// A server with one ask.
#[derive(Default)]
struct Server {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    ask: SeenAsk,
    posts: Vec<String>,
    /// What posts fail with, in order, before they succeed.
    fails: Vec<CallError>,
    hangs: bool,
    acknowledged: Vec<String>,
    owed: bool,
    /// The number of the post at which a person answers.
    answered_at: usize,
}

impl Server {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("not poisoned")
    }
}

#[async_trait]
impl Gateway for Server {
    async fn call(&self, _: &str, call: Call) -> Result<CallResult, CallError> {
        let hangs = self.state().hangs;
        if hangs {
            std::future::pending::<()>().await;
        }
        let mut state = self.state();
        match call {
            Call::Post { key, .. } => {
                state.posts.push(key);
                if !state.fails.is_empty() {
                    return Err(state.fails.remove(0));
                }
                if state.posts.len() == state.answered_at {
                    (state.ask.answered, state.owed) = (true, true);
                }
                let ask = SeenAsk { ask_id: "a1".into(), ..state.ask.clone() };
                let blocks = vec![SeenBlock::Ask { ask }];
                Ok(CallResult::Post(Some(SeenMessage { blocks, ..SeenMessage::default() })))
            }
            Call::CancelAsk { .. } if state.ask.answered => {
                Err(CallError::Refused { code: "already_exists".into(), message: String::new() })
            }
            Call::CancelAsk { .. } => Ok(CallResult::CancelAsk),
            _ => Ok(CallResult::Unexpected("other".into())),
        }
    }
}

#[async_trait]
impl Mailbox for Server {
    async fn fetch(&self, _: u32, answers_ask_id: Option<&str>) -> Result<Owed, CallError> {
        assert_eq!(answers_ask_id, Some("a1"));
        let deliveries = if self.state().owed { vec![answer("m1", "a1")] } else { Vec::new() };
        Ok(Owed { deliveries, waiting: 0 })
    }

    async fn acknowledge(&self, message_ids: &[String]) -> Result<(), CallError> {
        self.state().acknowledged.extend_from_slice(message_ids);
        Ok(())
    }
}

fn wait() -> Wait {
    Wait { key: "hook:1".into(), owner: "hook".into(), ask: ask(), ask_id: None, keep: true }
}

/// Runs the ask for so many seconds, and says how it ended and how long that took.
async fn run(server: &Server, journal: &Paper, seconds: u64) -> (Result<Ended, AskingError>, Duration) {
    let begun = Instant::now();
    let mut journal = journal.clone();
    let mut asking = Asking { gateway: server, mailbox: server, journal: &mut journal };
    let ended = asking.run(wait(), begun + Duration::from_secs(seconds)).await;
    (ended, begun.elapsed())
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_time_is_marked_acknowledged_and_the_wait_is_over() {
    let (server, journal) = (Server::default(), Paper::default());
    server.state().answered_at = 4;
    let (ended, _) = run(&server, &journal, 50).await;
    let Ok(Ended::Answered { ask, message_id }) = ended else { panic!("{ended:?}") };
    assert_eq!((ask.ask_id.as_str(), message_id.as_deref()), ("a1", Some("m1")));
    assert_eq!(journal.sheet().marks.get("m1"), Some(&Mark::Begun));
    assert_eq!(journal.sheet().waits["hook:1"].ask_id.as_deref(), Some("a1"), "others leave the answer here");
    assert_eq!(server.state().acknowledged, ids(&[]));
    let mut paper = journal.clone();
    let mut asking = Asking { gateway: &server, mailbox: &server, journal: &mut paper };
    asking.took("hook:1", message_id.as_deref()).await.expect("taken");
    assert_eq!(server.state().acknowledged, ids(&["m1"]));
    assert_eq!(journal.sheet().marks.get("m1"), Some(&Mark::Taken));
    assert!(journal.sheet().waits.is_empty());
    assert!(server.state().posts.iter().all(|key| key == "hook:1"), "one ask");
}

#[tokio::test(start_paused = true)]
async fn nobody_answers_in_time_and_the_ask_stays_open() {
    for seconds in [0, 50] {
        let (server, journal) = (Server::default(), Paper::default());
        let (ended, took) = run(&server, &journal, seconds).await;
        assert_eq!(ended.expect("ended"), Ended::StillOpen { ask_id: "a1".into() });
        assert_eq!(took.as_secs(), seconds);
    }
}

#[tokio::test(start_paused = true)]
async fn a_withdrawn_ask_is_told_as_such_and_one_answered_before_is_answered_at_once() {
    let (server, journal) = (Server::default(), Paper::default());
    server.state().ask.cancelled = true;
    assert_eq!(run(&server, &journal, 50).await.0.expect("ended"), Ended::Withdrawn { ask_id: "a1".into() });
    let (server, journal) = (Server::default(), Paper::default());
    server.state().ask.answered = true;
    let (ended, took) = run(&server, &journal, 0).await;
    assert!(matches!(ended, Ok(Ended::Answered { message_id: None, .. })), "{ended:?}");
    assert_eq!(took.as_secs(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_away_for_a_moment_is_waited_for() {
    let (server, journal) = (Server::default(), Paper::default());
    let broken = CallError::OutcomeUnknown("reset".into());
    server.state().fails = vec![CallError::Unreachable("gone".into()), broken];
    server.state().answered_at = 5;
    assert!(matches!(run(&server, &journal, 50).await.0, Ok(Ended::Answered { .. })));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_asked_is_an_error_at_once_and_nobody_waits() {
    let (server, journal) = (Server::default(), Paper::default());
    server.state().fails = vec![CallError::Refused { code: "invalid_argument".into(), message: "no".into() }];
    let (ended, took) = run(&server, &journal, 50).await;
    assert!(matches!(ended, Err(AskingError::Tool(_))), "{ended:?}");
    assert_eq!(took.as_secs(), 0);
    assert!(journal.sheet().waits.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_token_that_is_revoked_meanwhile_ends_the_wait() {
    let (server, journal) = (Server::default(), Paper::default());
    let unreachable = || CallError::Unreachable("gone".into());
    let revoked = CallError::Refused { code: "unauthenticated".into(), message: "no".into() };
    server.state().fails = vec![unreachable(), unreachable(), revoked];
    let (ended, took) = run(&server, &journal, 50).await;
    assert!(matches!(ended, Err(AskingError::Tool(_))), "{ended:?}");
    assert!(took < Duration::from_secs(50), "{took:?}");
    assert!(journal.sheet().waits.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_replies_holds_nobody_longer_than_the_grace() {
    let (server, journal) = (Server::default(), Paper::default());
    server.state().hangs = true;
    let (ended, took) = run(&server, &journal, 50).await;
    assert!(matches!(ended, Err(AskingError::Late)), "{ended:?}");
    assert!(took <= Duration::from_secs(52), "{took:?}");
    assert!(journal.sheet().waits.is_empty());
}

#[tokio::test(start_paused = true)]
async fn no_wait_no_post() {
    let (server, journal) = (Server::default(), Paper::default());
    journal.sheet().broken = true;
    assert!(matches!(run(&server, &journal, 50).await.0, Err(AskingError::Journal(_))));
    assert_eq!(server.state().posts.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_withdrawal_says_whether_a_person_was_first() {
    let (server, mut journal) = (Server::default(), Paper::default());
    let mut asking = Asking { gateway: &server, mailbox: &server, journal: &mut journal };
    assert_eq!(asking.withdraw("a1").await, Ok(true));
    server.state().ask.answered = true;
    assert_eq!(asking.withdraw("a1").await, Ok(false));
}
