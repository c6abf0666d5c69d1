//! Where the questions of `compass ask` come from: a JSON file, standard input, or flags for a single one.

use std::path::PathBuf;

use compass_domain::ask::{AskDraft, OptionDraft, QuestionDraft};

use crate::{ask_file, commands::context::read_input, failure::Failure};

/// The questions.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct QuestionArgs {
    /// The question, when there is just one
    #[arg(value_name = "QUESTION", required_unless_present = "file", conflicts_with = "file")]
    question: Option<String>,
    /// Read the questions from this JSON file (`-`: standard input) [default: none]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Label of an option; repeat it for more [default: none, the answer is free text]
    #[arg(long = "option", value_name = "LABEL", conflicts_with = "file")]
    options: Vec<String>,
    /// Several options may be chosen [default: no]
    #[arg(long, conflicts_with = "file")]
    multi: bool,
    /// Number of the option you recommend, from 1 [default: none]
    #[arg(long, value_name = "NUMBER", conflicts_with = "file")]
    recommended: Option<u32>,
    /// Short title of the question [default: none]
    #[arg(
        long,
        value_name = "TITLE",
        conflicts_with = "file",
        default_value = "",
        hide_default_value = true
    )]
    header: String,
}

impl QuestionArgs {
    /// The ask they make.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] that names the flag or the place in the file.
    pub(crate) fn draft(&self) -> Result<AskDraft, Failure> {
        if let Some(path) = &self.file {
            return ask_file::parse(&read_input(path)?)
                .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())));
        }
        let text = self.question.clone().unwrap_or_default();
        if text.trim().is_empty() {
            return Err(Failure::Usage("the question is empty".to_owned()));
        }
        let recommended = self.recommended.map(|number| self.index(number)).transpose()?;
        let options = self.options.iter().enumerate().map(|(index, label)| OptionDraft {
            id: index.to_string(),
            label: label.clone(),
            ..OptionDraft::default()
        });
        let question = QuestionDraft {
            id: "0".to_owned(),
            text,
            header: self.header.clone(),
            options: options.collect(),
            allow_multiple: self.multi,
            recommended,
        };
        Ok(AskDraft { questions: vec![question] })
    }

    fn index(&self, number: u32) -> Result<i32, Failure> {
        let options = self.options.len();
        let index = number.checked_sub(1).filter(|index| (*index as usize) < options);
        index.and_then(|index| i32::try_from(index).ok()).ok_or_else(|| {
            let there_are = match options {
                0 => "there are no options".to_owned(),
                1 => "there is 1 option".to_owned(),
                _ => format!("there are {options} options"),
            };
            Failure::Usage(format!("--recommended is {number}, but {there_are}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(recommended: Option<u32>) -> QuestionArgs {
        QuestionArgs {
            question: Some("Deploy?".into()),
            file: None,
            options: vec!["Yes".into(), "No".into()],
            multi: false,
            recommended,
            header: String::new(),
        }
    }

    #[test]
    fn flags_make_one_question_with_numbered_options() {
        let ask = args(Some(2)).draft().expect("valid");
        let question = &ask.questions[0];
        assert_eq!((question.text.as_str(), question.recommended), ("Deploy?", Some(1)));
        let ids: Vec<_> = question.options.iter().map(|option| option.id.as_str()).collect();
        assert_eq!(ids, ["0", "1"]);
    }

    #[test]
    fn a_blank_question_is_usage() {
        let refused =
            QuestionArgs { question: Some(" \n".into()), ..args(None) }.draft().expect_err("refused");
        assert_eq!((refused.code(), refused.to_string().as_str()), (2, "the question is empty"));
    }

    #[test]
    fn a_recommendation_outside_the_options_is_usage() {
        for number in [0, 3] {
            let refused = args(Some(number)).draft().expect_err("refused");
            assert_eq!(refused.code(), 2);
            assert!(refused.to_string().contains("2 options"), "{refused}");
        }
    }
}
