//! Stored asks: plain columns come in, an [`Ask`] or [`Corrupt`] comes out.

use std::collections::HashSet;

use super::{Ask, AskState, ContentDigest, End, Question, QuestionAnswer, QuestionOption, Questions};
use crate::{
    error::Corrupt,
    id::{AccountId, AskId, MessageId, UnixMillis},
};

/// An ask as its message's row holds it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StoredAsk {
    /// 32 hexadecimal digits.
    pub ask_id: String,
    /// At least one.
    pub questions: Vec<StoredQuestion>,
    /// Answered by a person.
    pub answered: bool,
    /// Withdrawn by its author.
    pub cancelled: bool,
}

/// A question as its message's row holds it, answers included.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StoredQuestion {
    /// Unique within the ask.
    pub question_id: String,
    /// What is asked.
    pub question: String,
    /// A short title.
    pub header: String,
    /// What may be chosen.
    pub options: Vec<StoredOption>,
    /// Several options may be chosen.
    pub allow_multiple: bool,
    /// Index of the recommended option.
    pub recommended: Option<i32>,
    /// What was chosen.
    pub chosen_option_ids: Vec<String>,
    /// What was written.
    pub custom_text: String,
    /// Carried; nothing sets it.
    pub timed_out: bool,
}

/// An option as its message's row holds it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StoredOption {
    /// By which an answer names it.
    pub id: String,
    /// What a person reads.
    pub label: String,
    /// A longer explanation.
    pub description: String,
    /// What choosing it would produce.
    pub preview: String,
}

/// The row of an ask in the index of asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AskEntry {
    /// Which ask.
    pub ask: AskId,
    /// The message that holds it.
    pub message: MessageId,
    /// Digest of the question content as posted.
    pub digest: ContentDigest,
    /// How it ended, once it did.
    pub ended: Option<Ended>,
}

/// How, by whom and when an ask ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// How.
    pub end: End,
    /// By whom.
    pub by: AccountId,
    /// When.
    pub at: UnixMillis,
}

impl Ask {
    /// Restores an ask from its blocks and its index entry, which must agree.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] for a shape that no transition can have written.
    pub fn restore(stored: StoredAsk, entry: Option<&AskEntry>) -> Result<Self, Corrupt> {
        let id = stored.ask_id.parse().map_err(|_| Corrupt::new(format!("ask id {:?}", stored.ask_id)))?;
        let entry = entry.ok_or_else(|| Corrupt::new(format!("ask {id} has no entry")))?;
        let (answered, cancelled) = (stored.answered, stored.cancelled);
        let (questions, answers) = restore_questions(id, stored.questions)?;
        if entry.ask != id || entry.digest != questions.digest {
            return Err(Corrupt::new(format!("ask {id} disagrees with its digest")));
        }
        let state = match (answered, cancelled, entry.ended) {
            (false, false, None) => AskState::Open,
            (true, false, Some(Ended { end: End::Answered, by, at })) => {
                AskState::Answered { answers: answers.into(), by, at }
            }
            (false, true, Some(Ended { end: End::Cancelled, at, .. })) => AskState::Cancelled { at },
            (true, true, _) => {
                return Err(Corrupt::new(format!("ask {id} is both answered and cancelled")));
            }
            _ => return Err(Corrupt::new(format!("ask {id} disagrees with its entry"))),
        };
        Ok(Self { id, questions, state })
    }

    /// The ask as its message's row holds it.
    pub fn stored(&self) -> StoredAsk {
        let questions = self.questions.list.iter().enumerate();
        StoredAsk {
            ask_id: self.id.to_string(),
            questions: questions
                .map(|(index, question)| stored_question(question, self.answer(index)))
                .collect(),
            answered: matches!(self.state, AskState::Answered { .. }),
            cancelled: matches!(self.state, AskState::Cancelled { .. }),
        }
    }
}

fn restore_questions(
    id: AskId,
    stored: Vec<StoredQuestion>,
) -> Result<(Questions, Vec<QuestionAnswer>), Corrupt> {
    if stored.is_empty() {
        return Err(Corrupt::new(format!("ask {id} has no questions")));
    }
    let mut seen = HashSet::new();
    for question in &stored {
        if question.question_id.is_empty() || !seen.insert(question.question_id.clone()) {
            let what = format!("ask {id} has an empty or repeated question id {:?}", question.question_id);
            return Err(Corrupt::new(what));
        }
    }
    let (list, answers) = stored.into_iter().map(restore_question).unzip();
    Ok((Questions::new(list), answers))
}

fn restore_question(stored: StoredQuestion) -> (Question, QuestionAnswer) {
    let question = Question {
        id: stored.question_id,
        text: stored.question,
        header: stored.header,
        options: stored.options.into_iter().map(restore_option).collect(),
        allow_multiple: stored.allow_multiple,
        recommended: stored.recommended,
        timed_out: stored.timed_out,
    };
    (question, QuestionAnswer::restore(stored.chosen_option_ids, stored.custom_text))
}

fn restore_option(stored: StoredOption) -> QuestionOption {
    QuestionOption {
        id: stored.id,
        label: stored.label,
        description: stored.description,
        preview: stored.preview,
    }
}

fn stored_question(question: &Question, answer: Option<&QuestionAnswer>) -> StoredQuestion {
    StoredQuestion {
        question_id: question.id.clone(),
        question: question.text.clone(),
        header: question.header.clone(),
        options: question.options.iter().map(stored_option).collect(),
        allow_multiple: question.allow_multiple,
        recommended: question.recommended,
        chosen_option_ids: answer.map(|a| a.chosen().to_vec()).unwrap_or_default(),
        custom_text: answer.map(|a| a.custom_text().to_owned()).unwrap_or_default(),
        timed_out: question.timed_out,
    }
}

fn stored_option(option: &QuestionOption) -> StoredOption {
    StoredOption {
        id: option.id.clone(),
        label: option.label.clone(),
        description: option.description.clone(),
        preview: option.preview.clone(),
    }
}
