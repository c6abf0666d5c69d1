//! Messages as readers see them, asks with how they ended.

use compass_domain::{
    Ask, AskState, BlockView, Message, MessageBlock,
    ask::{Question, QuestionAnswer, QuestionOption},
    message::AskAnswer,
};
use compass_proto::v1::{self, message_block::Block};

/// A message on the wire.
pub fn message(message: &Message) -> v1::Message {
    v1::Message {
        id: message.id().to_string(),
        topic_id: message.topic().to_string(),
        author_account_id: message.author().to_string(),
        at_unix_ms: message.at().0,
        blocks: message.blocks().iter().map(block).collect(),
        channel_seq: message.seq().0,
    }
}

fn block(block: &MessageBlock) -> v1::MessageBlock {
    let block = match block.view() {
        BlockView::Text(text) => Block::Text(text.to_owned()),
        BlockView::Ask(of) => Block::Ask(ask(of)),
        BlockView::Answer(of) => Block::AskAnswer(answer(of)),
    };
    v1::MessageBlock { block: Some(block) }
}

fn answer(answer: &AskAnswer) -> v1::AskAnswerBlock {
    v1::AskAnswerBlock { ask: Some(ask(answer.ask())), asker_account_id: answer.asker().to_string() }
}

fn ask(ask: &Ask) -> v1::Ask {
    let (answered_by, closed_at) = match ask.state() {
        AskState::Open => (None, None),
        AskState::Answered { by, at, .. } => (Some(by), Some(at)),
        AskState::Cancelled { at } => (None, Some(at)),
    };
    let questions = ask.questions().iter().enumerate();
    v1::Ask {
        ask_id: ask.id().to_string(),
        questions: questions.map(|(index, of)| question(of, ask.answer(index))).collect(),
        answered: matches!(ask.state(), AskState::Answered { .. }),
        cancelled: matches!(ask.state(), AskState::Cancelled { .. }),
        answered_by_account_id: answered_by.map(ToString::to_string).unwrap_or_default(),
        closed_at_unix_ms: closed_at.map_or(0, |at| at.0),
        content_digest: ask.digest().0.to_vec(),
    }
}

fn question(question: &Question, answer: Option<&QuestionAnswer>) -> v1::AskQuestion {
    v1::AskQuestion {
        question_id: question.id().to_owned(),
        question: question.text().to_owned(),
        header: question.header().to_owned(),
        options: question.options().iter().map(option).collect(),
        allow_multiple: question.allow_multiple(),
        recommended: question.recommended(),
        chosen_option_ids: answer.map(|answer| answer.chosen().to_vec()).unwrap_or_default(),
        custom_text: answer.map(|answer| answer.custom_text().to_owned()).unwrap_or_default(),
        timed_out: question.timed_out(),
    }
}

fn option(option: &QuestionOption) -> v1::AskOption {
    v1::AskOption {
        id: option.id().to_owned(),
        label: option.label().to_owned(),
        description: option.description().to_owned(),
        preview: option.preview().to_owned(),
    }
}
