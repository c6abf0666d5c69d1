//! Elicitation: a form that a program asks its user to fill in, as an ask, and the answered ask as the filled form.
//!
//! [`Form::read`] takes a message and the restricted JSON schema of MCP and ACP, [`Form::ask`] makes the ask, and
//! [`Form::reply`] turns how the ask ended into what goes back. Content is only ever what a person chose or wrote:
//! defaults are shown and never filled in, and what does not fit the schema is not made to fit.

mod field;
mod value;

use compass_domain::limits;
use serde_json::{Map, Value};

use self::field::Field;
use crate::{
    seen::{SeenAsk, SeenQuestion},
    tools::{OptionParams, PostAskParams, QuestionParams},
    waiters::Outcome,
};

/// What the schema of a form may have. Whatever it says of further properties, no question asks for one.
const KEYWORDS: [&str; 8] =
    ["$schema", "type", "title", "description", "properties", "required", "additionalProperties", "_meta"];

/// A form that can be asked: every field of it is one question.
#[derive(Debug, Clone)]
pub struct Form {
    message: String,
    fields: Vec<Field>,
}

/// Why a form cannot be asked. Refuse the request with this text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unmappable {
    /// A field of a kind that no question can ask for, or with a rule that is not known here.
    #[error("field {field:?} cannot be asked: {reason}")]
    Field {
        /// Which.
        field: String,
        /// Why.
        reason: String,
    },
    /// The form as a whole.
    #[error("the form cannot be asked: {0}")]
    Form(String),
}

/// What goes back to the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A person filled the form in; the content satisfies the schema.
    Accept(Map<String, Value>),
    /// A person skipped all of it, or said no to a form without fields.
    Decline,
    /// Nobody decided anything that could go back.
    Cancel(Reason),
}

/// Why there is no decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The ask was withdrawn, or the request ran out.
    #[error("the ask was withdrawn")]
    Withdrawn,
    /// The ask was never posted.
    #[error("the ask was not posted: {0}")]
    NotPosted(String),
    /// A person answered, and the answer does not fit the form.
    #[error("the answer does not fit the form: {}", list(.0))]
    Unfit(Vec<Misfit>),
}

/// One field that an answer does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("field {field:?} {problem}")]
pub struct Misfit {
    /// Which.
    pub field: String,
    /// What is wrong, without the person's words.
    pub problem: String,
}

impl Form {
    /// Reads a form: its message and its JSON schema, an object of flat properties.
    ///
    /// # Errors
    ///
    /// [`Unmappable`] that names the field.
    pub fn read(message: &str, schema: &Value) -> Result<Self, Unmappable> {
        let form = |text: String| Unmappable::Form(text);
        let object = schema.as_object().ok_or_else(|| form("its schema is not an object".into()))?;
        if object.get("type").and_then(Value::as_str) != Some("object") {
            return Err(form("its schema is not of type \"object\"".into()));
        }
        if let Some(key) = object.keys().find(|key| !KEYWORDS.contains(&key.as_str())) {
            return Err(form(format!("its schema has {key:?}, which is not supported")));
        }
        let none = Map::new();
        let properties = match object.get("properties") {
            None => &none,
            Some(properties) => {
                properties.as_object().ok_or_else(|| form("its \"properties\" are not an object".into()))?
            }
        };
        if properties.len() > limits::QUESTIONS {
            let (actual, limit) = (properties.len(), limits::QUESTIONS);
            return Err(form(format!("it has {actual} fields, the limit is {limit}")));
        }
        let required = required(object)?;
        if let Some(missing) = required.iter().find(|name| !properties.contains_key(**name)) {
            return Err(form(format!("it requires {missing:?}, which is not among its properties")));
        }
        let fields = properties
            .iter()
            .map(|(name, schema)| Field::read(name, schema, required.contains(&name.as_str())));
        Ok(Self { message: message.to_owned(), fields: fields.collect::<Result<_, _>>()? })
    }

    /// The form as an ask in `topic`, made if need be, of `channel`, or of the agent's home channel.
    pub fn ask(&self, topic: impl Into<String>, channel: Option<String>) -> PostAskParams {
        let mut questions: Vec<_> =
            self.fields.iter().enumerate().map(|(index, field)| field.question(index)).collect();
        match questions.first_mut() {
            None => questions.push(self.confirmation()),
            Some(_) if self.message.trim().is_empty() => {}
            Some(first) => first.question = format!("{}\n\n{}", self.message, first.question),
        }
        PostAskParams { questions, topic: topic.into(), channel, create_topic: true }
    }

    /// What goes back once the ask ended.
    pub fn reply(&self, outcome: &Outcome) -> Reply {
        match outcome {
            Outcome::Withdrawn => Reply::Cancel(Reason::Withdrawn),
            Outcome::NotPosted { reason } => Reply::Cancel(Reason::NotPosted(reason.clone())),
            Outcome::Answered(delivery) => match delivery.message.answer() {
                Some(ask) => self.answered(ask),
                None => Reply::Cancel(Reason::Unfit(Vec::new())),
            },
        }
    }

    /// What goes back for an ask that ended.
    pub fn answered(&self, ask: &SeenAsk) -> Reply {
        if ask.cancelled || !ask.answered {
            return Reply::Cancel(Reason::Withdrawn);
        }
        if ask.questions.iter().all(SeenQuestion::is_skipped) {
            return Reply::Decline;
        }
        if self.fields.is_empty() {
            return Self::confirmed(ask);
        }
        let (mut content, mut misfits) = (Map::new(), Vec::new());
        for (index, field) in self.fields.iter().enumerate() {
            let question = ask.questions.iter().find(|question| question.question_id == index.to_string());
            match field.value(question) {
                Ok(Some(value)) => drop(content.insert(field.name.clone(), value)),
                Ok(None) => {}
                Err(problem) => misfits.push(Misfit { field: field.name.clone(), problem }),
            }
        }
        if misfits.is_empty() { Reply::Accept(content) } else { Reply::Cancel(Reason::Unfit(misfits)) }
    }

    fn confirmation(&self) -> QuestionParams {
        let option = |label: &str| OptionParams {
            label: label.to_owned(),
            description: String::new(),
            preview: String::new(),
        };
        QuestionParams {
            id: "0".into(),
            question: self.message.clone(),
            header: String::new(),
            options: vec![option("Accept"), option("Decline")],
            multi: false,
            recommended: None,
        }
    }

    fn confirmed(ask: &SeenAsk) -> Reply {
        let chosen = ask.questions.iter().flat_map(|question| &question.chosen_option_ids);
        let written = ask.questions.iter().any(|question| !question.custom_text.is_empty());
        match (chosen.map(String::as_str).collect::<Vec<_>>().as_slice(), written) {
            (["0"], false) => Reply::Accept(Map::new()),
            (["1"], _) => Reply::Decline,
            _ => {
                let problem = "is a yes or no, and the answer holds a text of its own".to_owned();
                Reply::Cancel(Reason::Unfit(vec![Misfit { field: "(confirmation)".into(), problem }]))
            }
        }
    }
}

impl Reply {
    /// The word of both protocols.
    pub const fn action(&self) -> &'static str {
        match self {
            Self::Accept(_) => "accept",
            Self::Decline => "decline",
            Self::Cancel(_) => "cancel",
        }
    }

    /// True if the person's answer went back as it is. Otherwise an answer that there is reaches the agent as any
    /// message does, so that the person's words are not lost: do not say that it was taken.
    pub const fn carries_answer(&self) -> bool {
        matches!(self, Self::Accept(_) | Self::Decline)
    }
}

fn required(object: &Map<String, Value>) -> Result<Vec<&str>, Unmappable> {
    let bad = || Unmappable::Form("its \"required\" is not a list of names".into());
    match object.get("required") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(names)) => names.iter().map(|name| name.as_str().ok_or_else(bad)).collect(),
        Some(_) => Err(bad()),
    }
}

fn list(misfits: &[Misfit]) -> String {
    misfits.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests;
