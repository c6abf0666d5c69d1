//! Groups of channels: creating, listing, and how a client names one.

pub mod create_group;
pub mod list_groups;
pub mod resolve;
