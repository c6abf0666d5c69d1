//! The runner's half: a dial-out link to the server, calls as the agent, a runner of many agents and the agent's end of
//! its socket, and journals. For agents that a server serves itself, calls stay in its process.

mod agent;
mod calls;
mod commands;
mod continuations;
mod dial;
mod door;
mod endpoint;
mod in_process;
mod journal;
mod link;
mod mapping;
mod memory_journal;
mod presence;
mod relay;
pub mod runner;

pub use agent::AgentSocket;
pub use continuations::FileContinuations;
pub use door::{AgentDoor, Owner};
pub use endpoint::{Endpoint, EndpointError};
pub use in_process::{InProcess, Refusals};
pub use journal::FileJournal;
pub use link::{Attach, LinkHandle, Mode, RunnerLink};
pub use memory_journal::MemoryJournal;
pub use presence::stay_present;
