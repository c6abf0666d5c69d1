//! Waiters over the journal's files: what a later life of the agent knows of those that died with an earlier one.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::path::Path;

use compass_agent::{
    inbox::Inbox,
    lanes::{Effect, Turns},
    seen::{Delivery, SeenAsk, SeenBlock, SeenMessage},
    tools::PostAskParams,
    waiters::Outcome,
};
use compass_gateway::FileJournal;
use tokio::sync::oneshot;

fn life(state: &Path, owner: &str) -> Inbox<FileJournal> {
    Inbox::new(FileJournal::open(state, "a1").expect("opens"), Turns::Driven, owner)
}

fn ask() -> PostAskParams {
    PostAskParams { questions: vec![], topic: "t".into(), channel: None, create_topic: true }
}

fn answer(id: &str, ask_id: &str) -> Delivery {
    let ask = SeenAsk { ask_id: ask_id.into(), answered: true, ..SeenAsk::default() };
    let blocks = vec![SeenBlock::AskAnswer { ask, asker_account_id: "a1".into() }];
    Delivery {
        message: SeenMessage { id: id.into(), blocks, ..SeenMessage::default() },
        ..Delivery::default()
    }
}

#[test]
fn g9_a_wait_is_on_disk_before_the_post_and_until_the_answer_was_taken() {
    let state = tempfile::tempdir().expect("a folder");
    let mut inbox = life(state.path(), "one");
    let (tell, mut outcome) = oneshot::channel();
    inbox.wait("n:1", ask(), false, tell).expect("written");
    assert_eq!(life(state.path(), "two").left_behind().expect("read").len(), 1);
    inbox.posted("n:1", "ask").expect("written");
    assert_eq!(inbox.arrive(answer("m", "ask")).expect("read"), []);
    assert!(matches!(outcome.try_recv(), Ok(Outcome::Answered(_))));
    let left = life(state.path(), "two").left_behind().expect("read");
    assert_eq!(left[0].ask_id.as_deref(), Some("ask"));
    assert_eq!(inbox.took("n:1").expect("written"), [Effect::Acknowledge(vec!["m".into()])]);
    assert_eq!(life(state.path(), "two").left_behind().expect("read"), []);
    // Its repeat is acknowledged and nothing else, in any life.
    let again = life(state.path(), "two").arrive(answer("m", "ask")).expect("read");
    assert!(again.contains(&Effect::Acknowledge(vec!["m".into()])), "{again:?}");
    assert!(!again.iter().any(|effect| matches!(effect, Effect::Inject { .. })), "{again:?}");
}

#[test]
fn g9_an_answer_nobody_took_before_the_crash_goes_down_the_deliver_lane_of_the_next_life() {
    let state = tempfile::tempdir().expect("a folder");
    let mut dead = life(state.path(), "one");
    let (tell, _outcome) = oneshot::channel();
    dead.wait("n:1", ask(), false, tell).expect("written");
    dead.posted("n:1", "ask").expect("written");
    assert_eq!(dead.arrive(answer("m", "ask")).expect("read"), []);
    drop(dead);
    let mut later = life(state.path(), "two");
    let [left] = later.left_behind().expect("read").try_into().expect("one");
    later.end_wait(&left.key, Outcome::Withdrawn).expect("ended");
    let effects = later.arrive(answer("m", "ask")).expect("read");
    let [Effect::Inject { batch, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    assert!(!batch[0].delivered_before, "no model saw it");
}
