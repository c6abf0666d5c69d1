//! Live sessions, the delivery rail and presence.

pub mod delivery;
mod hub;
pub mod notes;
pub mod operator;
pub mod ports;
mod presence;
pub mod sessions;
mod timing;
mod wake;

pub use hub::{Hub, HubPorts};
