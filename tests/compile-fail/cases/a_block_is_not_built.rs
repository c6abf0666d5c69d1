//! A block cannot be built from what it holds.

use compass_domain::{Ask, MessageBlock};

fn build(ask: Ask) -> MessageBlock {
    MessageBlock(ask)
}

fn text() -> MessageBlock {
    MessageBlock::text("forged")
}

fn ask(ask: Ask) -> MessageBlock {
    MessageBlock::ask(ask)
}

fn main() {}
