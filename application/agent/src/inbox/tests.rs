//! Marks, lives and waiters.

use std::sync::Mutex;

use async_trait::async_trait;

use super::*;
use crate::{
    ports::{Call, CallError, CallResult, Gateway},
    seen::{SeenAsk, SeenBlock, SeenMessage},
    testing::{Paper, answer, ask, delivery, ids},
    waiters::{Left, withdraw},
};

fn inbox(paper: &Paper) -> Inbox<Paper> {
    Inbox::new(paper.clone(), Turns::Driven, "this life")
}

fn hand_over(id: &str, delivered_before: bool) -> Vec<Effect> {
    vec![Effect::Inject { batch: vec![Handed { delivery: delivery(id), delivered_before }], waiting: 0 }]
}

fn acknowledge(id: &str) -> Effect {
    Effect::Acknowledge(ids(&[id]))
}

#[test]
fn p4_a_message_is_handed_over_once_and_acknowledged_after_its_mark_is_on_disk() {
    let paper = Paper::default();
    let mut inbox = inbox(&paper);
    assert_eq!(inbox.arrive(delivery("m")).expect("journal"), hand_over("m", false));
    assert_eq!(paper.sheet().marks["m"], Mark::Begun);
    assert_eq!(inbox.arrive(delivery("m")).expect("journal"), [Effect::Count(Reason::Duplicate)]);
    assert_eq!(inbox.accepted(&ids(&["m"])).expect("journal"), [acknowledge("m")]);
    assert_eq!(paper.sheet().marks["m"], Mark::Taken);
    let again = inbox.arrive(delivery("m")).expect("journal");
    assert_eq!(again, [Effect::Count(Reason::Duplicate), acknowledge("m")]);
    assert_eq!(inbox.count(Reason::Duplicate), 2);
}

#[test]
fn p4_a_later_life_does_not_see_a_taken_message_and_sees_a_begun_one_marked() {
    let paper = Paper::default();
    let mut first = inbox(&paper);
    first.arrive(delivery("taken")).expect("journal");
    first.accepted(&ids(&["taken"])).expect("journal");
    first.turn_ended().expect("journal");
    first.arrive(delivery("begun")).expect("journal");
    first.arrive(delivery("queued")).expect("journal");
    let mut later = inbox(&paper);
    let again = later.arrive(delivery("taken")).expect("journal");
    assert_eq!(again, [Effect::Count(Reason::Duplicate), acknowledge("taken")]);
    assert_eq!(later.arrive(delivery("begun")).expect("journal"), hand_over("begun", true));
    later.turn_ended().expect("journal");
    assert_eq!(later.arrive(delivery("queued")).expect("journal"), hand_over("queued", false));
}

#[test]
fn a_refused_message_comes_back_unmarked_in_any_life() {
    let paper = Paper::default();
    for _ in 0..2 {
        let mut inbox = inbox(&paper);
        assert_eq!(inbox.arrive(delivery("m")).expect("journal"), hand_over("m", false));
        assert_eq!(inbox.refused(&ids(&["m"])).expect("journal"), [Effect::Count(Reason::Refused)]);
    }
}

#[test]
fn nothing_is_acknowledged_that_was_not_handed_over() {
    let paper = Paper::default();
    let mut inbox = inbox(&paper);
    assert_eq!(inbox.accepted(&ids(&["m"])).expect("journal"), []);
    assert!(!inbox.knows("m").expect("journal"));
    assert_eq!(inbox.arrive(delivery("")).expect("journal"), [Effect::Count(Reason::Unmapped)]);
}

#[test]
fn a_broken_journal_stops_handing_over_and_acknowledging() {
    let paper = Paper::default();
    paper.sheet().broken = true;
    assert!(inbox(&paper).arrive(delivery("m")).is_err());
    paper.sheet().broken = false;
    let mut inbox = inbox(&paper);
    assert_eq!(inbox.arrive(delivery("m")).expect("journal"), hand_over("m", false));
    paper.sheet().broken = true;
    assert!(inbox.accepted(&ids(&["m"])).is_err());
    assert!(
        inbox.wait("k", ask(), false, oneshot::channel().0).is_err(),
        "nothing is posted without its wait on disk"
    );
}

#[test]
fn g9_an_answer_goes_to_its_waiter_ahead_of_the_lanes_and_is_acknowledged_after_it_was_taken() {
    let paper = Paper::default();
    let mut inbox = inbox(&paper);
    inbox.turn_started();
    let (tell, mut ended) = oneshot::channel();
    let wait = inbox.wait("k", ask(), false, tell).expect("journal");
    assert_eq!(paper.sheet().waits["k"], wait);
    inbox.posted("k", "a").expect("journal");
    assert_eq!(paper.sheet().waits["k"].ask_id.as_deref(), Some("a"));
    for steer in [false, true] {
        let delivery = Delivery { steer, ..answer("m", "a") };
        assert_eq!(inbox.arrive(delivery).expect("journal"), [], "in the middle of a turn, and once");
    }
    let Ok(Outcome::Answered(given)) = ended.try_recv() else { panic!("an answer") };
    assert_eq!(given.message.id, "m");
    assert!(paper.sheet().marks.is_empty(), "nobody took it yet");
    assert_eq!(inbox.took("k").expect("journal"), [acknowledge("m")]);
    assert_eq!(paper.sheet().marks["m"], Mark::Taken);
    assert!(paper.sheet().waits.is_empty());
    let again = inbox.arrive(answer("m", "a")).expect("journal");
    assert_eq!(again, [Effect::Count(Reason::Duplicate), acknowledge("m")]);
    assert_eq!(inbox.turn_ended().expect("journal"), [], "it was never put before the model");
}

#[test]
fn g9_an_answer_that_overtakes_the_posts_result_waits_for_it() {
    let paper = Paper::default();
    let mut inbox = inbox(&paper);
    let (tell, mut ended) = oneshot::channel();
    inbox.wait("k", ask(), false, tell).expect("journal");
    for _ in 0..2 {
        assert_eq!(inbox.arrive(answer("mine", "a")).expect("journal"), []);
    }
    assert_eq!(inbox.arrive(answer("other", "b")).expect("journal"), []);
    let effects = inbox.posted("k", "a").expect("journal");
    assert!(matches!(effects.as_slice(), [Effect::Inject { batch, .. }]
        if batch.len() == 1 && batch[0].delivery.message.id == "other"));
    assert!(matches!(ended.try_recv(), Ok(Outcome::Answered(given)) if given.message.id == "mine"));
}

#[test]
fn g9_a_withdrawal_and_an_expired_request_say_withdrawn_and_never_no() {
    let paper = Paper::default();
    let mut inbox = inbox(&paper);
    for (key, expire) in [("k1", false), ("k2", true)] {
        let (tell, mut ended) = oneshot::channel();
        inbox.wait(key, ask(), false, tell).expect("journal");
        inbox.posted(key, key).expect("journal");
        if expire {
            inbox.end_wait(key, Outcome::Withdrawn).expect("journal");
        } else {
            inbox.withdrawn(key).expect("journal");
        }
        assert_eq!(ended.try_recv(), Ok(Outcome::Withdrawn));
        assert!(paper.sheet().waits.is_empty());
    }
    // An answer that won against the withdrawal reaches the model as any message does.
    let effects = inbox.arrive(answer("late", "k2")).expect("journal");
    assert!(matches!(effects.as_slice(), [Effect::Inject { .. }]));
}

#[test]
fn g9_an_answer_nobody_took_goes_down_the_lanes() {
    let paper = Paper::default();
    let mut inbox = inbox(&paper);
    let (tell, ended) = oneshot::channel();
    inbox.wait("k", ask(), false, tell).expect("journal");
    inbox.posted("k", "a").expect("journal");
    assert_eq!(inbox.arrive(answer("m", "a")).expect("journal"), []);
    drop(ended);
    let effects = inbox.end_wait("k", Outcome::Withdrawn).expect("journal");
    assert!(matches!(effects.as_slice(), [Effect::Inject { .. }]));
    let (tell, gone) = oneshot::channel();
    inbox.wait("k2", ask(), false, tell).expect("journal");
    inbox.posted("k2", "b").expect("journal");
    drop(gone);
    inbox.turn_ended().expect("journal");
    let effects = inbox.arrive(answer("n", "b")).expect("journal");
    assert!(matches!(effects.as_slice(), [Effect::Inject { .. }]), "whoever waited is gone");
}

/// A server of one ask, which a person may have answered first.
struct OneAsk {
    answered: bool,
    calls: Mutex<Vec<Call>>,
}

#[async_trait]
impl Gateway for OneAsk {
    async fn call(&self, _: &str, call: Call) -> Result<CallResult, CallError> {
        self.calls.lock().expect("not poisoned").push(call.clone());
        match call {
            Call::Post { .. } => {
                let ask = SeenBlock::Ask { ask: SeenAsk { ask_id: "a".into(), ..SeenAsk::default() } };
                Ok(CallResult::Post(Some(SeenMessage { blocks: vec![ask], ..SeenMessage::default() })))
            }
            Call::CancelAsk { .. } if self.answered => {
                Err(CallError::Refused { code: "already_exists".into(), message: "answered".into() })
            }
            _ => Ok(CallResult::CancelAsk),
        }
    }
}

#[tokio::test]
async fn g9_after_a_crash_asks_whose_waiter_is_gone_are_withdrawn_and_an_answer_that_won_is_delivered() {
    for posted in [false, true] {
        for answered in [false, true] {
            let paper = Paper::default();
            let mut dead = Inbox::new(paper.clone(), Turns::Driven, "an earlier life");
            dead.wait("k", ask(), false, oneshot::channel().0).expect("journal");
            dead.wait("hook", ask(), true, oneshot::channel().0).expect("journal");
            if posted {
                dead.posted("k", "a").expect("journal");
            }
            drop(dead);
            let mut inbox = inbox(&paper);
            let left = inbox.left_behind().expect("journal");
            assert_eq!(left.iter().map(|wait| wait.key.as_str()).collect::<Vec<_>>(), ["k"]);
            let server = OneAsk { answered, calls: Mutex::default() };
            let came_to = withdraw(&server, &left[0]).await;
            assert_eq!(came_to, if answered { Left::Answered } else { Left::Withdrawn });
            // The ask was found by its key if its id was not on disk.
            let calls = server.calls.into_inner().expect("not poisoned");
            assert!(matches!(calls.last(), Some(Call::CancelAsk { ask_id }) if ask_id == "a"));
            assert_eq!(calls.len(), if posted { 1 } else { 2 });
            inbox.end_wait("k", Outcome::Withdrawn).expect("journal");
            assert_eq!(paper.sheet().waits.keys().collect::<Vec<_>>(), ["hook"]);
            let effects = inbox.arrive(answer("m", "a")).expect("journal");
            assert!(matches!(effects.as_slice(), [Effect::Inject { .. }]));
        }
    }
}
