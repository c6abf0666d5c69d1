//! The runner's half: a dial-out link to the server, calls as the agent, journal files, and a runner of many agents.

mod calls;
mod commands;
mod dial;
mod endpoint;
mod journal;
mod link;
mod mapping;
mod relay;
pub mod runner;

pub use endpoint::{Endpoint, EndpointError};
pub use journal::FileJournal;
pub use link::{Attach, LinkHandle, RunnerLink};
