//! Asks: questions that never change, and the one state that does, once.

mod answers;
mod draft;
mod open;
mod restore;

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

pub use answers::{AnswerDraft, AnswerError, Answers, QuestionAnswer};
pub use draft::{AskDraft, AskDraftError, OptionDraft, QuestionDraft};
pub use open::{ClosedAsk, LockedAsk, OpenAsk, Reply};
pub use restore::{AskEntry, Ended, StoredAsk, StoredOption, StoredQuestion};

use crate::id::{AccountId, AskId, UnixMillis};

/// SHA-256 over an ask's question content; proves that a question did not change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ContentDigest(pub [u8; 32]);

/// How an ask ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum End {
    /// A person answered.
    Answered,
    /// Its author withdrew it.
    Cancelled,
}

/// An ask inside a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ask {
    id: AskId,
    questions: Questions,
    state: AskState,
}

/// Open, or ended in exactly one way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AskState {
    /// Takes an answer, or a cancel by its author.
    Open,
    /// A person answered.
    Answered {
        /// One per question, in question order.
        answers: Arc<[QuestionAnswer]>,
        /// Who answered.
        by: AccountId,
        /// When, by the server's clock.
        at: UnixMillis,
    },
    /// Its author withdrew it.
    Cancelled {
        /// When, by the server's clock.
        at: UnixMillis,
    },
}

impl Ask {
    pub(crate) fn new(id: AskId, questions: Questions) -> Self {
        Self { id, questions, state: AskState::Open }
    }

    pub(crate) fn with_state(&self, state: AskState) -> Self {
        Self { id: self.id, questions: self.questions.clone(), state }
    }

    /// The server-minted id.
    pub fn id(&self) -> AskId {
        self.id
    }

    /// The questions, as they were posted.
    pub fn questions(&self) -> &[Question] {
        &self.questions.list
    }

    /// The digest of the question content.
    pub fn digest(&self) -> ContentDigest {
        self.questions.digest
    }

    /// Where it stands.
    pub fn state(&self) -> &AskState {
        &self.state
    }

    /// True while neither answered nor cancelled.
    pub fn is_open(&self) -> bool {
        matches!(self.state, AskState::Open)
    }

    /// The answer to the question at `index`, once answered.
    pub fn answer(&self, index: usize) -> Option<&QuestionAnswer> {
        match &self.state {
            AskState::Answered { answers, .. } => answers.get(index),
            AskState::Open | AskState::Cancelled { .. } => None,
        }
    }
}

/// The questions of an ask: at least one, with distinct ids, shared by every copy of the ask.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Questions {
    list: Arc<[Question]>,
    digest: ContentDigest,
}

impl Questions {
    fn new(list: Vec<Question>) -> Self {
        let digest = digest(&list);
        Self { list: list.into(), digest }
    }
}

/// One question, as it was posted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    id: String,
    text: String,
    header: String,
    options: Vec<QuestionOption>,
    allow_multiple: bool,
    recommended: Option<i32>,
    timed_out: bool,
}

impl Question {
    /// Its id, unique within the ask.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What is asked.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A short title; may be empty.
    pub fn header(&self) -> &str {
        &self.header
    }

    /// What may be chosen; none means free text only.
    pub fn options(&self) -> &[QuestionOption] {
        &self.options
    }

    /// True if several options may be chosen.
    pub fn allow_multiple(&self) -> bool {
        self.allow_multiple
    }

    /// The index of the option the asker recommends.
    pub fn recommended(&self) -> Option<i32> {
        self.recommended
    }

    /// Carried from storage; nothing sets it.
    pub fn timed_out(&self) -> bool {
        self.timed_out
    }
}

/// One option of a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuestionOption {
    id: String,
    label: String,
    description: String,
    preview: String,
}

impl QuestionOption {
    /// Its id, by which an answer names it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What a person reads.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// A longer explanation; may be empty.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// What choosing it would produce; may be empty.
    pub fn preview(&self) -> &str {
        &self.preview
    }
}

/// The version byte that starts every digest; a new field of a question raises it.
const DIGEST_VERSION: u8 = 1;

fn digest(questions: &[Question]) -> ContentDigest {
    let mut hash = Sha256::new_with_prefix([DIGEST_VERSION]);
    hash_count(&mut hash, questions.len());
    for question in questions {
        hash_text(&mut hash, &question.id);
        hash_text(&mut hash, &question.text);
        hash_text(&mut hash, &question.header);
        hash_count(&mut hash, question.options.len());
        for option in &question.options {
            for text in [&option.id, &option.label, &option.description, &option.preview] {
                hash_text(&mut hash, text);
            }
        }
        hash.update([u8::from(question.allow_multiple)]);
        match question.recommended {
            None => hash.update([0]),
            Some(index) => {
                hash.update([1]);
                hash.update(index.to_be_bytes());
            }
        }
    }
    ContentDigest(hash.finalize().into())
}

pub(crate) fn hash_count(hash: &mut Sha256, count: usize) {
    hash.update((count as u64).to_be_bytes());
}

pub(crate) fn hash_text(hash: &mut Sha256, text: &str) {
    hash_count(hash, text.len());
    hash.update(text.as_bytes());
}
