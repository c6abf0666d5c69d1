//! What a poster sends has no kind for an answer.

use compass_domain::message::{AskAnswer, DraftBlock};

fn post(answer: AskAnswer) -> DraftBlock {
    DraftBlock::Answer(answer)
}

fn main() {}
