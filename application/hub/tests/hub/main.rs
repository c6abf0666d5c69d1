//! The hub over the real use cases of the conversation and the store in memory; time stands still until waited for.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails panics")]

mod answers;
mod delivery;
mod enrolment;
mod fakes;
mod operator;
mod presence;
mod rebind;
mod recovery;
mod rig;
mod settle;
mod starts;
mod sweeps;
mod wakes;
mod watched;
mod window;
