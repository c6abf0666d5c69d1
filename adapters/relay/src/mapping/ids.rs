//! Ids on the wire: an empty one names its field, one that is no id is one that does not exist.

use std::str::FromStr;

use crate::error::DoorError;

/// A text that must not be empty.
pub(crate) fn given<'a>(field: &str, text: &'a str) -> Result<&'a str, DoorError> {
    if text.is_empty() { Err(DoorError::Empty(field.to_owned())) } else { Ok(text) }
}

/// The id of a thing that must exist.
///
/// # Errors
///
/// [`DoorError::Empty`] that names the field; [`DoorError::NotFound`] if the text is no id.
pub(crate) fn required<T: FromStr>(field: &str, what: &'static str, text: &str) -> Result<T, DoorError> {
    given(field, text)?.parse().map_err(|_| DoorError::NotFound(what))
}

/// The id of a thing that need not be named; empty is none.
///
/// # Errors
///
/// What `unknown` makes of a text that is no id.
pub(crate) fn optional<T: FromStr>(
    text: &str,
    unknown: impl FnOnce() -> DoorError,
) -> Result<Option<T>, DoorError> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| unknown())
}

/// The ids of a list whose unknown entries are refused.
///
/// # Errors
///
/// [`DoorError`] that names the entry.
pub(crate) fn each_reference<T: FromStr>(field: &str, texts: &[String]) -> Result<Vec<T>, DoorError> {
    let entries = texts.iter().enumerate();
    entries
        .map(|(index, text)| {
            let field = format!("{field}[{index}]");
            given(&field, text)?;
            text.parse().map_err(|_| DoorError::UnknownReference { field, text: text.clone() })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use compass_domain::AccountId;

    use super::*;

    const ID: &str = "000102030405060708090a0b0c0d0e0f";

    #[test]
    fn an_empty_id_names_its_field_and_a_text_that_is_no_id_does_not_exist() {
        let id = |text| required::<AccountId>("ask_id", "ask", text);
        assert_eq!(id(""), Err(DoorError::Empty("ask_id".into())));
        assert_eq!(id("nope"), Err(DoorError::NotFound("ask")));
        assert_eq!(id(ID), Ok(ID.parse().unwrap()));
    }

    #[test]
    fn an_optional_id_may_be_empty() {
        let id = |text| optional::<AccountId>(text, || DoorError::NotFound("channel"));
        assert_eq!(id(""), Ok(None));
        assert_eq!(id("nope"), Err(DoorError::NotFound("channel")));
        assert_eq!(id(ID), Ok(Some(ID.parse().unwrap())));
    }

    #[test]
    fn a_list_names_the_entry_that_is_wrong() {
        let list = |texts: &[&str]| {
            each_reference::<AccountId>("add", &texts.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(list(&[ID]).unwrap().len(), 1);
        assert_eq!(list(&[ID, ""]).unwrap_err().to_string(), "add[1] is empty");
        assert_eq!(list(&["x"]).unwrap_err().to_string(), "add[0] \"x\" is unknown");
    }
}
