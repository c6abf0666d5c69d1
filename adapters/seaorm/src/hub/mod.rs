//! The hub's ports on both databases.

mod audience;
mod ledger;
mod pending;
mod placements;
mod recipients;

pub(crate) use recipients::recipients;
