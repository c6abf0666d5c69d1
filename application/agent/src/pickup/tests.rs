//! What is handed over beside prompts, when it is acknowledged, and what a crash in between leaves.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;

use super::*;
use crate::{
    ports::{Owed, Wait},
    seen::{SeenBlock, SeenMessage},
    testing::{Paper, answer, ask, delivery, ids},
};

const READER: &str = "me";

fn random() -> [u8; 8] {
    [0xab; 8]
}

/// What one agent is owed.
#[derive(Default)]
struct Letters {
    owed: Mutex<Vec<Delivery>>,
    acknowledged: Mutex<Vec<String>>,
    gone: AtomicBool,
}

impl Letters {
    fn with(deliveries: Vec<Delivery>) -> Self {
        Self { owed: Mutex::new(deliveries), ..Self::default() }
    }

    fn acknowledged(&self) -> Vec<String> {
        self.acknowledged.lock().expect("not poisoned").clone()
    }
}

#[async_trait]
impl Mailbox for Letters {
    async fn fetch(&self, limit: u32, answers_ask_id: Option<&str>) -> Result<Owed, CallError> {
        assert_eq!(answers_ask_id, None);
        let owed = self.owed.lock().expect("not poisoned");
        let page: Vec<_> = owed.iter().take(limit as usize).cloned().collect();
        let waiting = u32::try_from(owed.len() - page.len()).expect("few");
        Ok(Owed { deliveries: page, waiting })
    }

    async fn acknowledge(&self, message_ids: &[String]) -> Result<(), CallError> {
        if self.gone.load(Ordering::SeqCst) {
            return Err(CallError::Unreachable("gone".into()));
        }
        self.owed.lock().expect("not poisoned").retain(|owed| !message_ids.contains(&owed.message.id));
        self.acknowledged.lock().expect("not poisoned").extend_from_slice(message_ids);
        Ok(())
    }
}

fn said(id: &str, text: &str) -> Delivery {
    let blocks = vec![SeenBlock::Text { text: text.into() }];
    let message = SeenMessage { id: id.into(), topic_id: "t".into(), blocks, ..SeenMessage::default() };
    Delivery { message, channel_name: "ops".into(), topic_name: "Release".into(), ..delivery(id) }
}

async fn picked(mailbox: &Letters, journal: &Paper, limits: Limits) -> Picked {
    pick_up(mailbox, &mut journal.clone(), limits, READER, &random).await.expect("picked up")
}

async fn flushed(mailbox: &Letters, journal: &Paper, picked: Picked) {
    took(mailbox, &mut journal.clone(), picked).await.expect("taken");
}

#[tokio::test]
async fn messages_are_acknowledged_after_the_flush_and_never_before() {
    let (mailbox, journal) = (Letters::with(vec![said("m1", "one"), said("m2", "two")]), Paper::default());
    let picked = picked(&mailbox, &journal, Limits::HOOK).await;
    assert_eq!((&picked.message_ids, picked.waiting), (&ids(&["m1", "m2"]), 0));
    assert!(picked.text.find("one") < picked.text.find("two"), "{}", picked.text);
    assert!(picked.text.starts_with("[messages abab"), "{}", picked.text);
    assert_eq!(mailbox.acknowledged(), ids(&[]));
    assert_eq!(journal.sheet().marks.get("m1"), Some(&Mark::Begun));
    flushed(&mailbox, &journal, picked).await;
    assert_eq!(mailbox.acknowledged(), ids(&["m1", "m2"]));
    assert_eq!(journal.sheet().marks.get("m2"), Some(&Mark::Taken));
    assert_eq!(self::picked(&mailbox, &journal, Limits::HOOK).await.text, "");
}

#[tokio::test]
async fn a_text_that_did_not_get_there_comes_again_and_says_so() {
    let (mailbox, journal) = (Letters::with(vec![said("m", "one")]), Paper::default());
    drop(picked(&mailbox, &journal, Limits::HOOK).await);
    let again = picked(&mailbox, &journal, Limits::HOOK).await;
    assert!(again.text.contains("[delivered before abababababababab]"), "{}", again.text);
    flushed(&mailbox, &journal, again).await;
    assert_eq!(mailbox.acknowledged(), ids(&["m"]));
}

#[tokio::test]
async fn a_lost_receipt_is_sent_again_and_its_message_is_not_shown_again() {
    let (mailbox, journal) = (Letters::with(vec![said("m1", "one"), said("m2", "two")]), Paper::default());
    let first = picked(&mailbox, &journal, Limits::HOOK).await;
    mailbox.gone.store(true, Ordering::SeqCst);
    let lost = took(&mailbox, &mut journal.clone(), first).await;
    assert!(matches!(lost, Err(PickupError::Call(_))));
    mailbox.gone.store(false, Ordering::SeqCst);
    mailbox.owed.lock().expect("not poisoned").push(said("m3", "three"));
    let next = picked(&mailbox, &journal, Limits::HOOK).await;
    assert_eq!(next.message_ids, ids(&["m3"]));
    assert_eq!(mailbox.acknowledged(), ids(&["m1", "m2"]));
}

#[tokio::test]
async fn pages_of_taken_messages_do_not_hide_the_rest() {
    let all = (0..150).map(|n| said(&format!("m{n}"), "x")).collect();
    let (mailbox, journal) = (Letters::with(all), Paper::default());
    let taken: Vec<String> = (0..149).map(|n| format!("m{n}")).collect();
    journal.clone().take(&taken).expect("marked");
    let picked = picked(&mailbox, &journal, Limits::HOOK).await;
    assert_eq!(picked.message_ids, ids(&["m149"]));
}

#[tokio::test]
async fn no_mark_no_message() {
    let (mailbox, journal) = (Letters::with(vec![said("m", "one")]), Paper::default());
    journal.sheet().broken = true;
    let picked = pick_up(&mailbox, &mut journal.clone(), Limits::HOOK, READER, &random).await;
    assert!(matches!(picked, Err(PickupError::Journal(_))));
    journal.sheet().broken = false;
    let picked = self::picked(&mailbox, &journal, Limits::HOOK).await;
    journal.sheet().broken = true;
    assert!(took(&mailbox, &mut journal.clone(), picked).await.is_err());
    assert_eq!(mailbox.acknowledged(), ids(&[]));
}

#[tokio::test]
async fn an_answer_that_somebody_waits_for_is_left_to_them() {
    let (mailbox, journal) = (Letters::with(vec![answer("a", "ask1"), said("m", "one")]), Paper::default());
    let wait = Wait {
        key: "hook:1".into(),
        owner: "hook".into(),
        ask: ask(),
        ask_id: Some("ask1".into()),
        keep: true,
    };
    journal.clone().wait(&wait).expect("written");
    let picked = picked(&mailbox, &journal, Limits::HOOK).await;
    assert_eq!(picked.message_ids, ids(&["m"]));
    flushed(&mailbox, &journal, picked).await;
    journal.clone().end_wait("hook:1").expect("ended");
    assert_eq!(self::picked(&mailbox, &journal, Limits::HOOK).await.message_ids, ids(&["a"]));
}

#[tokio::test]
async fn one_caller_at_a_time_hands_over() {
    let (mailbox, journal) = (Letters::with(vec![said("m", "one")]), Paper::default());
    let first = picked(&mailbox, &journal, Limits::HOOK).await;
    assert_eq!(picked(&mailbox, &journal, Limits::TOOL_RESULT).await.text, "");
    flushed(&mailbox, &journal, first).await;
    mailbox.owed.lock().expect("not poisoned").push(said("n", "two"));
    assert_eq!(picked(&mailbox, &journal, Limits::TOOL_RESULT).await.message_ids, ids(&["n"]));
}

/// The size of a text of one message whose body has this length, in characters.
async fn size_with(body: &str) -> usize {
    let mailbox = Letters::with(vec![said("m", body)]);
    let whole = Limits { size: Size::Characters(usize::MAX), oversized: Oversized::Whole };
    picked(&mailbox, &Paper::default(), whole).await.text.encode_utf16().count()
}

#[tokio::test]
async fn a_message_of_exactly_the_limit_goes_whole_and_one_more_character_is_announced() {
    let frame = size_with("").await;
    // An empty body takes the line break behind it along.
    for (fill, width) in [("x", 1), ("é", 1), ("\u{1f600}", 2)] {
        let fitting = (9_000 - frame - 1) / width;
        let mailbox = Letters::with(vec![said("m", &fill.repeat(fitting))]);
        let picked = picked(&mailbox, &Paper::default(), Limits::HOOK).await;
        assert_eq!(picked.message_ids, ids(&["m"]), "{fill}");
        assert!((9_000 - width + 1..=9_000).contains(&picked.text.encode_utf16().count()), "{fill}");

        let (mailbox, journal) =
            (Letters::with(vec![said("m", &fill.repeat(fitting + 1))]), Paper::default());
        let picked = self::picked(&mailbox, &journal, Limits::HOOK).await;
        assert_eq!((picked.message_ids.len(), picked.waiting), (0, 1), "{fill}");
        assert_eq!(picked.text.lines().count(), 1, "{}", picked.text);
        assert!(picked.text.starts_with("[message waits abababababababab]"), "{}", picked.text);
        flushed(&mailbox, &journal, picked).await;
        assert_eq!(mailbox.acknowledged(), ids(&[]), "an announcement is no receipt");
        assert!(journal.sheet().marks.is_empty());
    }
}

#[tokio::test]
async fn what_does_not_fit_waits_whole_and_in_order() {
    let long = "x".repeat(5_000);
    let deliveries = vec![said("m1", &long), said("m2", &long), said("m3", "short")];
    let (mailbox, journal) = (Letters::with(deliveries), Paper::default());
    let first = picked(&mailbox, &journal, Limits::HOOK).await;
    assert_eq!((&first.message_ids, first.waiting), (&ids(&["m1"]), 2));
    assert!(first.text.contains("[waiting abababababababab] 2 messages more"), "{}", first.text);
    flushed(&mailbox, &journal, first).await;
    let second = picked(&mailbox, &journal, Limits::HOOK).await;
    assert_eq!((&second.message_ids, second.waiting), (&ids(&["m2", "m3"]), 0));
}

#[tokio::test]
async fn an_announcement_names_the_message_and_what_brings_it_and_holds_back_what_is_behind() {
    let mut long = said("m1", &"x".repeat(20_000));
    long.message.author_account_id = "acc".into();
    long.from_handle = "ana".into();
    long.topic_name = "Re\nlease".into();
    let (mailbox, journal) = (Letters::with(vec![long, said("m2", "short")]), Paper::default());
    let announced = picked(&mailbox, &journal, Limits::HOOK).await;
    for part in
        ["channel ops", "topic Re lease", "from ana", "id \"m1\"", "comms_", "1 message more behind it"]
    {
        assert!(announced.text.contains(part), "{part}: {}", announced.text);
    }
    drop(announced);
    let whole = picked(&mailbox, &journal, Limits::TOOL_RESULT).await;
    assert_eq!(whole.message_ids, ids(&["m1"]));
    assert!(whole.text.contains(&"x".repeat(20_000)));
    assert!(!whole.text.contains("delivered before"));
    flushed(&mailbox, &journal, whole).await;
    assert_eq!(picked(&mailbox, &journal, Limits::HOOK).await.message_ids, ids(&["m2"]));
}

#[tokio::test]
async fn the_limit_of_a_tool_result_is_in_bytes() {
    let two = || vec![said("m1", &"é".repeat(4_000)), said("m2", &"é".repeat(4_000))];
    let mailbox = Letters::with(two());
    assert_eq!(picked(&mailbox, &Paper::default(), Limits::TOOL_RESULT).await.message_ids, ids(&["m1"]));
    let mailbox = Letters::with(vec![said("m1", &"e".repeat(4_000)), said("m2", &"e".repeat(4_000))]);
    assert_eq!(
        picked(&mailbox, &Paper::default(), Limits::TOOL_RESULT).await.message_ids,
        ids(&["m1", "m2"])
    );
}

#[tokio::test]
async fn a_message_without_an_id_blocks_nothing() {
    let (mailbox, journal) = (Letters::with(vec![said("", "?"), said("m", "one")]), Paper::default());
    assert_eq!(picked(&mailbox, &journal, Limits::HOOK).await.message_ids, ids(&["m"]));
}
