//! What the hub needs: the ledger of sessions and cursors, the audience of messages, the lanes to live sessions.

mod audience;
mod lanes;
mod ledger;

pub use audience::{Audience, Labelled, Labels, Pending, PendingItem, PendingQuery};
pub use lanes::{Dispatch, LaneError, Lanes};
pub use ledger::{AttachMode, Ledger, LiveSession, OpenSession};
