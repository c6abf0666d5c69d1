//! What `compass ask` prints: that it asked, and how the ask ended.

use std::io::Write as _;

use compass_agent::ports::Journal as _;
use compass_client::model::{Ask, AskState, Message};
use compass_gateway::FileJournal;
use serde::Serialize;

use super::identity::Identity;
use crate::{config, failure::Failure, output::Output, render, show};

/// The end of an ask.
pub(super) struct End {
    /// The ask, closed.
    pub(super) ask: Ask,
    /// The message to acknowledge; none if it was acknowledged before or there is none.
    pub(super) answer_message_id: Option<String>,
}

/// An ask as a program reads it.
#[derive(Serialize)]
pub(super) struct Outcome<'a> {
    ask_id: &'a str,
    state: AskState,
    key: &'a str,
    /// True if every question was skipped; false while it is open.
    all_skipped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    answered_by_account_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_at_unix_ms: Option<i64>,
    questions: Vec<Answered<'a>>,
    #[serde(skip)]
    ask: &'a Ask,
}

/// A question and what was answered.
#[derive(Serialize)]
struct Answered<'a> {
    question_id: &'a str,
    question: &'a str,
    chosen: Vec<Chosen<'a>>,
    custom_text: &'a str,
    skipped: bool,
}

/// A chosen option; options may share labels, so its place is told too.
#[derive(Serialize)]
struct Chosen<'a> {
    option_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<usize>,
    label: &'a str,
}

/// The ask of a posted message.
pub(super) fn of_message(message: &Message) -> Result<&Ask, Failure> {
    let broken = || Failure::Local("the server returned a message without the ask".to_owned());
    message.asks().next().ok_or_else(broken)
}

impl<'a> Outcome<'a> {
    /// Of a posted message.
    pub(super) fn of(message: &'a Message, key: &'a str) -> Result<Self, Failure> {
        Ok(Self::new(of_message(message)?, key))
    }

    fn new(ask: &'a Ask, key: &'a str) -> Self {
        let closed = ask.state == AskState::Answered;
        let questions: Vec<_> = ask.questions.iter().map(|question| answered(question, closed)).collect();
        Self {
            ask_id: &ask.ask_id,
            state: ask.state,
            key,
            all_skipped: closed && questions.iter().all(|question| question.skipped),
            answered_by_account_id: ask.answered_by_account_id.as_deref(),
            closed_at_unix_ms: ask.closed_at_unix_ms,
            questions,
            ask,
        }
    }

    /// Says that the ask was posted and how to wait for it.
    pub(super) fn print_posted(&self, out: Output) -> Result<(), Failure> {
        if out.is_json() {
            return out.json(self);
        }
        let state = match self.state {
            AskState::Open => "posted ask",
            AskState::Answered => "already answered: ask",
            AskState::Cancelled => "already withdrawn: ask",
        };
        out.line(&format!("{state} {}, key {}", render::line(self.ask_id), render::line(self.key)))
    }

    fn print_end(&self, out: Output) -> Result<(), Failure> {
        if out.is_json() {
            return out.json(self);
        }
        if self.state == AskState::Answered {
            out.line(&format!("ask {} was answered", render::line(self.ask_id)))?;
            out.safe(&show::answers(self.ask, out.width()))?;
        }
        Ok(())
    }
}

fn answered(question: &compass_client::model::Question, closed: bool) -> Answered<'_> {
    let chosen = question.chosen_option_ids.iter().map(|id| {
        let found = question.options.iter().enumerate().find(|(_, option)| option.id == *id);
        Chosen {
            option_id: id,
            number: found.map(|(index, _)| index + 1),
            label: found.map_or(id.as_str(), |(_, option)| option.label.as_str()),
        }
    });
    let chosen: Vec<_> = chosen.collect();
    Answered {
        question_id: &question.question_id,
        question: &question.question,
        skipped: closed && chosen.is_empty() && question.custom_text.is_empty(),
        chosen,
        custom_text: &question.custom_text,
    }
}

impl End {
    /// Prints, flushes, marks the answer as taken, and only then acknowledges it.
    ///
    /// # Errors
    ///
    /// [`Failure::Withdrawn`] if the ask was withdrawn; a failure to print leaves the answer owed.
    pub(super) async fn finish(self, identity: &Identity, key: &str, out: Output) -> Result<(), Failure> {
        Outcome::new(&self.ask, key).print_end(out)?;
        std::io::stdout().lock().flush()?;
        if let Some(id) = self.answer_message_id {
            let account_id = identity.client.who_am_i().await?.account_id;
            let taken = FileJournal::open(&config::state_dir()?, &account_id)
                .and_then(|mut journal| journal.take(std::slice::from_ref(&id)));
            taken.map_err(|error| Failure::Local(error.to_string()))?;
            identity.client.acknowledge(vec![id]).await?;
        }
        match self.ask.state {
            AskState::Cancelled => {
                Err(Failure::Withdrawn(format!("ask {} was withdrawn", render::line(&self.ask.ask_id))))
            }
            AskState::Answered | AskState::Open => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use compass_client::model::{Choice, Question};

    use super::*;

    fn ask(chosen: &[&str], custom_text: &str) -> Ask {
        let option = |id: &str| Choice { id: id.into(), label: "No".into(), ..Choice::default() };
        Ask {
            ask_id: "a".into(),
            state: AskState::Answered,
            answered_by_account_id: Some("p".into()),
            closed_at_unix_ms: Some(1),
            questions: vec![Question {
                question_id: "0".into(),
                options: vec![option("0"), option("1")],
                chosen_option_ids: chosen.iter().map(|&id| id.into()).collect(),
                custom_text: custom_text.into(),
                ..Question::default()
            }],
        }
    }

    #[test]
    fn options_with_one_label_are_told_apart_by_number() {
        let ask = ask(&["1"], "");
        let json = serde_json::to_value(Outcome::new(&ask, "k")).expect("JSON");
        assert_eq!(json["questions"][0]["chosen"][0]["number"], 2);
        assert_eq!(json["questions"][0]["chosen"][0]["label"], "No");
        assert_eq!(json["all_skipped"], false);
    }

    #[test]
    fn an_all_skipped_answer_says_so() {
        let ask = ask(&[], "");
        let json = serde_json::to_value(Outcome::new(&ask, "k")).expect("JSON");
        assert_eq!((&json["state"], &json["all_skipped"]), (&"answered".into(), &true.into()));
        assert_eq!(json["questions"][0]["skipped"], true);
    }
}
