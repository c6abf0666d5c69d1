//! What can go wrong with a call, told apart by what the caller can do about it.

use std::fmt;

use compass_proto::{code, contact::other_protocol};
use tonic::{Code, Status};

/// The contract's name of an error code, such as `not_found`.
pub type CodeToken = &'static str;

/// Why a call gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The server understood the call and said no; nothing was kept.
    #[error("{message}")]
    Refused {
        /// Which code.
        code: CodeToken,
        /// The server's words; untrusted text.
        message: String,
    },
    /// No server could be reached, or it cannot work at the moment; nothing was kept. The text says which.
    #[error("{0}")]
    Unreachable(String),
    /// The call was sent and its result never came; it may have been carried out.
    #[error("the outcome is unknown: {0}")]
    OutcomeUnknown(String),
    /// The address is not a server's.
    #[error("url {url:?} cannot be used: {reason}")]
    Address {
        /// What was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The token holds characters that no token has.
    #[error("the token is malformed")]
    Token,
    /// The server's reply breaks the contract.
    #[error("the server's reply breaks the contract: {0}")]
    Protocol(&'static str),
}

impl ClientError {
    /// The code's name; `address`, `token` and `protocol` are this side's own.
    pub fn code(&self) -> CodeToken {
        match self {
            Self::Refused { code, .. } => code,
            Self::Unreachable(_) => "unavailable",
            Self::OutcomeUnknown(_) => "unknown",
            Self::Address { .. } => "address",
            Self::Token => "token",
            Self::Protocol(_) => "protocol",
        }
    }

    /// True if the call may be sent again: with its idempotency key if it was a post.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::OutcomeUnknown(_))
    }

    /// No answer came from a server.
    pub(crate) fn unreachable(why: &impl fmt::Display) -> Self {
        Self::Unreachable(format!("the server cannot be reached: {why}"))
    }

    /// A refusal as an in-band error of the relay names it.
    pub(crate) fn in_band(code: &str, message: String) -> Self {
        match code::parse(code) {
            Some(code) => from_code(code, message),
            None => Self::Refused { code: "internal", message },
        }
    }
}

impl From<Status> for ClientError {
    fn from(status: Status) -> Self {
        if let Some(other) = other_protocol(&status) {
            return Self::unreachable(&other);
        }
        // Only a status that this side made of a failure has a cause.
        let is_own = std::error::Error::source(&status).is_some();
        match from_code(status.code(), describe(&status)) {
            Self::Unreachable(why) if is_own => Self::unreachable(&why),
            error => error,
        }
    }
}

fn from_code(code: Code, message: String) -> ClientError {
    match code {
        Code::Unavailable => ClientError::Unreachable(message),
        Code::Unknown | Code::Cancelled | Code::DeadlineExceeded => ClientError::OutcomeUnknown(message),
        _ => ClientError::Refused { code: code::token(code), message },
    }
}

/// The status text, and the innermost cause if the transport failed.
fn describe(status: &Status) -> String {
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(status);
    let mut innermost = None;
    while let Some(error) = cause {
        innermost = Some(error.to_string());
        cause = error.source();
    }
    match innermost {
        Some(inner) if !status.message().contains(&inner) => format!("{}: {inner}", status.message()),
        _ => status.message().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_keeps_code_and_text() {
        let error = ClientError::from(Status::already_exists("ask \"x\" is already answered"));
        assert_eq!(error.code(), "already_exists");
        assert_eq!(error.to_string(), "ask \"x\" is already answered");
        assert!(!error.is_transient());
    }

    #[test]
    fn a_lost_result_is_neither_success_nor_refusal() {
        for status in [Status::unknown("x"), Status::cancelled("x"), Status::deadline_exceeded("x")] {
            assert!(matches!(ClientError::from(status), ClientError::OutcomeUnknown(_)));
        }
        assert!(matches!(ClientError::from(Status::unavailable("x")), ClientError::Unreachable(_)));
    }

    #[test]
    fn what_a_server_cannot_do_at_the_moment_is_told_in_its_words_and_a_server_that_is_away_as_that() {
        let told = ClientError::from(Status::unavailable("runner r1: the runner is not attached"));
        assert_eq!(told.to_string(), "runner r1: the runner is not attached");
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        let mut status = Status::unavailable("error trying to connect");
        status.set_source(std::sync::Arc::new(refused));
        let away = ClientError::from(status);
        let text = "the server cannot be reached: error trying to connect: connection refused";
        assert_eq!(away.to_string(), text);
        assert!(told.is_transient() && away.is_transient());
    }

    #[test]
    fn an_in_band_error_reads_like_a_status() {
        assert_eq!(ClientError::in_band("not_found", "x".into()), ClientError::from(Status::not_found("x")));
        assert_eq!(ClientError::in_band("unavailable", "x".into()).code(), "unavailable");
        assert_eq!(ClientError::in_band("made up", "x".into()).code(), "internal");
    }
}
