//! Serves the page and its session.
//!
//! [`router`] answers what is not gRPC: the page's files, which are built into the program, and `/session`, where a
//! person signs in and out. [`admit_sessions`] stands before everything else and lets the page's own requests act
//! as the person whose session their cookie holds.

mod admit;
mod cookie;
mod credential;
mod encoding;
mod error;
mod files;
mod hardening;
mod origin;
mod page;
mod session;
mod sessions;

use std::sync::Arc;

use axum::{
    Router,
    middleware::{from_fn_with_state, map_response},
};

pub use files::{Files, NoPage};
pub use sessions::{Opened, Refusal, Sessions};

/// The page, and `/session`.
pub fn router(files: Files, sessions: Arc<dyn Sessions>) -> Router {
    page::router(files).merge(session::router(sessions)).layer(map_response(hardening::harden))
}

/// Lets the page's own requests through to `router` as the person whose session their cookie holds. Whatever else a
/// request holds is left as it is, but no cookie of ours goes on.
pub fn admit_sessions(router: Router, sessions: Arc<dyn Sessions>) -> Router {
    router.layer(from_fn_with_state(sessions, admit::admit))
}
