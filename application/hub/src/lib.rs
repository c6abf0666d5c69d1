//! Live sessions, the delivery rail and presence.

pub mod ports;
