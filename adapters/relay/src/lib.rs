//! Every tonic door of the server.
//!
//! A request passes one guard (who calls, may it, for how long), is mapped to the input of one use case, and its
//! outcome is mapped back. Codes are given out by [`status`] alone.

mod agent_door;
pub mod auth;
mod believed;
mod comms;
mod connection;
pub mod doors;
mod error;
mod guard;
mod inbox;
pub mod mapping;
mod operator;
pub mod pending;
mod people;
mod recheck;
mod router;
pub mod runner;
mod serve;
mod server;
mod session;
mod sessions;
pub mod status;
mod stream;

pub use connection::Connection;
pub use error::DoorError;
pub use guard::{COMMAND_DEADLINE, UNARY_DEADLINE};
pub use router::{Doors, MESSAGE_BYTES, RouterError, Services, services};
pub use serve::{Drained, ServeError, serve};
