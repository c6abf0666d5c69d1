//! The one table from what a caller can do about a failure to the code that says so on the wire.

use compass_domain::{Classified, ErrorKind};
use compass_proto::{code::token, v1::CommsCallError};
use http::StatusCode;
use tonic::{Code, Status};

/// Sent in place of a fault's own words, which may tell about storage.
const FAULT: &str = "the server ran into a fault of its own; its log says more";
/// Sent in place of a passing failure's own words.
const UNAVAILABLE: &str = "the server cannot do this right now and kept nothing of it; try again";
/// Sent when nobody can tell whether something was kept.
const OUTCOME_UNKNOWN: &str = "it is not known whether this was kept; try again with the same key";

/// The status of a failed call. What only an operator should read is logged here, once, and not sent.
pub fn status<E: Classified>(error: &E) -> Status {
    Status::new(code(error.kind()), text(error))
}

/// The status of a failed call about a runner: in the error's own words, which tell nothing about storage.
pub fn plain<E: Classified>(error: &E) -> Status {
    tracing::warn!(error = chain(error), "a command to a runner failed");
    Status::new(code(error.kind()), error.to_string())
}

/// The same failure inside the result of a relayed call.
pub fn call_error<E: Classified>(error: &E) -> CommsCallError {
    let (code, message) = refusal(error);
    CommsCallError { code, message }
}

/// The same failure for who is served without a wire: the code's token, and the text that may be sent.
pub fn refusal(error: &dyn Classified) -> (String, String) {
    (token(code(error.kind())).to_owned(), text(error))
}

/// The status of the same refusal over plain HTTP.
pub(crate) fn over_http(status: &Status) -> StatusCode {
    match status.code() {
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::PermissionDenied => StatusCode::FORBIDDEN,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The status of an RPC that this server does not offer.
pub fn unimplemented(what: &str) -> Status {
    Status::unimplemented(format!("{what} is not offered by this server"))
}

/// The status that ends a stream because a newer one took its place.
pub fn aborted(why: &str) -> Status {
    Status::aborted(why)
}

/// The status that ends a stream because the server stops.
pub fn stopping() -> Status {
    Status::unavailable("the server is stopping")
}

fn code(kind: ErrorKind) -> Code {
    match kind {
        ErrorKind::NotFound => Code::NotFound,
        ErrorKind::InvalidArgument => Code::InvalidArgument,
        ErrorKind::PermissionDenied => Code::PermissionDenied,
        ErrorKind::FailedPrecondition => Code::FailedPrecondition,
        ErrorKind::Conflict => Code::AlreadyExists,
        ErrorKind::Unauthenticated => Code::Unauthenticated,
        ErrorKind::ResourceExhausted => Code::ResourceExhausted,
        ErrorKind::Unavailable => Code::Unavailable,
        ErrorKind::OutcomeUnknown => Code::Unknown,
        ErrorKind::Internal => Code::Internal,
    }
}

/// What is sent: the error's own words, unless they may tell about storage.
fn text(error: &dyn Classified) -> String {
    match error.kind() {
        ErrorKind::Internal => {
            tracing::error!(error = chain(error), "a call failed by a fault of the server");
            FAULT.to_owned()
        }
        ErrorKind::Unavailable => {
            tracing::warn!(error = chain(error), "a call failed for a passing reason");
            UNAVAILABLE.to_owned()
        }
        ErrorKind::OutcomeUnknown => {
            tracing::warn!(error = chain(error), "the outcome of a call is unknown");
            OUTCOME_UNKNOWN.to_owned()
        }
        ErrorKind::NotFound
        | ErrorKind::InvalidArgument
        | ErrorKind::PermissionDenied
        | ErrorKind::FailedPrecondition
        | ErrorKind::Conflict
        | ErrorKind::Unauthenticated
        | ErrorKind::ResourceExhausted => error.to_string(),
    }
}

/// An error with everything that caused it.
fn chain(error: &dyn Classified) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        text.push_str(": ");
        text.push_str(&source.to_string());
        cause = source.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("password=hunter2")]
    struct Failure(ErrorKind);

    impl Classified for Failure {
        fn kind(&self) -> ErrorKind {
            self.0
        }
    }

    #[derive(Debug, thiserror::Error)]
    #[error(transparent)]
    struct Wrapped(#[from] Failure);

    impl Classified for Wrapped {
        fn kind(&self) -> ErrorKind {
            self.0.kind()
        }
    }

    #[derive(Debug, thiserror::Error)]
    #[error("again: {0}")]
    struct WrappedTwice(#[source] Wrapped);

    impl Classified for WrappedTwice {
        fn kind(&self) -> ErrorKind {
            self.0.kind()
        }
    }

    const TABLE: [(ErrorKind, Code, &str, bool); 10] = [
        (ErrorKind::NotFound, Code::NotFound, "not_found", true),
        (ErrorKind::InvalidArgument, Code::InvalidArgument, "invalid_argument", true),
        (ErrorKind::PermissionDenied, Code::PermissionDenied, "permission_denied", true),
        (ErrorKind::FailedPrecondition, Code::FailedPrecondition, "failed_precondition", true),
        (ErrorKind::Conflict, Code::AlreadyExists, "already_exists", true),
        (ErrorKind::Unauthenticated, Code::Unauthenticated, "unauthenticated", true),
        (ErrorKind::ResourceExhausted, Code::ResourceExhausted, "resource_exhausted", true),
        (ErrorKind::Unavailable, Code::Unavailable, "unavailable", false),
        (ErrorKind::OutcomeUnknown, Code::Unknown, "unknown", false),
        (ErrorKind::Internal, Code::Internal, "internal", false),
    ];

    #[test]
    fn every_kind_has_its_code_and_its_token_wrapped_or_not() {
        for (kind, code, token, _) in TABLE {
            assert_eq!(status(&Failure(kind)).code(), code, "{kind:?}");
            assert_eq!(status(&Wrapped(Failure(kind))).code(), code, "{kind:?} wrapped");
            assert_eq!(status(&WrappedTwice(Wrapped(Failure(kind)))).code(), code, "{kind:?} wrapped twice");
            assert_eq!(call_error(&Failure(kind)).code, token, "{kind:?}");
            assert_eq!(call_error(&Wrapped(Failure(kind))).code, token, "{kind:?} wrapped");
            assert_eq!(
                call_error(&WrappedTwice(Wrapped(Failure(kind)))).code,
                token,
                "{kind:?} wrapped twice"
            );
        }
    }

    #[test]
    fn what_may_tell_about_storage_is_never_sent() {
        for (kind, _, _, own_words) in TABLE {
            assert_eq!(status(&Failure(kind)).message() == "password=hunter2", own_words, "{kind:?}");
            assert_eq!(call_error(&Failure(kind)).message == "password=hunter2", own_words, "{kind:?}");
        }
    }

    #[test]
    fn a_call_that_is_not_offered_is_named() {
        let status = unimplemented("GetRoster");
        assert_eq!(status.code(), Code::Unimplemented);
        assert!(status.message().starts_with("GetRoster "), "{}", status.message());
    }
}
