//! Presence: derived on read, published on change.

mod dirty;
pub(crate) mod publisher;
mod source;

pub(crate) use dirty::Dirty;
