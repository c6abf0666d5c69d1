//! Order, barrier, acknowledgement and end of a life's control.

use super::*;

/// A life whose barrier is lifted and that sent nothing yet.
fn open() -> Retention<u64> {
    let mut life = Retention::new();
    life.release();
    life
}

fn live(life: &mut Retention<u64>, ops: std::ops::RangeInclusive<u64>) {
    for op in ops {
        assert_eq!(life.send(op, Operation::Live), Ok(op));
    }
}

fn drain(life: &mut Retention<u64>, subscription: Subscription) -> Vec<u64> {
    let mut seqs = Vec::new();
    while let Next::Send(seq, _) = life.next(subscription) {
        seqs.push(seq);
    }
    seqs
}

#[test]
fn b13_numbers_are_1_2_3_and_leave_in_the_order_they_came() {
    let mut life = open();
    live(&mut life, 1..=3);
    assert_eq!(life.len(), 3, "retained without a subscriber");
    let subscription = life.subscribe().unwrap();
    for seq in 1..=3 {
        assert_eq!(life.next(subscription), Next::Send(seq, seq));
    }
    assert_eq!(life.next(subscription), Next::Wait);
    assert_eq!(life.send(4, Operation::Live), Ok(4));
    assert_eq!(life.next(subscription), Next::Send(4, 4));
}

#[test]
fn b15_a_full_life_refuses_without_using_a_number_and_takes_replay_complete() {
    let mut life = open();
    live(&mut life, 1..=RETAINED as u64);
    assert_eq!(life.send(0, Operation::Live), Err(SendError::Full));
    assert_eq!(life.send(0, Operation::Live), Err(SendError::Full));
    assert_eq!(life.send(0, Operation::ReplayComplete), Ok(RETAINED as u64 + 1));
    life.acknowledge(2, &[]);
    assert_eq!(life.send(0, Operation::Live), Ok(RETAINED as u64 + 2));
}

#[test]
fn b17_a_takeover_sends_everything_unacknowledged_again_and_the_old_one_stops() {
    let mut life = open();
    live(&mut life, 1..=4);
    let first = life.subscribe().unwrap();
    assert_eq!(drain(&mut life, first), [1, 2, 3, 4]);
    life.acknowledge(1, &[3]);
    let second = life.subscribe().unwrap();
    assert_eq!(life.next(first), Next::Displaced);
    assert_eq!(drain(&mut life, second), [2, 4]);
    assert_eq!(life.next(first), Next::Displaced);
}

#[test]
fn b17_a_displaced_subscription_takes_nothing_from_the_new_one() {
    let mut life = open();
    let stale = [life.subscribe().unwrap(), life.subscribe().unwrap()];
    let current = life.subscribe().unwrap();
    live(&mut life, 1..=1);
    assert!(stale.iter().all(|stale| life.next(*stale) == Next::Displaced));
    for stale in stale {
        life.unsubscribe(stale);
    }
    assert_eq!(life.next(current), Next::Send(1, 1));
    assert_eq!(life.send_if_live(2), Ok(2), "the current one is still there");
}

#[test]
fn b18_an_acknowledgement_beyond_what_was_sent_does_not_wedge() {
    let mut life = open();
    live(&mut life, 1..=2);
    let subscription = life.subscribe().unwrap();
    life.acknowledge(u64::MAX, &[]);
    assert!(life.is_empty());
    assert_eq!(life.send(3, Operation::Live), Ok(3));
    assert_eq!(life.next(subscription), Next::Send(3, 3));
}

#[test]
fn b18_a_jump_drops_what_it_passed_and_the_cursor_never_moves_back() {
    let mut life = open();
    live(&mut life, 1..=5);
    life.acknowledge(4, &[]);
    life.acknowledge(2, &[]);
    let subscription = life.subscribe().unwrap();
    assert_eq!(drain(&mut life, subscription), [5]);
}

#[test]
fn b18_numbers_above_count_only_if_they_are_retained() {
    let mut life = open();
    live(&mut life, 1..=3);
    life.acknowledge(0, &[2, 3, 900, u64::MAX]);
    assert_eq!(life.len(), 1);
    // 900 was not kept as "acknowledged in advance".
    live(&mut life, 4..=900);
    let subscription = life.subscribe().unwrap();
    assert_eq!(drain(&mut life, subscription).last(), Some(&900));
}

#[test]
fn b18_an_empty_acknowledgement_changes_nothing() {
    let mut life = open();
    live(&mut life, 1..=2);
    life.acknowledge(0, &[]);
    assert_eq!(life.len(), 2);
}

#[test]
fn b18_after_the_end_nothing_comes_back() {
    let mut life = open();
    live(&mut life, 1..=2);
    let subscription = life.subscribe().unwrap();
    life.retire();
    life.retire();
    assert_eq!(life.next(subscription), Next::Retired);
    life.acknowledge(1, &[2]);
    assert_eq!(life.subscribe(), None);
    assert_eq!(life.send(3, Operation::Live), Err(SendError::Retired));
    assert_eq!(life.send_if_live(3), Err(SendError::Retired));
    assert_eq!(life.send(3, Operation::ReplayComplete), Err(SendError::Retired));
    assert!(life.is_empty() && life.is_retired());
}

#[test]
fn b19_the_barrier_holds_live_operations_and_lets_replay_complete_pass() {
    let mut life: Retention<u64> = Retention::new();
    let subscription = life.subscribe().unwrap();
    live(&mut life, 1..=2);
    assert_eq!(life.next(subscription), Next::Wait);
    assert_eq!(life.send(3, Operation::ReplayComplete), Ok(3));
    assert_eq!(life.next(subscription), Next::Send(3, 3));
    assert_eq!(life.next(subscription), Next::Wait);
    life.release();
    assert_eq!(drain(&mut life, subscription), [1, 2]);
    assert_eq!(life.send(4, Operation::Live), Ok(4), "numbers go on");
}

#[test]
fn b19_an_unacknowledged_replay_complete_is_sent_again_in_its_place() {
    let mut life: Retention<u64> = Retention::new();
    assert_eq!(life.send(1, Operation::ReplayComplete), Ok(1));
    live(&mut life, 2..=3);
    life.release();
    for _ in 0..2 {
        let subscription = life.subscribe().unwrap();
        assert_eq!(drain(&mut life, subscription), [1, 2, 3]);
    }
}

#[test]
fn b19_a_release_after_the_end_resurrects_nothing() {
    let mut life: Retention<u64> = Retention::new();
    live(&mut life, 1..=1);
    life.retire();
    life.release();
    assert_eq!((life.subscribe(), life.len()), (None, 0));
}

/// An agent that takes what it is given, loses its stream now and then, and acknowledges as agents do.
#[test]
fn whatever_breaks_every_operation_arrives_and_nothing_is_kept_that_was_acknowledged() {
    for seed in 1..=200u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        let mut life: Retention<u64> = Retention::new();
        life.send(0, Operation::ReplayComplete).unwrap();
        let (mut sent, mut last, mut applied) = (1u64, 0u64, BTreeSet::<u64>::new());
        let mut subscription = life.subscribe().unwrap();
        while sent < 120 || applied.len() < 120 {
            match random(10) {
                0..=3 if sent < 120 => {
                    sent += 1;
                    assert_eq!(life.send(sent, Operation::Live), Ok(sent), "seed {seed}");
                }
                4 => (subscription, last) = (life.subscribe().unwrap(), 0),
                5 => {
                    let acked = (1..=sent).take_while(|seq| applied.contains(seq)).last().unwrap_or(0);
                    // Not all that lies above is named every time.
                    let above: Vec<u64> =
                        applied.range(acked + 1..).copied().filter(|_| random(2) == 0).collect();
                    life.acknowledge(acked, &above);
                    assert!(life.len() as u64 <= sent - acked - above.len() as u64, "seed {seed}");
                }
                _ => {
                    if let Next::Send(seq, op) = life.next(subscription) {
                        assert!(seq > last && seq <= sent, "seed {seed}: {seq} after {last}");
                        assert!(op == seq || seq == 1, "seed {seed}");
                        last = seq;
                        // A frame that was on its way when the stream broke.
                        if random(8) == 0 {
                            (subscription, last) = (life.subscribe().unwrap(), 0);
                        } else {
                            applied.insert(seq);
                            if seq == 1 {
                                life.release();
                            }
                        }
                    }
                }
            }
        }
        life.acknowledge(sent, &[]);
        assert!(life.is_empty(), "seed {seed}");
    }
}

#[test]
fn b20_what_would_be_stale_later_needs_a_subscriber() {
    let mut life = open();
    assert_eq!(life.send_if_live(1), Err(SendError::NoAgent));
    let subscription = life.subscribe().unwrap();
    assert_eq!(life.send_if_live(1), Ok(1));
    assert_eq!(life.len(), 1, "retained while live");
    life.unsubscribe(subscription);
    assert_eq!(life.send_if_live(2), Err(SendError::NoAgent));
}
