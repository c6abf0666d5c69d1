//! Channels: creating, listing, members, and how a client names one.

mod homes;
mod members;

pub mod create_channel;
pub mod list_channels;
pub mod resolve;
pub mod update_members;

pub use homes::Homes;
pub use members::UnknownMember;
