//! The size of blocks as the wire contract encodes them, which is what the message limit counts.

use super::DraftBlock;
use crate::ask::{AskDraft, OptionDraft, QuestionDraft};

/// Bytes of the encoded blocks, each as an element of the repeated field.
pub(super) fn encoded(blocks: &[DraftBlock]) -> usize {
    blocks.iter().map(|block| nested(block_len(block))).sum()
}

fn block_len(block: &DraftBlock) -> usize {
    match block {
        DraftBlock::Text(text) => nested(text.len()),
        DraftBlock::Ask(ask) => nested(ask_len(ask)),
    }
}

fn ask_len(ask: &AskDraft) -> usize {
    ask.questions.iter().map(|question| nested(question_len(question))).sum()
}

fn question_len(question: &QuestionDraft) -> usize {
    let texts = [&question.id, &question.text, &question.header];
    let options: usize = question.options.iter().map(|option| nested(option_len(option))).sum();
    let recommended = question.recommended.map_or(0, |index| 1 + varint(i64::from(index) as u64));
    texts.iter().map(|text| optional(text)).sum::<usize>()
        + options
        + if question.allow_multiple { 2 } else { 0 }
        + recommended
}

fn option_len(option: &OptionDraft) -> usize {
    [&option.id, &option.label, &option.description, &option.preview].iter().map(|text| optional(text)).sum()
}

/// A text field that is left out when empty.
fn optional(text: &str) -> usize {
    if text.is_empty() { 0 } else { nested(text.len()) }
}

/// One byte of tag, the length, the bytes: every field number here is below 16.
fn nested(length: usize) -> usize {
    1 + varint(length as u64) + length
}

fn varint(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}
