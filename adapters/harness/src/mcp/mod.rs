//! The tools over the Model Context Protocol: for a client that starts us and speaks over our standard streams, and
//! for clients of a server over HTTP.
//!
//! Besides what a tool says, its result carries what the agent is owed. A message is acknowledged after the result
//! that carried it got there; how that is known is the one thing in which the two transports differ.

mod deliveries;
mod http;
mod lines;
mod misfit;
mod offer;
mod outbox;
mod receipts;
mod server;
mod sessions;
mod stdio;

pub use deliveries::{Deliveries, Source};
pub use http::{HttpAgent, HttpParts, PATH, Recognise, router};
pub use server::Core;
pub use sessions::IsBroken;
pub use stdio::serve_stdio;
