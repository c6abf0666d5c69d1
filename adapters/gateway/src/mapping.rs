//! The wire's messages and blocks, to and from the agent core's.

use compass_agent::seen::{Delivery, SeenAsk, SeenBlock, SeenMessage, SeenOption, SeenQuestion};
use compass_domain::{
    ask::{AskDraft, OptionDraft, QuestionDraft},
    message::DraftBlock,
};
use compass_proto::v1::{self, message_block::Block};

pub(crate) fn message(message: v1::Message) -> SeenMessage {
    SeenMessage {
        id: message.id,
        topic_id: message.topic_id,
        author_account_id: message.author_account_id,
        at_unix_ms: message.at_unix_ms,
        channel_seq: message.channel_seq,
        blocks: message.blocks.into_iter().map(block).collect(),
    }
}

pub(crate) fn deliver(op: v1::DeliverControl) -> Delivery {
    Delivery {
        message: message(op.message.unwrap_or_default()),
        topic_name: op.topic_name,
        channel_name: op.channel_name,
        from_handle: op.from_handle,
        steer: false,
    }
}

pub(crate) fn steer(op: v1::SteerControl) -> Delivery {
    Delivery {
        message: message(op.message.unwrap_or_default()),
        topic_name: op.topic_name,
        channel_name: op.channel_name,
        from_handle: op.from_handle,
        steer: true,
    }
}

pub(crate) fn draft(block: DraftBlock) -> v1::MessageBlock {
    let block = match block {
        DraftBlock::Text(text) => Block::Text(text),
        DraftBlock::Ask(ask) => Block::Ask(draft_ask(ask)),
    };
    v1::MessageBlock { block: Some(block) }
}

fn block(block: v1::MessageBlock) -> SeenBlock {
    match block.block {
        Some(Block::Text(text)) => SeenBlock::Text { text },
        Some(Block::Ask(seen)) => SeenBlock::Ask { ask: ask(seen) },
        Some(Block::AskAnswer(answer)) => SeenBlock::AskAnswer {
            ask: ask(answer.ask.unwrap_or_default()),
            asker_account_id: answer.asker_account_id,
        },
        None => SeenBlock::Unknown,
    }
}

fn ask(ask: v1::Ask) -> SeenAsk {
    SeenAsk {
        ask_id: ask.ask_id,
        questions: ask.questions.into_iter().map(question).collect(),
        answered: ask.answered,
        cancelled: ask.cancelled,
        answered_by_account_id: ask.answered_by_account_id,
        closed_at_unix_ms: ask.closed_at_unix_ms,
    }
}

fn question(question: v1::AskQuestion) -> SeenQuestion {
    SeenQuestion {
        question_id: question.question_id,
        question: question.question,
        header: question.header,
        options: question.options.into_iter().map(option).collect(),
        allow_multiple: question.allow_multiple,
        recommended: question.recommended,
        chosen_option_ids: question.chosen_option_ids,
        custom_text: question.custom_text,
    }
}

fn option(option: v1::AskOption) -> SeenOption {
    SeenOption {
        id: option.id,
        label: option.label,
        description: option.description,
        preview: option.preview,
    }
}

fn draft_ask(ask: AskDraft) -> v1::Ask {
    v1::Ask { questions: ask.questions.into_iter().map(draft_question).collect(), ..v1::Ask::default() }
}

fn draft_question(question: QuestionDraft) -> v1::AskQuestion {
    v1::AskQuestion {
        question_id: question.id,
        question: question.text,
        header: question.header,
        options: question.options.into_iter().map(draft_option).collect(),
        allow_multiple: question.allow_multiple,
        recommended: question.recommended,
        ..v1::AskQuestion::default()
    }
}

fn draft_option(option: OptionDraft) -> v1::AskOption {
    v1::AskOption {
        id: option.id,
        label: option.label,
        description: option.description,
        preview: option.preview,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_a_poster_owns_is_sent_and_seen() {
        let sent = DraftBlock::Ask(AskDraft {
            questions: vec![QuestionDraft {
                id: "q".into(),
                text: "Which?".into(),
                header: "h".into(),
                options: vec![OptionDraft {
                    id: "0".into(),
                    label: "l".into(),
                    description: "d".into(),
                    preview: "p".into(),
                }],
                allow_multiple: true,
                recommended: Some(0),
            }],
        });
        let SeenBlock::Ask { ask } = block(draft(sent)) else { panic!("no ask") };
        let seen = &ask.questions[0];
        assert_eq!(
            (seen.question_id.as_str(), seen.question.as_str(), seen.header.as_str()),
            ("q", "Which?", "h")
        );
        assert_eq!((seen.allow_multiple, seen.recommended), (true, Some(0)));
        let offered = &seen.options[0];
        let texts = [&offered.id, &offered.label, &offered.description, &offered.preview];
        assert_eq!(texts, ["0", "l", "d", "p"]);
    }

    #[test]
    fn a_block_without_a_variant_stays_visible() {
        assert_eq!(block(v1::MessageBlock { block: None }), SeenBlock::Unknown);
    }
}
