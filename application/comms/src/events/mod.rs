//! Events: what a subscriber is told, and what it may see.

pub mod subscribe;
pub mod visibility;

pub use subscribe::{Error, EventStream, StreamItem, SubscribeFrom, subscribe};
