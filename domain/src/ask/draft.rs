//! What a poster sends of an ask, and the rules it must pass.

use std::collections::HashSet;

use super::{Question, QuestionOption, Questions};
use crate::limits::{self, LimitError};

/// An ask as a client sent it, with every server-owned field already dropped.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AskDraft {
    /// At least one.
    pub questions: Vec<QuestionDraft>,
}

/// One question as a client sent it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct QuestionDraft {
    /// Not empty, unique within the ask, at most 64 bytes.
    pub id: String,
    /// At most 8 KiB.
    pub text: String,
    /// At most 64 code points.
    pub header: String,
    /// At most 64; none means free text only.
    pub options: Vec<OptionDraft>,
    /// Several options may be chosen.
    pub allow_multiple: bool,
    /// Index of the recommended option.
    pub recommended: Option<i32>,
}

/// One option as a client sent it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OptionDraft {
    /// At most 64 bytes.
    pub id: String,
    /// At most 1 KiB.
    pub label: String,
    /// At most 4 KiB.
    pub description: String,
    /// At most 64 KiB.
    pub preview: String,
}

/// Why an ask cannot be posted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskDraftError {
    /// An ask asks at least one thing.
    #[error("ask has no questions")]
    NoQuestions,
    /// A question without an id cannot be answered.
    #[error("questions[{0}].question_id is empty")]
    EmptyQuestionId(usize),
    /// Two questions share an id.
    #[error("questions[{index}].question_id {id:?} is used twice in this ask")]
    DuplicateQuestionId {
        /// Where the second one stands.
        index: usize,
        /// The id.
        id: String,
    },
    /// The recommended index points at no option.
    #[error("questions[{index}].recommended is {recommended}, but the question has {options} options")]
    RecommendedOutOfRange {
        /// Which question.
        index: usize,
        /// What was sent.
        recommended: i32,
        /// How many options there are.
        options: usize,
    },
    /// A limit was passed.
    #[error(transparent)]
    Limit(#[from] LimitError),
}

impl AskDraft {
    pub(crate) fn check(self) -> Result<Questions, AskDraftError> {
        if self.questions.is_empty() {
            return Err(AskDraftError::NoQuestions);
        }
        limits::check_count("questions", self.questions.len(), limits::QUESTIONS, "questions")?;
        let mut seen = HashSet::new();
        for (index, question) in self.questions.iter().enumerate() {
            check_question(index, question)?;
            if !seen.insert(question.id.as_str()) {
                return Err(AskDraftError::DuplicateQuestionId { index, id: question.id.clone() });
            }
        }
        Ok(Questions::new(self.questions.into_iter().map(Question::from).collect()))
    }
}

fn check_question(index: usize, question: &QuestionDraft) -> Result<(), AskDraftError> {
    let field = |name: &str| format!("questions[{index}].{name}");
    if question.id.is_empty() {
        return Err(AskDraftError::EmptyQuestionId(index));
    }
    limits::check_bytes(&field("question_id"), &question.id, limits::ID_BYTES)?;
    limits::check_bytes(&field("question"), &question.text, limits::QUESTION_BYTES)?;
    limits::check_code_points(&field("header"), &question.header, limits::HEADER_CODE_POINTS)?;
    limits::check_count(&field("options"), question.options.len(), limits::OPTIONS, "options")?;
    for (at, option) in question.options.iter().enumerate() {
        let field = |name: &str| format!("questions[{index}].options[{at}].{name}");
        limits::check_bytes(&field("id"), &option.id, limits::ID_BYTES)?;
        limits::check_bytes(&field("label"), &option.label, limits::LABEL_BYTES)?;
        limits::check_bytes(&field("description"), &option.description, limits::DESCRIPTION_BYTES)?;
        limits::check_bytes(&field("preview"), &option.preview, limits::PREVIEW_BYTES)?;
    }
    match question.recommended {
        Some(recommended) if !is_index(recommended, question.options.len()) => {
            let options = question.options.len();
            Err(AskDraftError::RecommendedOutOfRange { index, recommended, options })
        }
        _ => Ok(()),
    }
}

fn is_index(index: i32, length: usize) -> bool {
    usize::try_from(index).is_ok_and(|index| index < length)
}

impl From<QuestionDraft> for Question {
    fn from(draft: QuestionDraft) -> Self {
        Self {
            id: draft.id,
            text: draft.text,
            header: draft.header,
            options: draft.options.into_iter().map(QuestionOption::from).collect(),
            allow_multiple: draft.allow_multiple,
            recommended: draft.recommended,
            timed_out: false,
        }
    }
}

impl From<OptionDraft> for QuestionOption {
    fn from(draft: OptionDraft) -> Self {
        Self { id: draft.id, label: draft.label, description: draft.description, preview: draft.preview }
    }
}
