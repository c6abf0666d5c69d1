//! The value of a field: what a person chose or wrote, checked against the field's schema and never bent to fit.

use std::cmp::Ordering;

use regex::Regex;
use serde_json::{Number, Value};
use time::{
    Date, OffsetDateTime, format_description::well_known::Iso8601, format_description::well_known::Rfc3339,
};

use super::field::{Choice, Field, Format, Kind, TextRules};
use crate::seen::SeenQuestion;

/// What the HTML standard takes for an e-mail address.
const EMAIL: &str = "^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\
                     (?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$";

impl Field {
    /// The value a question's answer gives this field; none if it was skipped and may be. An error says what is wrong.
    pub(super) fn value(&self, question: Option<&SeenQuestion>) -> Result<Option<Value>, String> {
        let Some(question) = question.filter(|question| !question.is_skipped()) else {
            return if self.required { Err("is required and was skipped".into()) } else { Ok(None) };
        };
        let (chosen, written) = (&question.chosen_option_ids, question.custom_text.as_str());
        let value = match &self.kind {
            Kind::Text(rules) => rules.check(written).map(Value::from),
            Kind::Number { whole, least, most } => {
                number(written, *whole, least.as_ref(), most.as_ref()).map(Value::Number)
            }
            Kind::Flag => one(chosen, written, &["true", "false"]).map(|value| Value::Bool(value == "true")),
            Kind::One(choices) => one(chosen, written, &values(choices)).map(Value::from),
            Kind::Some { choices, least, most } => some(chosen, written, &values(choices), *least, *most),
        };
        value.map(Some)
    }
}

fn values(choices: &[Choice]) -> Vec<&str> {
    choices.iter().map(|choice| choice.value.as_str()).collect()
}

/// The values of the chosen options; a text beside them could not go back with them.
fn picked<'a>(chosen: &[String], written: &str, values: &[&'a str]) -> Result<Vec<&'a str>, String> {
    if !written.is_empty() {
        return Err("takes one of its options, and the answer holds a text of its own".into());
    }
    let value = |id: &String| id.parse::<usize>().ok().and_then(|index| values.get(index).copied());
    chosen.iter().map(|id| value(id).ok_or_else(|| "was answered with an unknown option".into())).collect()
}

fn one<'a>(chosen: &[String], written: &str, values: &[&'a str]) -> Result<&'a str, String> {
    match picked(chosen, written, values)?.as_slice() {
        [value] => Ok(value),
        several => Err(format!("takes one option, and {} were chosen", several.len())),
    }
}

fn some(chosen: &[String], written: &str, values: &[&str], least: u64, most: u64) -> Result<Value, String> {
    let picked = picked(chosen, written, values)?;
    let count = u64::try_from(picked.len()).unwrap_or(u64::MAX);
    if count < least || count > most {
        return Err(format!("takes from {least} to {most} options, and {count} were chosen"));
    }
    Ok(Value::from(picked))
}

fn number(
    written: &str,
    whole: bool,
    least: Option<&Number>,
    most: Option<&Number>,
) -> Result<Number, String> {
    let kind = if whole { "is not a whole number" } else { "is not a number" };
    let number: Number = serde_json::from_str(written.trim()).map_err(|_| kind.to_owned())?;
    if whole && !number.is_i64() && !number.is_u64() {
        return Err(kind.into());
    }
    if let Some(least) = least
        && order(&number, least) == Some(Ordering::Less)
    {
        return Err(format!("is less than {least}"));
    }
    if let Some(most) = most
        && order(&number, most) == Some(Ordering::Greater)
    {
        return Err(format!("is more than {most}"));
    }
    Ok(number)
}

/// Compares whole numbers exactly, and others as floating point.
fn order(a: &Number, b: &Number) -> Option<Ordering> {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

impl TextRules {
    fn check(&self, written: &str) -> Result<String, String> {
        let length = u64::try_from(written.chars().count()).unwrap_or(u64::MAX);
        if length < self.least {
            return Err(format!("has {length} characters, the least is {}", self.least));
        }
        if length > self.most {
            return Err(format!("has {length} characters, the most is {}", self.most));
        }
        if let Some(format) = self.format.filter(|format| !format.fits(written)) {
            return Err(format!("is not {}", format.told()));
        }
        if self.pattern.as_ref().is_some_and(|pattern| !pattern.is_match(written)) {
            return Err("does not match its pattern".into());
        }
        Ok(written.to_owned())
    }
}

impl Format {
    fn fits(self, text: &str) -> bool {
        match self {
            Self::Email => Regex::new(EMAIL).is_ok_and(|email| email.is_match(text)),
            Self::Uri => url::Url::parse(text).is_ok() && !text.contains(char::is_whitespace),
            Self::Date => text.len() == 10 && Date::parse(text, &Iso8601::DATE).is_ok(),
            Self::DateTime => OffsetDateTime::parse(text, &Rfc3339).is_ok(),
        }
    }
}
