//! What the hub needs: the ledger of sessions and cursors, the audience of messages, the lanes to live sessions,
//! and where agents are placed.

mod audience;
mod lanes;
mod launcher;
mod ledger;
mod overview;
mod placements;

pub use audience::{
    Audience, Labelled, Labels, Pending, PendingItem, PendingQuery, PinPlace, PinQuery, Pins,
};
pub use lanes::{Dispatch, LaneError, Lanes};
pub use launcher::{Address, Command, LaunchError, Launcher, Outcome, Reported};
pub use ledger::{AttachMode, Ledger, LiveSession, OpenSession, StoredSession};
pub use overview::{BACKLOG_MAX, Backlog, Examined, Overview};
pub use placements::{NewPlacement, Placement, Placements};
