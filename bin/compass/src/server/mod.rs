//! The server as a process: its settings, its parts, its start and its end.

mod lock;
mod mcp;
mod page;
mod settings;
mod shutdown;
mod sign_in;
mod start;
mod telemetry;
mod wiring;

pub(crate) use page::sign_in_link;
pub(crate) use settings::ServeArgs;
pub(crate) use start::serve;
pub(crate) use telemetry::{LogFormat, start as start_log};
