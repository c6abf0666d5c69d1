//! A PostgreSQL server in a temporary directory that ends with the process that started it.
//!
//! It needs nothing but the server's binaries: no service, no `postgres` user, no TCP port. Run as root it
//! drops to `nobody`, which PostgreSQL demands.

mod account;
mod binaries;
mod cluster;
mod directory;
mod error;

pub use binaries::{Binaries, OLDEST_MAJOR, cache_dir};
pub use cluster::{Cluster, Durability};
pub use error::Error;
