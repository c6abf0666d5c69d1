//! What a person signs in with: read from a small JSON object, and never quoted in an error.

use std::fmt;

use axum::body::{Body, HttpBody as _};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde_json::Value;

/// Bytes of the body at the most.
pub(crate) const BODY: usize = 4 * 1024;
/// Bytes of a secret or a token at the most; ours are shorter.
const VALUE: usize = 256;
/// The two fields, of which one is given.
const FIELDS: [&str; 2] = ["sign_in", "token"];

/// A secret of one use, or a token.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Credential {
    SignIn(String),
    Token(String),
}

// The value stays out of logs.
impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SignIn(_) => f.write_str("SignIn(..)"),
            Self::Token(_) => f.write_str("Token(..)"),
        }
    }
}

/// Why a body holds no credential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// The body says that it is over its limit.
    #[error("the body is {0} bytes long, at most {BODY} are allowed")]
    TooLarge(u64),
    /// The body turns out to be over its limit.
    #[error("the body goes on after the {BODY} bytes that are allowed")]
    Endless,
    /// The body did not come whole.
    #[error("the body could not be read to its end")]
    Broken,
    /// The body is no JSON object.
    #[error("the body is not a JSON object with sign_in or token in it")]
    NotJson,
    /// Not exactly one field.
    #[error("the body has {0} fields; it takes one, sign_in or token")]
    Fields(usize),
    /// Another field.
    #[error("the body's field is neither sign_in nor token")]
    Unknown,
    /// A field that is no text.
    #[error("{0} is not a text")]
    NotText(&'static str),
    /// An empty field.
    #[error("{0} is empty")]
    Empty(&'static str),
    /// A field over its limit.
    #[error("{field} is {actual} bytes long, at most {VALUE} are allowed")]
    TooLong {
        /// Which.
        field: &'static str,
        /// Its bytes.
        actual: usize,
    },
}

/// Reads a body.
///
/// # Errors
///
/// [`Error`] that names the field, the limit and what came, and quotes nothing of it.
pub(crate) async fn read(body: Body) -> Result<Credential, Error> {
    let announced = body.size_hint().lower();
    if announced > BODY as u64 {
        return Err(Error::TooLarge(announced));
    }
    let read = Limited::new(body, BODY).collect().await;
    let read =
        read.map_err(|error| if error.is::<LengthLimitError>() { Error::Endless } else { Error::Broken })?;
    parse(&read.to_bytes())
}

fn parse(bytes: &[u8]) -> Result<Credential, Error> {
    let Ok(Value::Object(fields)) = serde_json::from_slice(bytes) else { return Err(Error::NotJson) };
    let count = fields.len();
    let (Some((name, value)), 1) = (fields.into_iter().next(), count) else {
        return Err(Error::Fields(count));
    };
    let field = FIELDS.into_iter().find(|field| *field == name).ok_or(Error::Unknown)?;
    let Value::String(value) = value else { return Err(Error::NotText(field)) };
    let value = value.trim().to_owned();
    if value.is_empty() {
        return Err(Error::Empty(field));
    }
    if value.len() > VALUE {
        return Err(Error::TooLong { field, actual: value.len() });
    }
    Ok(if field == FIELDS[0] { Credential::SignIn(value) } else { Credential::Token(value) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(body: &str) -> Error {
        parse(body.as_bytes()).unwrap_err()
    }

    #[test]
    fn exactly_one_of_the_two_fields_is_read() {
        assert_eq!(parse(br#"{"sign_in": " abc\n"}"#), Ok(Credential::SignIn("abc".into())));
        assert_eq!(parse(br#"{"token": "abc"}"#), Ok(Credential::Token("abc".into())));
        assert_eq!(error("{}"), Error::Fields(0));
        assert_eq!(error(r#"{"token": "a", "sign_in": "b"}"#), Error::Fields(2));
        assert_eq!(error(r#"{"secret": "a"}"#), Error::Unknown);
        assert_eq!(error(r#"{"token": 7}"#), Error::NotText("token"));
        assert_eq!(error(r#"{"sign_in": " "}"#), Error::Empty("sign_in"));
        for body in ["", "x", "[]", "\"abc\"", "{\"token\": \"a\"", "{\"token\": \"a\"} x"] {
            assert_eq!(error(body), Error::NotJson, "{body}");
        }
    }

    #[test]
    fn a_value_over_its_limit_is_told_with_limit_and_length() {
        let of = |bytes: usize| format!("{{\"token\": \"{}\"}}", "a".repeat(bytes));
        assert!(parse(of(VALUE).as_bytes()).is_ok());
        let told = error(&of(VALUE + 1)).to_string();
        assert_eq!(told, "token is 257 bytes long, at most 256 are allowed");
    }

    #[test]
    fn nothing_that_was_sent_is_quoted_or_logged() {
        for body in
            [r#"{"token": "s3cret", "x": 1}"#, r#"{"s3cret": 1}"#, r#""s3cret""#, r#"{"token": "s3cret"#]
        {
            assert!(!format!("{0:?} {0}", error(body)).contains("s3cret"), "{body}");
        }
        let read = parse(br#"{"token": "s3cret"}"#).unwrap();
        assert!(!format!("{read:?}").contains("s3cret"));
    }
}
