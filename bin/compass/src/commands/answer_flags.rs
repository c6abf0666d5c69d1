//! Answers from flags: which option, which words, which skip, checked against the questions.

use compass_client::model::Question;
use compass_domain::ask::AnswerDraft;

use crate::failure::Failure;

/// Answers by flag; every question of the ask needs one.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Flags {
    /// Choose an option by its id; repeatable [default: ask at the terminal]
    #[arg(long = "option", value_name = "QUESTION=OPTION", value_parser = pair)]
    options: Vec<(String, String)>,
    /// Choose an option by its whole label; repeatable [default: ask at the terminal]
    #[arg(long = "label", value_name = "QUESTION=LABEL", value_parser = pair)]
    labels: Vec<(String, String)>,
    /// Answer in own words; repeatable for other questions [default: ask at the terminal]
    #[arg(long = "text", value_name = "QUESTION=TEXT", value_parser = pair)]
    texts: Vec<(String, String)>,
    /// Skip a question on purpose; repeatable [default: none is skipped]
    #[arg(long = "skip", value_name = "QUESTION")]
    skips: Vec<String>,
}

impl Flags {
    /// True if none was given.
    pub(crate) fn is_empty(&self) -> bool {
        self.options.is_empty() && self.labels.is_empty() && self.texts.is_empty() && self.skips.is_empty()
    }
}

/// One answer for each question, or what is wrong with the flags.
pub(crate) fn fit(flags: &Flags, questions: &[Question]) -> Result<Vec<AnswerDraft>, Failure> {
    let named = flags.options.iter().chain(&flags.labels).chain(&flags.texts).map(|(id, _)| id);
    for id in named.chain(&flags.skips) {
        if !questions.iter().any(|question| question.question_id == *id) {
            let known: Vec<_> = questions.iter().map(|question| question.question_id.as_str()).collect();
            return usage(format!("the ask has no question {id:?}; its questions are {known:?}"));
        }
    }
    questions.iter().map(|question| answer(flags, question)).collect()
}

/// The flags as they are, for an ask that cannot be read any more.
pub(crate) fn unchecked(flags: &Flags) -> Result<Vec<AnswerDraft>, Failure> {
    let mut ids: Vec<&String> = Vec::new();
    let named = flags.options.iter().chain(&flags.labels).chain(&flags.texts).map(|(id, _)| id);
    for id in named.chain(&flags.skips) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids.into_iter()
        .map(|id| {
            let chosen_option_ids = of(&flags.options, id).map(str::to_owned).collect();
            let custom_text = words(flags, id)?;
            Ok(AnswerDraft { question_id: id.clone(), chosen_option_ids, custom_text })
        })
        .collect()
}

fn answer(flags: &Flags, question: &Question) -> Result<AnswerDraft, Failure> {
    let id = &question.question_id;
    let mut chosen: Vec<String> = Vec::new();
    for option in of(&flags.options, id) {
        if !question.options.iter().any(|known| known.id == option) {
            let known: Vec<_> = question.options.iter().map(|option| option.id.as_str()).collect();
            if known.is_empty() {
                return usage(format!("question {id:?} has no options; answer it in words with --text"));
            }
            return usage(format!("question {id:?} has no option {option:?}; its options are {known:?}"));
        }
        chosen.push(option.to_owned());
    }
    for label in of(&flags.labels, id) {
        chosen.push(labelled(question, label)?);
    }
    let custom_text = words(flags, id)?;
    let (answered, skipped) = (!chosen.is_empty() || !custom_text.is_empty(), flags.skips.contains(id));
    match (answered, skipped) {
        (true, true) => usage(format!("question {id:?} is both answered and skipped")),
        (false, false) => usage(format!("question {id:?} has no answer; give one, or --skip it")),
        _ => Ok(AnswerDraft { question_id: id.clone(), chosen_option_ids: chosen, custom_text }),
    }
}

fn labelled(question: &Question, label: &str) -> Result<String, Failure> {
    let mut found = question.options.iter().filter(|option| option.label == label);
    match (found.next(), found.next()) {
        (Some(option), None) => Ok(option.id.clone()),
        (None, _) => usage(format!("question {:?} has no option labelled {label:?}", question.question_id)),
        (Some(_), Some(_)) => usage(format!(
            "question {:?} has several options labelled {label:?}; choose one by id with --option",
            question.question_id
        )),
    }
}

fn words(flags: &Flags, id: &str) -> Result<String, Failure> {
    let mut texts = of(&flags.texts, id);
    match (texts.next(), texts.next()) {
        (Some(_), Some(_)) => usage(format!("question {id:?} has --text twice")),
        (first, _) => Ok(first.unwrap_or_default().to_owned()),
    }
}

fn of<'a>(pairs: &'a [(String, String)], id: &'a str) -> impl Iterator<Item = &'a str> {
    pairs.iter().filter(move |(question, _)| question == id).map(|(_, value)| value.as_str())
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (question, value) = text.split_once('=').ok_or("expected QUESTION=VALUE")?;
    Ok((question.to_owned(), value.to_owned()))
}

fn usage<T>(text: String) -> Result<T, Failure> {
    Err(Failure::Usage(text))
}

#[cfg(test)]
mod tests {
    use compass_client::model::Choice;

    use super::*;

    fn questions() -> Vec<Question> {
        let choice =
            |id: &str, label: &str| Choice { id: id.into(), label: label.into(), ..Choice::default() };
        let options = vec![choice("0", "Yes"), choice("1", "No"), choice("2", "No")];
        let first = Question { question_id: "a".into(), options, ..Question::default() };
        vec![first, Question { question_id: "b".into(), ..Question::default() }]
    }

    fn flags(options: &[&str], labels: &[&str], texts: &[&str], skips: &[&str]) -> Flags {
        let pairs = |list: &[&str]| list.iter().map(|text| pair(text).unwrap()).collect();
        let skips = skips.iter().map(|&id| id.to_owned()).collect();
        Flags { options: pairs(options), labels: pairs(labels), texts: pairs(texts), skips }
    }

    fn error(flags: &Flags) -> String {
        let failure = fit(flags, &questions()).unwrap_err();
        assert_eq!(failure.code(), 2);
        failure.to_string()
    }

    #[test]
    fn every_question_gets_an_answer_in_order() {
        let answers = fit(&flags(&[], &["a=Yes"], &["b=x=y"], &[]), &questions()).unwrap();
        assert_eq!(answers[0].chosen_option_ids, ["0"]);
        assert_eq!((answers[1].question_id.as_str(), answers[1].custom_text.as_str()), ("b", "x=y"));
    }

    #[test]
    fn a_question_is_never_skipped_by_leaving_it_out() {
        assert!(error(&flags(&["a=0"], &[], &[], &[])).contains("question \"b\" has no answer"));
        let answers = fit(&flags(&["a=0"], &[], &[], &["b"]), &questions()).unwrap();
        assert!(answers[1].custom_text.is_empty() && answers[1].chosen_option_ids.is_empty());
    }

    #[test]
    fn what_does_not_fit_is_named() {
        assert!(error(&flags(&["a=9"], &[], &[], &["b"])).contains("no option \"9\""));
        let error_of_b = error(&flags(&["a=0", "b=0"], &[], &[], &[]));
        assert!(error_of_b.contains("question \"b\" has no options; answer it in words with --text"));
        assert!(error(&flags(&["z=0"], &[], &[], &[])).contains("no question \"z\""));
        assert!(error(&flags(&[], &["a=No"], &[], &["b"])).contains("several options labelled \"No\""));
        assert!(error(&flags(&["a=0"], &[], &["b=x"], &["b"])).contains("both answered and skipped"));
        assert!(error(&flags(&["a=0"], &[], &["b=x", "b=y"], &[])).contains("--text twice"));
    }

    #[test]
    fn an_ask_out_of_sight_gets_the_flags_as_they_are() {
        let answers = unchecked(&flags(&["a=0", "a=1"], &[], &["b=x"], &["c"])).unwrap();
        let ids: Vec<_> = answers.iter().map(|answer| answer.question_id.as_str()).collect();
        assert_eq!(ids, ["a", "b", "c"]);
        assert_eq!(answers[0].chosen_option_ids, ["0", "1"]);
    }
}
