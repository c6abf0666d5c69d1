//! The hub's ports on both databases.

mod audience;
mod ledger;
mod owing;
mod pending;
mod pins;
mod placements;
mod recipients;

pub(crate) use recipients::recipients;
