//! An open ask comes from a locked read.

use std::sync::Arc;

use compass_domain::{Ask, Message, OpenAsk};

fn build(message: Arc<Message>, ask: Ask) -> OpenAsk {
    OpenAsk { message, index: 0, ask }
}

fn main() {}
