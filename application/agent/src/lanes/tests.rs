//! The cases of both lanes, as tables of events and effects.

use proptest::prelude::*;

use super::*;
use crate::seen::{SeenAsk, SeenBlock, SeenMessage};

fn delivery(id: &str) -> Delivery {
    Delivery { message: SeenMessage { id: id.into(), ..SeenMessage::default() }, ..Delivery::default() }
}

fn steer(id: &str) -> Delivery {
    Delivery { steer: true, ..delivery(id) }
}

fn lanes() -> Lanes {
    Lanes::new(Turns::Driven)
}

fn ids(list: &[&str]) -> Vec<String> {
    list.iter().map(|id| (*id).to_owned()).collect()
}

/// Effects in short: `inject a,b +2`, `interrupt a`, `ack a,b`, `count Duplicate`.
fn short(effects: Vec<Effect>) -> Vec<String> {
    let names = |batch: &[Handed]| {
        batch.iter().map(|handed| handed.delivery.message.id.clone()).collect::<Vec<_>>().join(",")
    };
    let one = |effect| match effect {
        Effect::Inject { batch, waiting: 0 } => format!("inject {}", names(&batch)),
        Effect::Inject { batch, waiting } => format!("inject {} +{waiting}", names(&batch)),
        Effect::Interrupt(handed) => format!("interrupt {}", names(std::slice::from_ref(&*handed))),
        Effect::Acknowledge(ids) => format!("ack {}", ids.join(",")),
        Effect::Count(reason) => format!("count {reason:?}"),
    };
    effects.into_iter().map(one).collect()
}

fn arrive(lanes: &mut Lanes, delivery: Delivery) -> Vec<String> {
    short(lanes.arrive(delivery, None))
}

#[test]
fn a44_three_delivers_in_a_turn_are_one_prompt_at_its_end_and_three_acknowledgements() {
    let mut lanes = lanes();
    lanes.turn_started();
    for id in ["a", "b", "c"] {
        assert_eq!(arrive(&mut lanes, delivery(id)), [""; 0]);
    }
    assert_eq!(short(lanes.turn_ended()), ["inject a,b,c"]);
    assert_eq!(short(lanes.accepted(&ids(&["a", "b", "c"]))), ["ack a,b,c"]);
}

#[test]
fn a45_a_deliver_at_rest_is_a_prompt_at_once() {
    assert_eq!(arrive(&mut lanes(), delivery("a")), ["inject a"]);
}

#[test]
fn a46_delivers_of_the_next_turn_are_a_second_prompt() {
    let mut lanes = lanes();
    assert_eq!(arrive(&mut lanes, delivery("a")), ["inject a"]);
    lanes.accepted(&ids(&["a"]));
    lanes.turn_started();
    assert_eq!(arrive(&mut lanes, delivery("b")), [""; 0]);
    assert_eq!(arrive(&mut lanes, delivery("c")), [""; 0]);
    assert_eq!(short(lanes.turn_ended()), ["inject b,c"]);
}

#[test]
fn a47_a_message_without_an_id_is_counted_and_nothing_else() {
    for delivery in [delivery(""), steer("")] {
        assert_eq!(arrive(&mut lanes(), delivery), ["count Unmapped"]);
    }
}

#[test]
fn a48_a_repeat_is_acknowledged_only_once_it_was_taken() {
    let mut lanes = lanes();
    lanes.turn_started();
    arrive(&mut lanes, delivery("a"));
    assert_eq!(arrive(&mut lanes, delivery("a")), ["count Duplicate"], "still queued");
    assert_eq!(short(lanes.turn_ended()), ["inject a"]);
    assert_eq!(arrive(&mut lanes, delivery("a")), ["count Duplicate"], "handed over, not taken");
    assert_eq!(short(lanes.accepted(&ids(&["a"]))), ["ack a"]);
    assert_eq!(arrive(&mut lanes, delivery("a")), ["count Duplicate", "ack a"]);
    assert_eq!(short(lanes.accepted(&ids(&["a"]))), [""; 0], "acknowledged once");
}

#[test]
fn a49_a_deliver_while_the_harness_streams_before_its_turn_waits_for_that_turns_end() {
    let mut lanes = lanes();
    assert_eq!(short(lanes.streaming(true)), [""; 0]);
    assert_eq!(arrive(&mut lanes, delivery("a")), [""; 0]);
    lanes.turn_started();
    assert_eq!(short(lanes.turn_ended()), ["inject a"]);
}

#[test]
fn a50_a_refused_prompt_is_not_acknowledged_and_comes_back_from_the_server_only() {
    let mut lanes = lanes();
    assert_eq!(arrive(&mut lanes, delivery("a")), ["inject a"]);
    assert_eq!(arrive(&mut lanes, delivery("b")), [""; 0]);
    assert_eq!(short(lanes.refused(&ids(&["a"]))), ["count Refused"]);
    assert_eq!(short(lanes.accepted(&ids(&["a"]))), [""; 0], "it was refused");
    assert_eq!(arrive(&mut lanes, delivery("a")), ["inject b,a"], "the server brought it back");
    assert_eq!(short(lanes.accepted(&ids(&["b", "a"]))), ["ack b,a"]);
}

#[test]
fn a50_a_refusal_after_the_acknowledgement_changes_nothing() {
    let mut lanes = lanes();
    arrive(&mut lanes, delivery("a"));
    lanes.accepted(&ids(&["a"]));
    assert_eq!(short(lanes.refused(&ids(&["a"]))), [""; 0]);
    assert_eq!(arrive(&mut lanes, delivery("a")), ["count Duplicate", "ack a"]);
}

#[test]
fn a51_nothing_is_acknowledged_before_it_was_handed_over() {
    let mut lanes = lanes();
    lanes.turn_started();
    arrive(&mut lanes, delivery("a"));
    assert_eq!(short(lanes.accepted(&ids(&["a"]))), [""; 0]);
    assert!(!lanes.was_handed_over("a"));
    // Another life of the session knows nothing of the queue, so the server's next delivery is injected.
    assert_eq!(arrive(&mut self::lanes(), delivery("a")), ["inject a"]);
}

#[test]
fn a52_a_message_of_an_ask_alone_is_injected_and_acknowledged_once() {
    let mut lanes = lanes();
    let mut ask = delivery("a");
    ask.message.blocks = vec![SeenBlock::Ask { ask: SeenAsk::default() }];
    assert_eq!(arrive(&mut lanes, ask), ["inject a"]);
    assert_eq!(short(lanes.accepted(&ids(&["a"]))), ["ack a"]);
}

#[test]
fn a53_a_steer_in_a_turn_interrupts_and_starts_none() {
    let mut lanes = lanes();
    lanes.turn_started();
    arrive(&mut lanes, delivery("waits"));
    assert_eq!(arrive(&mut lanes, steer("s")), ["interrupt s"]);
    assert_eq!(short(lanes.accepted(&ids(&["s"]))), ["ack s"]);
    assert_eq!(arrive(&mut lanes, steer("s")), ["count Duplicate", "ack s"]);
    assert_eq!(short(lanes.turn_ended()), ["inject waits"]);
}

#[test]
fn a53_a_steer_at_rest_is_a_turn_of_its_own() {
    let mut lanes = lanes();
    assert_eq!(arrive(&mut lanes, steer("s")), ["inject s"]);
    assert_eq!(short(lanes.accepted(&ids(&["s"]))), ["ack s"]);
    assert_eq!(arrive(&mut lanes, delivery("a")), [""; 0], "its turn is expected");
    assert_eq!(short(lanes.turn_ended()), ["inject a"]);
}

#[test]
fn a53_a_refused_steer_comes_back_once() {
    for working in [false, true] {
        let mut lanes = lanes();
        if working {
            lanes.turn_started();
        }
        arrive(&mut lanes, steer("s"));
        assert_eq!(short(lanes.refused(&ids(&["s"]))), ["count Refused"]);
        let again = arrive(&mut lanes, steer("s"));
        assert_eq!(again, [if working { "interrupt s" } else { "inject s" }]);
        assert_eq!(short(lanes.accepted(&ids(&["s"]))), ["ack s"]);
    }
}

#[test]
fn a53_a_steer_of_what_waits_in_the_deliver_lane_is_acknowledged_with_the_queue() {
    let mut lanes = lanes();
    lanes.turn_started();
    arrive(&mut lanes, delivery("a"));
    assert_eq!(arrive(&mut lanes, steer("a")), ["count Duplicate"]);
    assert_eq!(short(lanes.turn_ended()), ["inject a"]);
    assert_eq!(short(lanes.accepted(&ids(&["a"]))), ["ack a"]);
}

#[test]
fn a56_a_redelivered_answer_is_injected_once_and_acknowledged_again_by_either_lane() {
    let mut lanes = lanes();
    let answer = |steer| {
        let mut delivery = delivery("answer");
        let block = SeenBlock::AskAnswer { ask: SeenAsk::default(), asker_account_id: "me".into() };
        delivery.message.blocks = vec![block];
        Delivery { steer, ..delivery }
    };
    assert_eq!(arrive(&mut lanes, answer(true)), ["inject answer"]);
    lanes.accepted(&ids(&["answer"]));
    for steer in [false, true] {
        assert_eq!(arrive(&mut lanes, answer(steer)), ["count Duplicate", "ack answer"]);
    }
}

#[test]
fn a_message_an_earlier_life_took_is_acknowledged_and_one_it_began_is_marked() {
    let mut lanes = lanes();
    assert_eq!(short(lanes.arrive(delivery("a"), Some(Mark::Taken))), ["count Duplicate", "ack a"]);
    let effects = lanes.arrive(delivery("b"), Some(Mark::Begun));
    let [Effect::Inject { batch, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    assert!(batch[0].delivered_before);
}

#[test]
fn a_queue_does_not_wait_for_the_end_of_a_turn_that_never_began() {
    let mut lanes = lanes();
    lanes.streaming(true);
    arrive(&mut lanes, delivery("a"));
    assert_eq!(short(lanes.streaming(false)), ["inject a"], "it streamed without a turn");
    lanes.accepted(&ids(&["a"]));
    arrive(&mut lanes, delivery("b"));
    lanes.streaming(true);
    assert_eq!(short(lanes.streaming(false)), ["inject b"], "the turn that was expected never began");
}

#[test]
fn a_pause_of_the_stream_within_a_turn_is_not_its_end() {
    let mut lanes = lanes();
    lanes.turn_started();
    lanes.streaming(true);
    arrive(&mut lanes, delivery("a"));
    assert_eq!(short(lanes.streaming(false)), [""; 0]);
    assert_eq!(short(lanes.turn_ended()), ["inject a"]);
}

#[test]
fn a_repeat_at_rest_frees_what_a_refusal_left_in_the_queue() {
    let mut lanes = lanes();
    arrive(&mut lanes, delivery("a"));
    arrive(&mut lanes, delivery("b"));
    lanes.refused(&ids(&["a"]));
    assert_eq!(arrive(&mut lanes, delivery("b")), ["count Duplicate", "inject b"]);
}

#[test]
fn a_prompt_holds_64_messages_and_says_how_many_wait() {
    let mut lanes = lanes();
    lanes.turn_started();
    for n in 0..130 {
        arrive(&mut lanes, delivery(&n.to_string()));
    }
    for (size, left) in [(64, 66), (64, 2), (2, 0)] {
        let effects = lanes.turn_ended();
        let [Effect::Inject { batch, waiting }] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!((batch.len(), *waiting), (size, left));
    }
}

#[test]
fn a_prompt_holds_64_kib_and_a_longer_message_goes_alone_and_whole() {
    let long = |id: &str, bytes: usize| {
        let mut delivery = delivery(id);
        delivery.message.blocks = vec![SeenBlock::Text { text: "x".repeat(bytes) }];
        delivery
    };
    let mut lanes = lanes();
    lanes.turn_started();
    for (id, bytes) in [("a", 30_000), ("b", 30_000), ("c", 10_000), ("huge", 200_000), ("d", 1)] {
        arrive(&mut lanes, long(id, bytes));
    }
    assert_eq!(short(lanes.turn_ended()), ["inject a,b +3"]);
    assert_eq!(short(lanes.turn_ended()), ["inject c +2"]);
    let effects = lanes.turn_ended();
    let [Effect::Inject { batch, waiting: 1 }] = effects.as_slice() else { panic!("{effects:?}") };
    let [SeenBlock::Text { text }] = batch[0].delivery.message.blocks.as_slice() else { panic!("a text") };
    assert_eq!((batch.len(), text.len()), (1, 200_000));
    assert_eq!(short(lanes.turn_ended()), ["inject d"]);
}

#[test]
fn a_program_that_reports_no_turns_takes_everything_at_once() {
    let mut lanes = Lanes::new(Turns::Reported);
    for id in ["a", "b"] {
        assert_eq!(arrive(&mut lanes, delivery(id)), [format!("inject {id}")]);
    }
    assert_eq!(arrive(&mut lanes, steer("s")), ["inject s"]);
}

#[test]
fn what_a_limit_held_back_follows_when_the_program_took_what_is_ahead_or_says_ready() {
    for says_ready in [false, true] {
        let mut lanes = Lanes::new(Turns::Reported);
        lanes.turn_started();
        let all: Vec<String> = (0..66).map(|n| format!("m{n}")).collect();
        for id in &all {
            arrive(&mut lanes, delivery(id));
        }
        assert!(short(lanes.turn_ended())[0].ends_with("+2"));
        assert_eq!(arrive(&mut lanes, delivery("late")), [""; 0], "it does not overtake");
        assert_eq!(short(lanes.accepted(&all[..63])).len(), 1);
        let freed = if says_ready { lanes.turn_ended() } else { lanes.accepted(&all[63..64]) };
        assert_eq!(short(freed).last().expect("freed"), "inject m64,m65,late");
    }
}

/// What may happen to lanes, with small numbers for ids.
#[derive(Debug, Clone)]
enum Event {
    Deliver(u8),
    Steer(u8),
    TurnStarted,
    TurnEnded,
    Streaming(bool),
    Accepted(u8),
    Refused(u8),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (0_u8..12).prop_map(Event::Deliver),
        2 => (0_u8..12).prop_map(Event::Steer),
        1 => Just(Event::TurnStarted),
        2 => Just(Event::TurnEnded),
        1 => any::<bool>().prop_map(Event::Streaming),
        4 => (0_u8..12).prop_map(Event::Accepted),
        1 => (0_u8..12).prop_map(Event::Refused),
    ]
}

/// Where each message stands as seen from outside.
#[derive(Default)]
struct Seen {
    under_way: HashSet<String>,
    taken: HashSet<String>,
}

impl Seen {
    fn check(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            let batch = match effect {
                Effect::Inject { batch, .. } => batch,
                Effect::Interrupt(handed) => vec![*handed],
                Effect::Acknowledge(ids) => {
                    assert!(ids.iter().all(|id| self.taken.contains(id)), "{ids:?} acknowledged, not taken");
                    continue;
                }
                Effect::Count(_) => continue,
            };
            for handed in batch {
                let id = handed.delivery.message.id;
                assert!(!self.taken.contains(&id), "{id} was taken and is handed over again");
                assert!(self.under_way.insert(id.clone()), "{id} is handed over twice");
            }
        }
    }
}

proptest! {
    #[test]
    fn whatever_happens_a_message_is_handed_over_once_acknowledged_after_that_and_never_stranded(
        events in prop::collection::vec(event(), 0..80),
        driven in any::<bool>(),
    ) {
        let mut lanes = Lanes::new(if driven { Turns::Driven } else { Turns::Reported });
        let (mut seen, mut arrived) = (Seen::default(), HashSet::new());
        for event in events {
            let effects = match event {
                Event::Deliver(n) | Event::Steer(n) => {
                    arrived.insert(n.to_string());
                    let steer = matches!(event, Event::Steer(_));
                    lanes.arrive(Delivery { steer, ..delivery(&n.to_string()) }, None)
                }
                Event::TurnStarted => {
                    lanes.turn_started();
                    Vec::new()
                }
                Event::TurnEnded => lanes.turn_ended(),
                Event::Streaming(streaming) => lanes.streaming(streaming),
                Event::Accepted(n) => {
                    let id = n.to_string();
                    if seen.under_way.remove(&id) {
                        seen.taken.insert(id.clone());
                    }
                    lanes.accepted(&[id])
                }
                Event::Refused(n) => {
                    let id = n.to_string();
                    if seen.under_way.remove(&id) {
                        arrived.remove(&id);
                    }
                    lanes.refused(&[id])
                }
            };
            seen.check(effects);
        }
        // The turn ends, and everything that was handed over is taken.
        seen.check(lanes.turn_ended());
        while !seen.under_way.is_empty() {
            let ids: Vec<String> = seen.under_way.drain().collect();
            seen.taken.extend(ids.iter().cloned());
            seen.check(lanes.accepted(&ids));
            seen.check(lanes.turn_ended());
        }
        prop_assert_eq!(lanes.waiting(), 0);
        prop_assert_eq!(seen.taken, arrived);
    }
}
