//! Live sessions of this node: who enrolled, what is bound to whom, and the lease that makes it count.

mod command;
mod enroll;
mod key;
pub(crate) mod lease;
mod live;
mod provision;
mod rebind;
mod registry;
mod spawn;
mod start;
mod stop;

pub(crate) use enroll::Enrollments;
pub use enroll::{Attached, Enroll, EnrollError, NotEnrolled, StartOrder, Ticket};
pub use key::RunnerKey;
pub use live::OpenRequest;
pub use provision::{Provision, ProvisionError};
pub(crate) use registry::{Gate, Registry, Session, Source, Who};
pub(crate) use spawn::Spawns;
pub use spawn::{SpawnError, Spawned};
pub use start::StartError;
pub use stop::CommandError;
