//! One field of a form: its schema, read strictly, and the question that asks for it.

use compass_domain::limits;
use regex::Regex;
use serde_json::{Map, Number, Value};

use super::Unmappable;
use crate::tools::{OptionParams, QuestionParams};

/// Labels of a yes or no.
const YES_NO: [&str; 2] = ["Yes", "No"];

/// A field.
#[derive(Debug, Clone)]
pub(super) struct Field {
    /// Its name in the content.
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) required: bool,
    title: String,
    description: String,
    default: Option<Value>,
}

/// What a field holds.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// A text within its rules.
    Text(TextRules),
    /// A number, whole or not.
    Number { whole: bool, least: Option<Number>, most: Option<Number> },
    /// Yes or no.
    Flag,
    /// One of these.
    One(Vec<Choice>),
    /// Some of these.
    Some { choices: Vec<Choice>, least: u64, most: u64 },
}

/// The rules of a text; lengths are in code points.
#[derive(Debug, Clone)]
pub(super) struct TextRules {
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) format: Option<Format>,
    pub(super) pattern: Option<Regex>,
}

/// The formats that both protocols know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Email,
    Uri,
    Date,
    DateTime,
}

/// A value that may be chosen.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) value: String,
    title: String,
    description: String,
}

/// Reads one field's schema and forgets no rule of it.
struct Reader<'a> {
    name: &'a str,
    schema: &'a Map<String, Value>,
}

impl Field {
    pub(super) fn read(name: &str, schema: &Value, required: bool) -> Result<Self, Unmappable> {
        let Some(schema) = schema.as_object() else {
            return Err(Unmappable::Field {
                field: name.to_owned(),
                reason: "its schema is not an object".into(),
            });
        };
        let reader = Reader { name, schema };
        Ok(Self {
            name: name.to_owned(),
            kind: reader.kind()?,
            required,
            title: reader.text("title")?.unwrap_or_default(),
            description: reader.text("description")?.unwrap_or_default(),
            default: schema.get("default").filter(|default| !default.is_null()).cloned(),
        })
    }

    /// The question that asks for it, with its place in the form as id.
    pub(super) fn question(&self, index: usize) -> QuestionParams {
        let fits = |title: &&str| title.chars().count() <= limits::HEADER_CODE_POINTS;
        QuestionParams {
            id: index.to_string(),
            question: self.text(),
            header: Some(self.title.as_str()).filter(fits).unwrap_or_default().to_owned(),
            options: self.options(),
            multi: matches!(self.kind, Kind::Some { .. }),
            recommended: self.recommended(),
        }
    }

    fn text(&self) -> String {
        let mut text = if self.title.is_empty() { self.name.clone() } else { self.title.clone() };
        if !self.description.is_empty() {
            text.push_str("\n\n");
            text.push_str(&self.description);
        }
        let mut notes = vec![if self.required { "Required".to_owned() } else { "Optional".to_owned() }];
        notes.extend(self.rule());
        // A default is only shown: an answer is what a person chose.
        let shown = self.default.as_ref().filter(|_| self.options().is_empty());
        notes.extend(shown.map(|default| format!("suggested: {default}")));
        text + "\n\n(" + &notes.join("; ") + ")"
    }

    fn rule(&self) -> Option<String> {
        match &self.kind {
            Kind::Flag | Kind::One(_) => None,
            Kind::Some { choices, least, most } => {
                let all = u64::try_from(choices.len()).unwrap_or(u64::MAX);
                (*least > 0 || *most < all).then(|| format!("from {least} to {} of these", most.min(&all)))
            }
            Kind::Number { whole, least, most } => {
                let kind = if *whole { "a whole number" } else { "a number" };
                let least = least.as_ref().map(|least| format!(", at least {least}")).unwrap_or_default();
                let most = most.as_ref().map(|most| format!(", at most {most}")).unwrap_or_default();
                Some(format!("{kind}{least}{most}"))
            }
            Kind::Text(rules) => rules.told(),
        }
    }

    fn options(&self) -> Vec<OptionParams> {
        let option = |label: &str, description: &str| OptionParams {
            label: label.to_owned(),
            description: description.to_owned(),
            preview: String::new(),
        };
        match &self.kind {
            Kind::Text(_) | Kind::Number { .. } => Vec::new(),
            Kind::Flag => YES_NO.map(|label| option(label, "")).into(),
            Kind::One(choices) | Kind::Some { choices, .. } => {
                choices.iter().map(|choice| option(&choice.title, &choice.description)).collect()
            }
        }
    }

    fn recommended(&self) -> Option<i32> {
        let index = match (&self.kind, self.default.as_ref()?) {
            (Kind::Flag, Value::Bool(default)) => usize::from(!default),
            (Kind::One(choices), Value::String(default)) => {
                choices.iter().position(|choice| choice.value == *default)?
            }
            _ => return None,
        };
        i32::try_from(index).ok()
    }
}

impl TextRules {
    fn told(&self) -> Option<String> {
        let mut notes = Vec::new();
        if self.least > 0 {
            notes.push(format!("at least {} characters", self.least));
        }
        if self.most < u64::MAX {
            notes.push(format!("at most {} characters", self.most));
        }
        notes.extend(self.format.map(|format| format.told().to_owned()));
        notes.extend(self.pattern.as_ref().map(|pattern| format!("must match {}", pattern.as_str())));
        if notes.is_empty() { None } else { Some(notes.join("; ")) }
    }
}

impl Format {
    /// What the format is, for people.
    pub(super) const fn told(self) -> &'static str {
        match self {
            Self::Email => "an e-mail address",
            Self::Uri => "a URI such as https://example.org/",
            Self::Date => "a date such as 2026-01-31",
            Self::DateTime => "a date and time such as 2026-01-31T12:00:00Z",
        }
    }
}

impl Reader<'_> {
    fn refuse(&self, reason: impl Into<String>) -> Unmappable {
        Unmappable::Field { field: self.name.to_owned(), reason: reason.into() }
    }

    /// Refuses a rule that is not among these: it could not be kept.
    fn only(&self, rules: &[&str]) -> Result<(), Unmappable> {
        let own = ["type", "title", "description", "default", "_meta"];
        let unknown = self.schema.iter().find(|(key, value)| {
            !value.is_null() && !own.contains(&key.as_str()) && !rules.contains(&key.as_str())
        });
        match unknown {
            Some((key, _)) => Err(self.refuse(format!("its schema has {key:?}, which is not supported"))),
            None => Ok(()),
        }
    }

    fn kind(&self) -> Result<Kind, Unmappable> {
        let known = self.schema.get("type");
        let listed =
            ["enum", "oneOf", "anyOf"].iter().any(|key| self.schema.get(*key).is_some_and(|v| !v.is_null()));
        match known.and_then(Value::as_str) {
            Some("string") if listed => self.one(),
            None if known.is_none() && listed => self.one(),
            Some("string") => self.string(),
            Some(number @ ("number" | "integer")) => {
                self.only(&["minimum", "maximum"])?;
                let whole = number == "integer";
                Ok(Kind::Number { whole, least: self.number("minimum")?, most: self.number("maximum")? })
            }
            Some("boolean") => self.only(&[]).map(|()| Kind::Flag),
            Some("array") => self.some(),
            Some(other) => Err(self.refuse(format!("its type is {other:?}"))),
            None => Err(self.refuse("it has no single type")),
        }
    }

    fn string(&self) -> Result<Kind, Unmappable> {
        self.only(&["minLength", "maxLength", "format", "pattern"])?;
        let format = match self.text("format")?.as_deref() {
            None => None,
            Some("email") => Some(Format::Email),
            Some("uri") => Some(Format::Uri),
            Some("date") => Some(Format::Date),
            Some("date-time") => Some(Format::DateTime),
            Some(other) => return Err(self.refuse(format!("its format is {other:?}"))),
        };
        let pattern = match self.text("pattern")? {
            None => None,
            Some(pattern) => {
                let pattern = Regex::new(&pattern);
                Some(pattern.map_err(|_| self.refuse("its pattern cannot be checked here"))?)
            }
        };
        let least = self.count("minLength")?.unwrap_or(0);
        let most = self.count("maxLength")?.unwrap_or(u64::MAX);
        Ok(Kind::Text(TextRules { least, most, format, pattern }))
    }

    fn one(&self) -> Result<Kind, Unmappable> {
        self.only(&["enum", "enumNames", "oneOf", "anyOf"])?;
        Ok(Kind::One(self.choices(self.schema)?))
    }

    fn some(&self) -> Result<Kind, Unmappable> {
        self.only(&["items", "minItems", "maxItems", "uniqueItems"])?;
        let items = self.schema.get("items").and_then(Value::as_object);
        let items = items.ok_or_else(|| self.refuse("it is a list without a schema of its items"))?;
        let known = ["type", "enum", "anyOf", "oneOf", "title", "description", "_meta"];
        if let Some(key) = items.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(self.refuse(format!("its items have {key:?}, which is not supported")));
        }
        if items.get("type").is_some_and(|kind| kind != "string") {
            return Err(self.refuse("it is a list of something else than given texts"));
        }
        let least = self.count("minItems")?.unwrap_or(0);
        let most = self.count("maxItems")?.unwrap_or(u64::MAX);
        Ok(Kind::Some { choices: self.choices(items)?, least, most })
    }

    fn choices(&self, schema: &Map<String, Value>) -> Result<Vec<Choice>, Unmappable> {
        let bad = || self.refuse("what may be chosen is not a list of texts");
        let lists: Vec<_> = ["enum", "oneOf", "anyOf"].iter().filter_map(|key| schema.get(*key)).collect();
        let [Value::Array(values)] = lists.as_slice() else { return Err(bad()) };
        let names = schema.get("enumNames").and_then(Value::as_array);
        if names.is_some_and(|names| names.len() != values.len()) {
            return Err(self.refuse("it has not as many \"enumNames\" as values"));
        }
        let choice = |(index, value): (usize, &Value)| {
            let named = names.and_then(|names| names.get(index)).and_then(Value::as_str);
            match value {
                Value::String(value) => Some(Choice::new(value, named.unwrap_or(value), "")),
                Value::Object(choice) => {
                    let part = |key: &str| choice.get(key).and_then(Value::as_str);
                    let value = part("const")?;
                    Some(Choice::new(
                        value,
                        part("title").unwrap_or(value),
                        part("description").unwrap_or_default(),
                    ))
                }
                _ => None,
            }
        };
        let choices: Option<Vec<_>> = values.iter().enumerate().map(choice).collect();
        let choices = choices.filter(|choices| !choices.is_empty()).ok_or_else(bad)?;
        if choices.len() > limits::OPTIONS {
            let (actual, limit) = (choices.len(), limits::OPTIONS);
            return Err(self.refuse(format!("it has {actual} values to choose from, the limit is {limit}")));
        }
        Ok(choices)
    }

    fn text(&self, key: &str) -> Result<Option<String>, Unmappable> {
        self.read(key, "a text", |value| value.as_str().map(str::to_owned))
    }

    fn count(&self, key: &str) -> Result<Option<u64>, Unmappable> {
        self.read(key, "a count", Value::as_u64)
    }

    fn number(&self, key: &str) -> Result<Option<Number>, Unmappable> {
        self.read(key, "a number", |value| value.as_number().cloned())
    }

    fn read<T>(
        &self,
        key: &str,
        kind: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, Unmappable> {
        match self.schema.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                read(value).map(Some).ok_or_else(|| self.refuse(format!("its {key:?} is not {kind}")))
            }
        }
    }
}

impl Choice {
    fn new(value: &str, title: &str, description: &str) -> Self {
        // A label must not be blank, and a blank title says nothing.
        let title = if title.trim().is_empty() { format!("{value:?}") } else { title.to_owned() };
        Self { value: value.to_owned(), title, description: description.to_owned() }
    }
}
