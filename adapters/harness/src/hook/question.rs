//! The built-in question tool: its input as an ask, and an answered ask as the input that it runs on without a prompt.

use compass_agent::{
    guard::{attr, flat},
    seen::{SeenAsk, SeenQuestion},
    tools::{OptionParams, PostAskParams, QuestionParams},
};
use serde::{Deserialize, de::Error as _};
use serde_json::{Map, Value};

/// What marks the option an agent recommends, at the end of its label.
const RECOMMENDED: &str = "(Recommended)";
/// Stands where an answer would.
const SKIPPED: &str = "(skipped by the person; this is not an answer)";

#[derive(Deserialize)]
struct Call {
    questions: Vec<Asked>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    question: String,
    #[serde(default)]
    header: String,
    #[serde(default)]
    multi_select: bool,
    #[serde(default)]
    options: Vec<Offered>,
}

#[derive(Deserialize)]
struct Offered {
    label: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    preview: Option<String>,
}

/// The tool's input as an ask; ids are places, labels stay as written.
///
/// # Errors
///
/// The reason if it does not hold questions.
pub(super) fn ask(
    tool_input: &Value,
    topic: &str,
    channel: Option<&str>,
) -> Result<PostAskParams, serde_json::Error> {
    if !tool_input.is_object() {
        // A list would do for the fields below, and the answers would have no place in it.
        return Err(serde_json::Error::custom("the tool's input is no object"));
    }
    let call = Call::deserialize(tool_input)?;
    let questions = call.questions.into_iter().enumerate().map(|(index, asked)| {
        let marked = asked.options.iter().position(|offered| offered.label.trim_end().ends_with(RECOMMENDED));
        let options = asked.options.into_iter().map(|offered| OptionParams {
            label: offered.label,
            description: offered.description,
            preview: offered.preview.unwrap_or_default(),
        });
        QuestionParams {
            id: index.to_string(),
            question: asked.question,
            header: asked.header,
            options: options.collect(),
            multi: asked.multi_select,
            recommended: marked.and_then(|at| i32::try_from(at).ok()),
        }
    });
    Ok(PostAskParams {
        questions: questions.collect(),
        topic: topic.to_owned(),
        channel: channel.map(str::to_owned),
        create_topic: true,
    })
}

/// The tool's input with the answers, by the text of their questions; none if every question was skipped.
pub(super) fn answered(tool_input: &Value, ask: &SeenAsk) -> Option<Value> {
    if ask.questions.iter().all(SeenQuestion::is_skipped) {
        return None;
    }
    let mut answers: Map<String, Value> = Map::new();
    for question in &ask.questions {
        let answer = answer(question);
        // Questions of one text share a key; their answers stand in the order of the questions.
        let both = match answers.get(&question.question).and_then(Value::as_str) {
            Some(earlier) => format!("{earlier}; then: {answer}"),
            None => answer,
        };
        answers.insert(question.question.clone(), Value::String(both));
    }
    let mut updated = tool_input.clone();
    updated.as_object_mut()?.insert("answers".to_owned(), Value::Object(answers));
    Some(updated)
}

/// Labels with the numbers of their options, which tell equal labels apart, then what was written.
fn answer(question: &SeenQuestion) -> String {
    if question.is_skipped() {
        return SKIPPED.to_owned();
    }
    let chosen = question.chosen_option_ids.iter().map(|id| {
        let mut options = question.options.iter().enumerate();
        match options.find(|(_, option)| option.id == *id) {
            Some((index, option)) => format!("{} (option {})", flat(&option.label), index + 1),
            None => format!("{} (unknown option)", attr(id)),
        }
    });
    let written = Some(flat(&question.custom_text)).filter(|text| !text.is_empty());
    chosen.chain(written).collect::<Vec<_>>().join(", ")
}

/// Tells the model that nobody answered yet.
pub(super) fn still_open(ask_id: &str) -> String {
    format!(
        "Ask {} went to people in Compass, and nobody has answered it yet. That is not an answer and not a no. The \
         answer comes by itself, with a later prompt or with the result of a Compass tool: do not ask again and do not \
         assume an answer. Go on with what does not depend on it.",
        attr(ask_id)
    )
}

/// Tells the model that the ask is gone.
pub(super) fn withdrawn(ask_id: &str) -> String {
    format!(
        "Ask {} was withdrawn before anybody answered it. That is not an answer and not a no.",
        attr(ask_id)
    )
}

/// Tells the model that there is an answer, and where it is; `owed` if it was not handed over yet.
pub(super) fn too_long(ask_id: &str, owed: bool) -> String {
    let whole = if owed {
        "Call any Compass tool, such as comms_list_messages: its result brings the answer whole"
    } else {
        "The answer was handed over before"
    };
    format!(
        "Ask {} is answered, and the answer is too long to stand here. {whole}. Do not ask again and do not assume an \
         answer.",
        attr(ask_id)
    )
}

/// Tells the model that a person looked and chose nothing.
pub(super) fn all_skipped(ask_id: &str) -> String {
    format!(
        "Ask {} was closed, and every question of it was skipped by the person: nothing was chosen and nothing \
         refused. Do not ask the same again; go on with what does not depend on it, or say what you would do.",
        attr(ask_id)
    )
}
