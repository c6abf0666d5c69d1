//! Asks and answers as clients send them.

use compass_domain::{
    Answers, AskId,
    ask::{AnswerDraft, AskDraft, OptionDraft, QuestionDraft},
    message::{Content, DraftBlock},
};
use compass_ports::Ids;

/// A question with options whose ids are given; none means free text only.
pub fn question(id: &str, options: &[&str]) -> QuestionDraft {
    let option = |id: &&str| OptionDraft {
        id: (*id).to_owned(),
        label: format!("label of {id}"),
        ..Default::default()
    };
    QuestionDraft {
        id: id.to_owned(),
        text: format!("question {id}?"),
        options: options.iter().map(option).collect(),
        ..Default::default()
    }
}

/// A question of which several options may be chosen.
pub fn multi(id: &str, options: &[&str]) -> QuestionDraft {
    QuestionDraft { allow_multiple: true, ..question(id, options) }
}

/// An ask of one question `q` with the options `yes` and `no`.
pub fn yes_or_no() -> AskDraft {
    ask([question("q", &["yes", "no"])])
}

/// An ask of these questions.
pub fn ask(questions: impl IntoIterator<Item = QuestionDraft>) -> AskDraft {
    AskDraft { questions: questions.into_iter().collect() }
}

/// An entry of an answer.
pub fn entry(question: &str, chosen: &[&str], custom_text: &str) -> AnswerDraft {
    AnswerDraft {
        question_id: question.to_owned(),
        chosen_option_ids: chosen.iter().map(|id| (*id).to_owned()).collect(),
        custom_text: custom_text.to_owned(),
    }
}

/// The answer `yes` to [`yes_or_no`].
pub fn yes() -> Vec<AnswerDraft> {
    vec![entry("q", &["yes"], "")]
}

/// Entries as the use case hands them to the domain.
pub fn answers(entries: Vec<AnswerDraft>) -> Answers {
    Answers::parse(entries).expect("the entries are within the limits")
}

/// A text block.
pub fn text(text: &str) -> DraftBlock {
    DraftBlock::Text(text.to_owned())
}

/// Blocks that passed the rules, with ids for their asks, in order.
pub fn content(blocks: Vec<DraftBlock>, ids: &dyn Ids) -> (Content, Vec<AskId>) {
    let mut minted = Vec::new();
    let content = Content::compose(blocks, || {
        let id = ids.ask();
        minted.push(id);
        id
    });
    (content.expect("the blocks are valid"), minted)
}
