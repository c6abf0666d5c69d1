//! Typed gRPC client of people's commands and of AgentDoor.
//!
//! Requests are plain values and drafts of `compass-domain`; results are the plain structs of [`model`], so
//! that a command line never sees protobuf. A [`Client`] is cheap to clone and holds one connection.

mod agent;
mod agents;
mod channels;
mod connect;
mod convert;
mod error;
mod events;
pub mod model;
pub mod operator;
mod people;
mod session;

pub use agent::{Cancelled, Delivery, Fetched};
pub use agents::SessionTail;
pub use channels::{GroupName, MemberChanges, NewChannel, Policy};
pub use connect::{Client, DEADLINE, MESSAGE_BYTES};
pub use error::{ClientError, CodeToken};
pub use events::{Events, Since};
pub use people::{ChannelName, NewPost, Page, RosterScope, TopicName};
