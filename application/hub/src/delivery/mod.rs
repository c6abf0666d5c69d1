//! The delivery rail: from a commit to a live session, and what was missed on the way.

mod acknowledge;
pub(crate) mod catch_up;
pub(crate) mod consumer;
mod fetch;
mod mailbox;
mod recipients;
pub(crate) mod router;
pub(crate) mod routing;
pub(crate) mod sender;
mod stash;
mod window;

pub use fetch::FetchQuery;
pub(crate) use mailbox::Mailbox;
pub(crate) use router::Router;
