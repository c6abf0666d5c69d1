//! The gateway, the mailbox, the link and its streams below the core, the harness above, the journal beside it.

mod continuations;
mod control;
mod frames;
mod gateway;
mod harness;
mod journal;
mod link;
mod mailbox;

pub use continuations::{Continuations, Continued};
pub use control::{Control, ControlOp, ControlSource, ControlStream, StreamBroken};
pub use frames::{
    Activity, FileDiff, Frame, PlanStep, PlanStepStatus, PublishError, Publisher, SessionEvent, SessionState,
    ToolCallStatus,
};
pub use gateway::{Call, CallError, CallResult, Channel, Gateway, MemberChanges};
pub use harness::{Harness, HarnessError, HarnessEvent, Notice};
pub use journal::{HandOver, Journal, JournalError, Mark, Wait};
pub use link::{Link, LinkEvent, TurnState};
pub use mailbox::{Mailbox, Owed};
