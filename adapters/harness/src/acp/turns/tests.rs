//! Prompts of a bounded size, also of messages that cut a turn short.

use compass_agent::seen::{Delivery, SeenBlock, SeenMessage};

use super::*;

fn message(id: usize, bytes: usize) -> Handed {
    let blocks = vec![SeenBlock::Text { text: "x".repeat(bytes) }];
    let message = SeenMessage { id: id.to_string(), blocks, ..SeenMessage::default() };
    Handed { delivery: Delivery { message, ..Delivery::default() }, delivered_before: false }
}

#[test]
fn messages_are_split_by_number_and_size_in_their_order() {
    let sizes = |list: &[Vec<Handed>]| list.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(sizes(&batches((0..130).map(|id| message(id, 1)).collect())), [64, 64, 2]);
    let big = [30_000, 30_000, 30_000, 100_000, 1].iter().enumerate();
    let split = batches(big.map(|(id, bytes)| message(id, *bytes)).collect());
    assert_eq!(sizes(&split), [2, 1, 1, 1]);
    let ids: Vec<_> = split.concat().iter().map(|handed| handed.delivery.message.id.clone()).collect();
    assert_eq!(ids, ["0", "1", "2", "3", "4"]);
}
