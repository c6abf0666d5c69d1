//! What a person has chosen for one question so far.

use compass_client::model::Question;
use compass_domain::ask::AnswerDraft;

/// One question's answer in the making.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Draft {
    /// Indexes of chosen options, in the order they were chosen.
    pub(crate) chosen: Vec<usize>,
    /// Own words.
    pub(crate) text: String,
    /// The person skips the question.
    pub(crate) skipped: bool,
}

/// Own words stand where an option would have to go.
#[derive(Debug)]
pub(crate) struct TextInTheWay;

impl Draft {
    /// Marks or unmarks an option; where one is allowed, it takes the place of another.
    pub(crate) fn toggle(&mut self, option: usize, multiple: bool) -> Result<(), TextInTheWay> {
        if let Some(at) = self.chosen.iter().position(|chosen| *chosen == option) {
            self.chosen.remove(at);
            return Ok(());
        }
        if !multiple {
            if !self.text.is_empty() {
                return Err(TextInTheWay);
            }
            self.chosen.clear();
        }
        self.skipped = false;
        self.chosen.push(option);
        Ok(())
    }

    /// True once the question is answered or skipped on purpose.
    pub(crate) fn is_complete(&self) -> bool {
        self.skipped || !self.chosen.is_empty() || !self.text.is_empty()
    }

    /// What is sent for the question.
    pub(crate) fn answer(&self, question: &Question) -> AnswerDraft {
        let ids = self.chosen.iter().filter_map(|row| question.options.get(*row));
        AnswerDraft {
            question_id: question.question_id.clone(),
            chosen_option_ids: ids.map(|option| option.id.clone()).collect(),
            custom_text: self.text.clone(),
        }
    }
}
