//! Speed scenarios and their floors.
//!
//! A run starts a real server as a process of its own and talks gRPC to it. Between the rounds of the product, the
//! same facts are stored by hand through the same driver, and the same bytes are sent through the same transport:
//! figures are ratios to these floors, because absolute times do not travel between machines.

mod agent;
mod database;
mod error;
mod floors;
mod process;
mod report;
mod rounds;
mod run;
mod scenarios;
mod server;
mod stats;
mod world;

pub use error::BenchError;
pub use floors::serve_echo;
pub use report::Report;
pub use run::{Options, run};
