//! The runner's half: a dial-out link to the server, calls as the agent, a runner of many agents and the agent's end of
//! its socket, and journal files.

mod agent;
mod calls;
mod commands;
mod continuations;
mod dial;
mod door;
mod endpoint;
mod journal;
mod link;
mod mapping;
mod relay;
pub mod runner;

pub use agent::AgentSocket;
pub use continuations::FileContinuations;
pub use door::AgentDoor;
pub use endpoint::{Endpoint, EndpointError};
pub use journal::FileJournal;
pub use link::{Attach, LinkHandle, RunnerLink};
