//! An answer message comes with the answer of an open ask.

use compass_domain::{AccountId, Ask, Human, NewMessage, message::Placement};

fn answer(by: Human, answered: &Ask, asker: AccountId, placement: Placement) -> NewMessage {
    NewMessage::answer(by, answered, asker, placement)
}

fn main() {}
