//! Events: what a subscriber is told, and what it may see.

mod audience;
pub mod subscribe;
mod visibility;

pub use audience::Audiences;
pub use subscribe::{Error, EventStream, StreamItem, SubscribeFrom, subscribe, subscribe_to};
pub use visibility::Feed;
