//! Blocks as clients send them: what the server owns is dropped, or refused where a block is all the server's.

use compass_domain::{
    ask::{AskDraft, OptionDraft, QuestionDraft},
    message::DraftBlock,
};
use compass_proto::v1::{self, message_block::Block};

use crate::error::DoorError;

/// Turns posted blocks into drafts; every server-owned field of an ask is left behind.
///
/// # Errors
///
/// [`DoorError::UnsetBlock`] that names the block; [`DoorError::ServerOwnedBlock`] for an answer.
pub fn blocks_in(blocks: Vec<v1::MessageBlock>) -> Result<Vec<DraftBlock>, DoorError> {
    let blocks = blocks.into_iter().enumerate();
    blocks
        .map(|(index, block)| match block.block {
            Some(Block::Text(text)) => Ok(DraftBlock::Text(text)),
            Some(Block::Ask(ask)) => Ok(DraftBlock::Ask(ask_in(ask))),
            Some(Block::AskAnswer(_)) => Err(DoorError::ServerOwnedBlock),
            None => Err(DoorError::UnsetBlock(index)),
        })
        .collect()
}

// Taken apart field by field, so that a new one has to be given an owner here.
fn ask_in(ask: v1::Ask) -> AskDraft {
    let v1::Ask {
        questions,
        ask_id: _,
        answered: _,
        cancelled: _,
        answered_by_account_id: _,
        closed_at_unix_ms: _,
        content_digest: _,
    } = ask;
    AskDraft { questions: questions.into_iter().map(question_in).collect() }
}

fn question_in(question: v1::AskQuestion) -> QuestionDraft {
    let v1::AskQuestion {
        question_id,
        question,
        header,
        options,
        allow_multiple,
        recommended,
        chosen_option_ids: _,
        custom_text: _,
        timed_out: _,
    } = question;
    QuestionDraft {
        id: question_id,
        text: question,
        header,
        options: options.into_iter().map(option_in).collect(),
        allow_multiple,
        recommended,
    }
}

fn option_in(option: v1::AskOption) -> OptionDraft {
    let v1::AskOption { id, label, description, preview } = option;
    OptionDraft { id, label, description, preview }
}
