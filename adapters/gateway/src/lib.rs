//! The runner's half: a dial-out link to the server, calls as the agent, the agent's end of its runner's socket, and
//! journal files.

mod agent;
mod calls;
mod commands;
mod endpoint;
mod journal;
mod link;
mod mapping;
mod relay;

pub use agent::AgentSocket;
pub use endpoint::{Endpoint, EndpointError};
pub use journal::FileJournal;
pub use link::{Attach, LinkHandle, RunnerLink};
