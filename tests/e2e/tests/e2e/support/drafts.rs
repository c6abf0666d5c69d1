//! Asks and answers to post.

use compass_client::{ChannelName, NewPost, TopicName};
use compass_domain::{
    ask::{AnswerDraft, AskDraft, OptionDraft, QuestionDraft},
    message::DraftBlock,
};
use serde_json::Value;

/// A post of one question with two options to an agent's home channel.
pub(crate) fn question(key: &str) -> NewPost {
    let option =
        |id: &str, label: &str| OptionDraft { id: id.into(), label: label.into(), ..OptionDraft::default() };
    let question = QuestionDraft {
        id: "go".into(),
        text: format!("Deploy {key}?"),
        options: vec![option("0", "Yes"), option("1", "Not today")],
        ..QuestionDraft::default()
    };
    NewPost {
        channel: None,
        topic: TopicName::Name("Releases".into()),
        existing_topic_only: false,
        blocks: vec![DraftBlock::Ask(AskDraft { questions: vec![question] })],
        key: key.into(),
    }
}

/// A text of a person in a channel.
pub(crate) fn write(channel_id: &str, text: &str) -> NewPost {
    NewPost {
        channel: Some(ChannelName::Id(channel_id.into())),
        topic: TopicName::Name("Talk".into()),
        existing_topic_only: false,
        blocks: vec![DraftBlock::Text(text.into())],
        key: String::new(),
    }
}

/// Chooses an option of [`question`].
pub(crate) fn choose(option: &str) -> Vec<AnswerDraft> {
    let chosen_option_ids = vec![option.to_owned()];
    vec![AnswerDraft { question_id: "go".into(), chosen_option_ids, custom_text: String::new() }]
}

/// Skips the question.
pub(crate) fn skip(question_id: &str) -> AnswerDraft {
    AnswerDraft { question_id: question_id.into(), ..AnswerDraft::default() }
}

/// The answered ask in a delivered message, if it carries one.
pub(crate) fn answered(message: &Value) -> Option<&Value> {
    let blocks = message["blocks"].as_array()?;
    blocks.iter().find(|block| block["kind"] == "ask_answer").map(|block| &block["ask"])
}
