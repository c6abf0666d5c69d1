//! Answers: what a person sends, and the order in which it is checked against the questions.

use std::{collections::HashSet, sync::Arc};

use super::{Question, Questions};
use crate::limits::{self, LimitError};

/// One entry of an answer as a client sent it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AnswerDraft {
    /// Which question.
    pub question_id: String,
    /// What was chosen, in the order it was chosen.
    pub chosen_option_ids: Vec<String>,
    /// Free text; white space counts.
    pub custom_text: String,
}

/// Entries whose sizes are within the limits; whether they fit an ask is decided on the locked ask.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answers(Vec<AnswerDraft>);

/// What was recorded for one question; nothing chosen and no text is a skip.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct QuestionAnswer {
    chosen: Vec<String>,
    custom_text: String,
}

/// Why an answer does not fit its ask.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The ask has no such question.
    #[error("answers[{index}].question_id {id:?} is not a question of this ask")]
    UnknownQuestion {
        /// Which entry.
        index: usize,
        /// The id.
        id: String,
    },
    /// The question was answered earlier in the same call.
    #[error("answers[{index}].question_id {id:?} is answered twice")]
    RepeatedQuestion {
        /// Which entry.
        index: usize,
        /// The id.
        id: String,
    },
    /// More than one option on a single-select question.
    #[error("answers[{index}].chosen_option_ids has {count} options, question {id:?} takes one")]
    TooManyOptions {
        /// Which entry.
        index: usize,
        /// The question.
        id: String,
        /// How many were sent.
        count: usize,
    },
    /// An option and text on a single-select question.
    #[error("answers[{index}] has an option and custom_text, question {id:?} takes one of them")]
    OptionAndText {
        /// Which entry.
        index: usize,
        /// The question.
        id: String,
    },
    /// The question does not offer this option.
    #[error("answers[{index}].chosen_option_ids: option {option:?} is not offered by question {id:?}")]
    UnknownOption {
        /// Which entry.
        index: usize,
        /// The question.
        id: String,
        /// The option.
        option: String,
    },
    /// The same option twice.
    #[error("answers[{index}].chosen_option_ids: option {option:?} is chosen twice")]
    RepeatedOption {
        /// Which entry.
        index: usize,
        /// The option.
        option: String,
    },
    /// A question has no entry; an entry without option and text would skip it.
    #[error("answers cover {answered} of {questions} questions; send an empty entry to skip one")]
    Incomplete {
        /// How many distinct questions were answered.
        answered: usize,
        /// How many there are.
        questions: usize,
    },
}

impl Answers {
    /// Checks sizes.
    ///
    /// # Errors
    ///
    /// [`LimitError`] that names the entry, the limit and the actual size.
    pub fn parse(entries: Vec<AnswerDraft>) -> Result<Self, LimitError> {
        let mut total = 0;
        for (index, entry) in entries.iter().enumerate() {
            let field = format!("answers[{index}].custom_text");
            limits::check_bytes(&field, &entry.custom_text, limits::CUSTOM_TEXT_BYTES)?;
            total += entry.custom_text.len();
        }
        limits::check_count("custom_text of all answers", total, limits::ANSWER_TEXT_BYTES, "bytes")?;
        Ok(Self(entries))
    }

    /// Fits the entries to the questions; the first entry that does not fit decides the error.
    pub(crate) fn fit(self, questions: &Questions) -> Result<Arc<[QuestionAnswer]>, AnswerError> {
        let mut slots: Vec<Option<QuestionAnswer>> = vec![None; questions.list.len()];
        for (index, entry) in self.0.into_iter().enumerate() {
            let found = questions.list.iter().zip(&mut slots).find(|(q, _)| q.id == entry.question_id);
            let Some((question, slot)) = found else {
                return Err(AnswerError::UnknownQuestion { index, id: entry.question_id });
            };
            if slot.is_some() {
                return Err(AnswerError::RepeatedQuestion { index, id: entry.question_id });
            }
            check_entry(index, &entry, question)?;
            *slot = Some(QuestionAnswer { chosen: entry.chosen_option_ids, custom_text: entry.custom_text });
        }
        let answered = slots.iter().flatten().count();
        let complete: Option<Vec<QuestionAnswer>> = slots.into_iter().collect();
        complete.map(Into::into).ok_or(AnswerError::Incomplete { answered, questions: questions.list.len() })
    }
}

fn check_entry(index: usize, entry: &AnswerDraft, question: &Question) -> Result<(), AnswerError> {
    let count = entry.chosen_option_ids.len();
    let id = || question.id.clone();
    if !question.allow_multiple && count > 1 {
        return Err(AnswerError::TooManyOptions { index, id: id(), count });
    }
    if !question.allow_multiple && count == 1 && !entry.custom_text.is_empty() {
        return Err(AnswerError::OptionAndText { index, id: id() });
    }
    let mut chosen = HashSet::new();
    for option in &entry.chosen_option_ids {
        if question.options.iter().all(|offered| offered.id != *option) {
            return Err(AnswerError::UnknownOption { index, id: id(), option: option.clone() });
        }
        if !chosen.insert(option) {
            return Err(AnswerError::RepeatedOption { index, option: option.clone() });
        }
    }
    Ok(())
}

impl QuestionAnswer {
    pub(crate) fn restore(chosen: Vec<String>, custom_text: String) -> Self {
        Self { chosen, custom_text }
    }

    /// The chosen option ids, in the order they were chosen.
    pub fn chosen(&self) -> &[String] {
        &self.chosen
    }

    /// The free text; may be empty.
    pub fn custom_text(&self) -> &str {
        &self.custom_text
    }

    /// True if nothing was chosen and nothing written.
    pub fn is_skip(&self) -> bool {
        self.chosen.is_empty() && self.custom_text.is_empty()
    }
}
