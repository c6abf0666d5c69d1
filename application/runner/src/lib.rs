//! Runner policy: which program is an agent, when it is launched again, what control is retained for it, which
//! commands ran already, how upstream frames are numbered and how a lost connection is retried.

mod backoff;
mod control;
mod profile;
mod requests;
mod sequence;
mod supervision;

pub use backoff::Backoff;
pub use control::{Next, Operation, RETAINED, Retention, SendError, Subscription};
pub use profile::{
    CORE_PREFIX, HarnessKind, LaunchProfile, ProfileDraft, ProfileError, Profiles, WakePolicy,
};
pub use requests::{Begin, REMEMBERED, Requests};
pub use sequence::PublishSequence;
pub use supervision::{Exit, HELD, RestartPolicy, Supervision, Verdict};
