//! Why `/session` refuses, as a status and a JSON object with a text for a person.

use axum::response::{IntoResponse, Response};
use compass_domain::ErrorKind;
use http::{
    HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};
use serde_json::json;

use crate::{credential, origin::CrossSite, sessions::Refusal};

/// Why a request for a session is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// It is not the page's own.
    #[error(transparent)]
    CrossSite(#[from] CrossSite),
    /// What it holds cannot be read.
    #[error(transparent)]
    Credential(#[from] credential::Error),
    /// There is no session.
    #[error("nobody is signed in")]
    NoSession,
    /// No cookie can hold the session's token.
    #[error("the server ran into a fault of its own and signed nobody in")]
    NoCookie,
    /// The server refuses, in its own words.
    #[error("{}", .0.text)]
    Refused(Refusal),
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Error {
    fn status(&self) -> StatusCode {
        match self {
            Self::CrossSite(_) => StatusCode::FORBIDDEN,
            Self::Credential(credential::Error::TooLarge(_) | credential::Error::Endless) => {
                StatusCode::PAYLOAD_TOO_LARGE
            }
            Self::Credential(_) => StatusCode::BAD_REQUEST,
            Self::NoSession => StatusCode::UNAUTHORIZED,
            Self::NoCookie => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Refused(refusal) => of(refusal.kind),
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let headers = [
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        ];
        let body = json!({ "error": self.to_string() }).to_string();
        (self.status(), headers, body).into_response()
    }
}

fn of(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::InvalidArgument | ErrorKind::FailedPrecondition => StatusCode::BAD_REQUEST,
        ErrorKind::PermissionDenied => StatusCode::FORBIDDEN,
        ErrorKind::Conflict => StatusCode::CONFLICT,
        ErrorKind::Unauthenticated => StatusCode::UNAUTHORIZED,
        ErrorKind::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
        ErrorKind::Unavailable | ErrorKind::OutcomeUnknown => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
