//! Answer against cancel: a person's process and the agent's, released at once; exactly one wins.

use std::{collections::BTreeMap, time::Duration};

use compass_client::{
    ChannelName, Client, ClientError, Page,
    model::{AskState, Block, Message},
};
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::support::{Attach, Random, World, all_messages, choose, on_both, trials};

on_both!(of_an_answer_and_a_withdrawal_at_once_exactly_one_wins);

/// What the agent's process and the person's each came to.
struct Ends {
    answer: Result<(), ClientError>,
    cancel: Value,
}

async fn of_an_answer_and_a_withdrawal_at_once_exactly_one_wins(world: &mut World) {
    let mut random = Random::seeded("answer against cancel");
    let mut attach = Attach::start(world, "bot").await;
    let person = world.person().await;
    let count = trials(200, 40);
    let mut expected = BTreeMap::new();
    // The two ways to the server take different times; the head start follows whoever won last.
    let mut head_start: i64 = 0;
    for trial in 0..count {
        let (_, ask) = world.ask("bot", &format!("race {trial}")).await;
        let jitter = i64::try_from(random.below(2_001)).unwrap() - 1_000;
        let ends = race(&person, &mut attach, &ask.ask_id, head_start + jitter).await;
        let answered = winner(&ends, &ask.ask_id);
        head_start += if answered { 100 } else { -100 };
        expected.insert(ask.ask_id, answered);
    }
    let answers = expected.values().filter(|answered| **answered).count();
    println!(
        "{count} trials: {answers} answers won, {} withdrawals won; head start {head_start} µs",
        count - answers
    );
    verify_stored(world, &person, &expected).await;
    let at_least = count / 10;
    assert!(answers >= at_least && count - answers >= at_least, "too one-sided to prove anything");
}

/// Releases both by one barrier; a positive head start, in microseconds, is the withdrawal's.
async fn race(person: &Client, attach: &mut Attach, ask_id: &str, head_start: i64) -> Ends {
    let barrier = Barrier::new(2);
    let wait = |micros: i64| Duration::from_micros(u64::try_from(micros).unwrap_or(0));
    let answer = async {
        barrier.wait().await;
        pause(wait(head_start)).await;
        person.answer(ask_id, choose("0")).await
    };
    let cancel = async {
        barrier.wait().await;
        pause(wait(-head_start)).await;
        attach.call("comms_cancel_ask", json!({ "ask_id": ask_id })).await
    };
    let (answer, cancel) = tokio::join!(answer, cancel);
    Ends { answer, cancel }
}

/// Sub-millisecond pauses that leave the other side of the race running.
async fn pause(length: Duration) {
    if !length.is_zero() {
        tokio::task::spawn_blocking(move || std::thread::sleep(length)).await.unwrap();
    }
}

/// True if the answer won; the loser must have been told so in the fixed words.
fn winner(ends: &Ends, ask_id: &str) -> bool {
    let cancelled = ends.cancel["ok"].as_bool().unwrap();
    match &ends.answer {
        Ok(()) => {
            let error = ends.cancel["error"].as_str().unwrap_or_default();
            assert!(!cancelled, "both won: {}", ends.cancel);
            assert!(error.contains("already_exists"), "{error}");
            assert!(error.contains(&format!("ask \"{ask_id}\" is already answered")), "{error}");
            true
        }
        Err(ClientError::Refused { code: "already_exists", message }) => {
            assert!(cancelled, "nobody won: {}", ends.cancel);
            assert_eq!(*message, format!("ask \"{ask_id}\" is cancelled"));
            false
        }
        Err(error) => panic!("{error}"),
    }
}

/// Answered xor cancelled, and an answer message if and only if answered.
async fn verify_stored(world: &World, person: &Client, expected: &BTreeMap<String, bool>) {
    let channel = ChannelName::Id(world.home_channel("bot").await);
    let messages = all_messages(person, &channel).await;
    let mut seen = 0;
    for ask in messages.iter().flat_map(Message::asks) {
        let answered = expected[&ask.ask_id];
        seen += 1;
        let state = if answered { AskState::Answered } else { AskState::Cancelled };
        assert_eq!(ask.state, state, "{}", ask.ask_id);
        assert_eq!(ask.questions[0].chosen_option_ids.is_empty(), !answered);
        let answers = messages.iter().flat_map(|message| &message.blocks).filter(
            |block| matches!(block, Block::AskAnswer { ask: answered, .. } if answered.ask_id == ask.ask_id),
        );
        assert_eq!(answers.count(), usize::from(answered), "{}", ask.ask_id);
    }
    assert_eq!(seen, expected.len());
    assert!(person.open_asks(None, &Page::default()).await.unwrap().is_empty());
}
