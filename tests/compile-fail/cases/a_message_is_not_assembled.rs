//! A message is not put together from blocks of another.

use compass_domain::{Message, MessageBlock};

fn assemble(message: Message, blocks: Vec<MessageBlock>) -> Message {
    Message { blocks: blocks.into(), ..message }
}

fn main() {}
