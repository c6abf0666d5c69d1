//! Asks as files: the shape of the question tools of common agents, and our own names beside it.

use std::collections::HashSet;

use compass_domain::ask::{AskDraft, OptionDraft, QuestionDraft};
use serde::Deserialize;

/// What marks the option an agent recommends, at the end of its label.
const RECOMMENDED: &str = "(Recommended)";

/// Why a text is not an ask; `path` is where in the JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub(crate) struct AskFileError {
    path: String,
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with a list `questions`")]
struct AskFile {
    questions: Vec<QuestionEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with a text `question`")]
struct QuestionEntry {
    #[serde(alias = "question_id")]
    id: Option<String>,
    question: String,
    #[serde(default)]
    header: String,
    #[serde(default, alias = "multiSelect", alias = "multi")]
    allow_multiple: bool,
    #[serde(default)]
    options: Vec<OptionEntry>,
    recommended: Option<i32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with a text `label`")]
struct OptionEntry {
    id: Option<String>,
    label: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    preview: String,
}

/// Reads an ask from JSON. Questions and options without an id get their position, from "0"; a label that ends
/// in `(Recommended)` makes its option the recommended one and is kept as written.
///
/// # Errors
///
/// [`AskFileError`] that names the place in the JSON. Sizes are the server's to check.
pub(crate) fn parse(text: &str) -> Result<AskDraft, AskFileError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let file: AskFile = serde_path_to_error::deserialize(&mut json).map_err(|error| AskFileError {
        path: at(error.path().to_string()),
        reason: error.inner().to_string(),
    })?;
    json.end().map_err(|error| AskFileError { path: at(".".into()), reason: error.to_string() })?;
    if file.questions.is_empty() {
        return Err(AskFileError { path: "questions".into(), reason: "an ask needs a question".into() });
    }
    let questions: Vec<_> = file.questions.into_iter().enumerate().map(question).collect::<Result<_, _>>()?;
    unique(questions.iter().map(|question| question.id.as_str()), "questions")?;
    Ok(AskDraft { questions })
}

fn question((index, entry): (usize, QuestionEntry)) -> Result<QuestionDraft, AskFileError> {
    let options: Vec<_> = entry.options.into_iter().enumerate().map(option).collect();
    unique(options.iter().map(|option| option.id.as_str()), &format!("questions[{index}].options"))?;
    let marked = options.iter().position(|option| option.label.trim_end().ends_with(RECOMMENDED));
    let recommended = entry.recommended.or_else(|| marked.and_then(|at| i32::try_from(at).ok()));
    Ok(QuestionDraft {
        id: entry.id.unwrap_or_else(|| index.to_string()),
        text: entry.question,
        header: entry.header,
        options,
        allow_multiple: entry.allow_multiple,
        recommended,
    })
}

fn option((index, entry): (usize, OptionEntry)) -> OptionDraft {
    OptionDraft {
        id: entry.id.unwrap_or_else(|| index.to_string()),
        label: entry.label,
        description: entry.description,
        preview: entry.preview,
    }
}

fn unique<'a>(ids: impl Iterator<Item = &'a str>, list: &str) -> Result<(), AskFileError> {
    let mut seen = HashSet::new();
    for (index, id) in ids.enumerate() {
        if !seen.insert(id) {
            let reason = format!("{id:?} is used twice; an entry without an id has its position as id");
            return Err(AskFileError { path: format!("{list}[{index}].id"), reason });
        }
    }
    Ok(())
}

fn at(path: String) -> String {
    if path == "." { "the ask".to_owned() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! sample {
        ($name:literal) => {
            include_str!(concat!("../tests/fixtures/asks/", $name, ".json"))
        };
    }

    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn every_sample_comes_through_byte_for_byte() {
        for sample in [
            sample!("deploy"),
            sample!("hostile"),
            sample!("many-scripts"),
            sample!("previews"),
            sample!("thirty-options"),
        ] {
            let ask = parse(sample).unwrap();
            let json: serde_json::Value = serde_json::from_str(sample).unwrap();
            let written = json["questions"].as_array().unwrap();
            assert_eq!(ask.questions.len(), written.len());
            for (draft, source) in ask.questions.iter().zip(written) {
                assert_eq!(draft.text, source["question"].as_str().unwrap());
                assert_eq!(draft.header, source["header"].as_str().unwrap());
                assert_eq!(draft.allow_multiple, source["multiSelect"].as_bool().unwrap());
                let options = source["options"].as_array().unwrap();
                assert_eq!(draft.options.len(), options.len());
                for (option, source) in draft.options.iter().zip(options) {
                    assert_eq!(option.label, source["label"].as_str().unwrap());
                    assert_eq!(option.description, source["description"].as_str().unwrap());
                    assert_eq!(option.preview, source["preview"].as_str().unwrap_or_default());
                }
            }
        }
    }

    #[test]
    fn ids_are_positions_and_a_suffix_recommends() {
        let ask = parse(sample!("deploy")).unwrap();
        let ids: Vec<_> = ask.questions.iter().map(|question| question.id.as_str()).collect();
        assert_eq!(ids, ["0", "1", "2", "3"]);
        assert_eq!(ask.questions[0].recommended, Some(0));
        assert_eq!(ask.questions[0].options[0].label, "Staging (Recommended)");
        assert_eq!(ask.questions[1].recommended, None);
        assert_eq!(ask.questions[0].options[2].id, "2");
    }

    #[test]
    fn own_names_are_taken_too() {
        let ask = parse(
            r#"{"questions":[{"question_id":"go","question":"q","allow_multiple":true,"recommended":1,
               "options":[{"id":"y","label":"Yes (Recommended)"},{"id":"n","label":"No"}]}]}"#,
        )
        .unwrap();
        let question = &ask.questions[0];
        assert_eq!(
            (question.id.as_str(), question.allow_multiple, question.recommended),
            ("go", true, Some(1))
        );
        assert_eq!(question.options[1].id, "n");
    }

    #[test]
    fn errors_name_the_place() {
        assert!(
            error(r#"{"questions":[{"question":"a"},{"question":"b","options":[{"label":3}]}]}"#)
                .starts_with("questions[1].options[0].label: ")
        );
        assert!(
            error(r#"{"questions":[{"header":"x"}]}"#).starts_with("questions[0]: missing field `question`")
        );
        assert!(
            error(r#"{"questions":[{"question":"a","multiselect":true}]}"#)
                .starts_with("questions[0].multiselect: ")
        );
        assert!(error(r#"{"questions":[]}"#).starts_with("questions: "));
        assert!(error("[").starts_with("the ask: "));
        assert!(error("{}").starts_with("the ask: missing field `questions`"));
        assert!(error("[]").contains("expected an object with a list `questions`"));
        let text = r#"{"questions":[{"question":"a","options":["Yes"]}]}"#;
        assert!(error(text).contains("expected an object with a text `label`"), "{}", error(text));
        assert!(error(r#"{"questions":[{"question":"a"}]} x"#).starts_with("the ask: "));
    }

    #[test]
    fn nothing_is_dropped_silently() {
        assert!(error(r#"{"questions":[{"question":"a","question":"b"}]}"#).contains("duplicate field"));
        assert!(error(r#"{"questions":[{"question":"a\ud800"}]}"#).starts_with("questions[0].question: "));
        assert!(
            error(r#"{"questions":[{"question":"a","options":[{"label":"x","id":"1"},{"label":"y"}]}]}"#)
                .starts_with("questions[0].options[1].id: \"1\" is used twice")
        );
    }
}
