//! Channels: creating, listing, members, and how a client names one.

mod grouped;
mod homes;
mod members;
mod sweep;

pub mod create_channel;
pub mod join_channel;
pub mod list_channels;
pub mod list_pinned;
pub mod open_dm;
pub mod resolve;
pub mod set_policy;
pub mod update_board;
pub mod update_members;

pub use grouped::Ambiguous;
pub use homes::Homes;
pub use members::UnknownMember;
pub(crate) use sweep::Before;
