//! An ended ask comes from a transition of an open one.

use std::sync::Arc;

use compass_domain::{AccountId, AskId, ClosedAsk, Message, UnixMillis, ask::End};

fn build(ask: AskId, by: AccountId, at: UnixMillis, message: Arc<Message>) -> ClosedAsk {
    ClosedAsk { ask, end: End::Answered, by, at, message }
}

fn main() {}
