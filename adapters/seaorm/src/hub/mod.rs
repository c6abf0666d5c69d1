//! The hub's ports on both databases.

mod audience;
mod ledger;
mod overview;
mod owing;
mod pending;
mod pins;
mod placements;
mod recipients;

pub(crate) use recipients::recipients;
