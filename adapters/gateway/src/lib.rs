//! The runner's half: a dial-out link to the server, calls as the agent, and journal files.

mod calls;
mod commands;
mod endpoint;
mod journal;
mod link;
mod mapping;
mod relay;

pub use endpoint::{Endpoint, EndpointError};
pub use journal::FileJournal;
pub use link::{Attach, LinkHandle, RunnerLink};
