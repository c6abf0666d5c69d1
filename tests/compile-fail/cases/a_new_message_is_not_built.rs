//! A message to store is a post or comes with an answer.

use std::sync::Arc;

use compass_domain::{Message, NewMessage};

fn build(message: Arc<Message>) -> NewMessage {
    NewMessage { message, key: None, answers: None, needs_routing: false }
}

fn main() {}
