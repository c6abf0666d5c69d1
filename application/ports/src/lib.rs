//! Ports that both sides of the server share: the writer of the hot paths, the event bus, presence, time and ids.

mod bus;
mod clock;
mod commit;
mod error;
mod ids;
mod job;
mod loaded;
mod locks;
mod presence;
mod writer;
mod writes;

pub use bus::{EventBus, Next, Published, RETAINED, Since, Subscription, Underflow};
pub use clock::Clock;
pub use commit::{Turns, commit_then_publish};
pub use error::StorageError;
pub use ids::Ids;
pub use job::{Decision, ErasedJob, WriteJob};
pub use loaded::{CursorState, Loaded, LoadedAsk, Posted, Receipt, Routing};
pub use locks::Locks;
pub use presence::PresenceSource;
pub use writer::{Writer, submit};
pub use writes::{CursorWrite, OwedRow, TopicWrite, Writes};
