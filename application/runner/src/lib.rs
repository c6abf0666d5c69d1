//! Runner policy: how upstream frames are numbered and how a lost connection is retried.

mod backoff;
mod sequence;

pub use backoff::Backoff;
pub use sequence::PublishSequence;
