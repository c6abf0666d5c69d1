//! Live sessions of this node: who enrolled, what is bound to whom, and the lease that makes it count.

mod enroll;
mod key;
pub(crate) mod lease;
mod live;
mod registry;

pub(crate) use enroll::Enrollments;
pub use enroll::{Attached, Enroll, EnrollError, NotEnrolled, StartOrder, Ticket};
pub use key::RunnerKey;
pub use live::OpenRequest;
pub(crate) use registry::{Gate, Registry, Session, Who};
