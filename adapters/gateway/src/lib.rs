//! The runner's half: a dial-out link to the server, calls as the agent, a runner of many agents and the agent's end of
//! its socket, and journal files.

mod agent;
mod calls;
mod commands;
mod dial;
mod endpoint;
mod journal;
mod link;
mod mapping;
mod relay;
pub mod runner;

pub use agent::AgentSocket;
pub use endpoint::{Endpoint, EndpointError};
pub use journal::FileJournal;
pub use link::{Attach, LinkHandle, RunnerLink};
