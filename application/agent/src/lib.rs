//! The agent core: what an agent may call, what reaches it, and what must survive its process.
//!
//! It speaks to the server through [`ports::Gateway`], to whatever drives the model through the lines or prompts
//! of a harness, and keeps what must not be lost in [`ports::Journal`]. It knows no transport and no storage.

pub mod asking;
pub mod control;
pub mod elicitation;
pub mod guard;
pub mod inbox;
pub mod lanes;
pub mod pickup;
pub mod ports;
pub mod prompt;
mod records;
pub mod rows;
pub mod seen;
pub mod session;
pub mod spine;
#[cfg(test)]
mod testing;
pub mod tools;
pub mod transcript;
pub mod waiters;
