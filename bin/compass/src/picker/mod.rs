//! The interactive answer: a state machine without a terminal. Keys go in, lines and the answer come out.

mod draft;
mod terminal;
mod view;

use compass_client::model::Question;
use compass_domain::ask::AnswerDraft;

pub(crate) use draft::Draft;
pub(crate) use terminal::ask_person;

/// A key, as far as the picker cares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// Back to the question before.
    Back,
    /// Takes the row, or goes on.
    Enter,
    /// A character, space included.
    Char(char),
    /// Pasted text.
    Paste(String),
    /// Removes the last character.
    Backspace,
    /// Leaves the text, or the ask.
    Escape,
    /// Leaves at once.
    Interrupt,
}

/// What a key led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Show the picker again.
    Stay,
    /// The person sends this.
    Send(Vec<AnswerDraft>),
    /// The person leaves; the ask stays open.
    Leave,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Rows,
    Text,
    Review,
}

/// A person answering one ask.
#[derive(Clone, Debug)]
pub(crate) struct Picker {
    questions: Vec<Question>,
    drafts: Vec<Draft>,
    at: usize,
    row: usize,
    typed: String,
    mode: Mode,
    notice: &'static str,
}

const ONE_OR_OTHER: &str =
    "this question takes one option or your own words, not both: remove the words first";

impl Picker {
    /// Starts at the first question; the recommended option is under the cursor and not chosen.
    pub(crate) fn new(questions: Vec<Question>) -> Self {
        let drafts = vec![Draft::default(); questions.len()];
        let mut picker =
            Self { questions, drafts, at: 0, row: 0, typed: String::new(), mode: Mode::Rows, notice: "" };
        picker.enter(0);
        picker
    }

    /// Applies one key.
    pub(crate) fn press(&mut self, key: &Key) -> Step {
        self.notice = "";
        if *key == Key::Interrupt {
            return Step::Leave;
        }
        match self.mode {
            Mode::Rows => self.press_in_rows(key),
            Mode::Text => self.press_in_text(key),
            Mode::Review => self.press_in_review(key),
        }
    }

    /// The question the picker is at; `None` in the review.
    pub(crate) fn question(&self) -> Option<(usize, &Question)> {
        match self.mode {
            Mode::Review => None,
            Mode::Rows | Mode::Text => self.questions.get(self.at).map(|question| (self.at, question)),
        }
    }

    fn press_in_rows(&mut self, key: &Key) -> Step {
        if let Key::Char(digit @ '0'..='9') = key {
            self.jump(*digit);
            return Step::Stay;
        }
        self.typed.clear();
        match key {
            Key::Up => self.row = self.row.checked_sub(1).unwrap_or(self.skip_row()),
            Key::Down => self.row = if self.row >= self.skip_row() { 0 } else { self.row + 1 },
            Key::Back => self.enter(self.at.saturating_sub(1)),
            Key::Char(' ') => self.toggle(),
            Key::Enter => self.take(),
            Key::Escape => return Step::Leave,
            Key::Char(_) | Key::Paste(_) | Key::Backspace | Key::Interrupt => {}
        }
        Step::Stay
    }

    fn press_in_text(&mut self, key: &Key) -> Step {
        let Some(draft) = self.drafts.get_mut(self.at) else { return Step::Stay };
        match key {
            Key::Char(character) => draft.text.push(*character),
            Key::Paste(text) => draft.text.push_str(&text.replace("\r\n", "\n").replace('\r', "\n")),
            Key::Backspace => {
                draft.text.pop();
            }
            Key::Escape => self.mode = Mode::Rows,
            Key::Enter if draft.text.is_empty() => self.mode = Mode::Rows,
            Key::Enter => self.advance(),
            Key::Up | Key::Down | Key::Back | Key::Interrupt => {}
        }
        Step::Stay
    }

    fn press_in_review(&mut self, key: &Key) -> Step {
        match key {
            Key::Enter => return Step::Send(self.answers()),
            Key::Back | Key::Up => self.enter(self.questions.len().saturating_sub(1)),
            Key::Escape => return Step::Leave,
            _ => {}
        }
        Step::Stay
    }

    /// Digits move the cursor only: a stray key must never answer.
    fn jump(&mut self, digit: char) {
        for text in [format!("{}{digit}", self.typed), digit.to_string()] {
            let row = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            if let Some(row) = row.filter(|row| *row < self.options()) {
                (self.row, self.typed) = (row, text);
                return;
            }
        }
        self.typed.clear();
    }

    /// Space: marks or unmarks an option, opens the text, marks or unmarks the skip.
    fn toggle(&mut self) {
        let (row, multiple) = (self.row, self.allows_multiple());
        if row == self.skip_row() {
            self.skip();
        } else if row == self.text_row() {
            self.write();
        } else if let Some(draft) = self.drafts.get_mut(self.at) {
            match draft.toggle(row, multiple) {
                Ok(()) => {}
                Err(draft::TextInTheWay) => self.notice = ONE_OR_OTHER,
            }
        }
    }

    /// Enter: on one-choice questions takes the row and goes on; otherwise goes on once something is chosen.
    fn take(&mut self) {
        if self.row == self.text_row() {
            return self.write();
        }
        if self.row == self.skip_row() {
            if !self.draft().skipped {
                self.skip();
            }
            if self.draft().skipped {
                self.advance();
            }
            return;
        }
        if self.allows_multiple() {
            if self.draft().is_complete() {
                self.advance();
            } else {
                self.notice = "nothing is chosen yet: space chooses, or take the row that skips";
            }
            return;
        }
        if !self.draft().chosen.contains(&self.row) {
            self.toggle();
        }
        if self.draft().chosen.contains(&self.row) {
            self.advance();
        }
    }

    fn write(&mut self) {
        if !self.allows_multiple() && !self.draft().chosen.is_empty() {
            self.notice = "an option is chosen; take it back with space first";
            return;
        }
        if let Some(draft) = self.drafts.get_mut(self.at) {
            draft.skipped = false;
            self.mode = Mode::Text;
        }
    }

    fn skip(&mut self) {
        if let Some(draft) = self.drafts.get_mut(self.at) {
            if draft.chosen.is_empty() && draft.text.is_empty() {
                draft.skipped = !draft.skipped;
            } else {
                self.notice = "there is an answer; take it back before you skip the question";
            }
        }
    }

    fn advance(&mut self) {
        if self.at + 1 < self.questions.len() {
            self.enter(self.at + 1);
        } else {
            self.mode = Mode::Review;
        }
    }

    fn enter(&mut self, at: usize) {
        self.at = at;
        self.mode = Mode::Rows;
        self.typed.clear();
        let first = self.draft().chosen.first().copied();
        let recommended = self.questions.get(at).and_then(|question| question.recommended);
        let recommended = recommended.and_then(|row| usize::try_from(row).ok());
        self.row = first.or(recommended).filter(|row| *row < self.options()).unwrap_or(0);
    }

    fn answers(&self) -> Vec<AnswerDraft> {
        self.questions.iter().zip(&self.drafts).map(|(question, draft)| draft.answer(question)).collect()
    }

    fn draft(&self) -> &Draft {
        static NONE: Draft = Draft { chosen: Vec::new(), text: String::new(), skipped: false };
        self.drafts.get(self.at).unwrap_or(&NONE)
    }

    fn options(&self) -> usize {
        self.questions.get(self.at).map_or(0, |question| question.options.len())
    }

    fn allows_multiple(&self) -> bool {
        self.questions.get(self.at).is_some_and(|question| question.allow_multiple)
    }

    fn text_row(&self) -> usize {
        self.options()
    }

    fn skip_row(&self) -> usize {
        self.options() + 1
    }
}

#[cfg(test)]
mod tests;
