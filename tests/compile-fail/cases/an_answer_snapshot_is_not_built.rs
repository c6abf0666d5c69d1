//! The snapshot inside an answer message is taken by the answer itself.

use compass_domain::{AccountId, Ask, message::AskAnswer};

fn build(ask: Ask, asker: AccountId) -> AskAnswer {
    AskAnswer { ask, asker }
}

fn main() {}
