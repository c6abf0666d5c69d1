//! What a runner sent that came to nothing. None of it ends a stream.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the start of the server.
#[derive(Debug, Default)]
pub struct Counters {
    dropped_frames: AtomicU64,
    gaps: AtomicU64,
    refused_commands: AtomicU64,
}

impl Counters {
    /// Frames that were empty, unknown, or of a session that is not the sender's, and receipts that could not be kept.
    pub fn dropped_frames(&self) -> u64 {
        self.dropped_frames.load(Ordering::Relaxed)
    }

    /// Jumps in the numbers of a runner's frames.
    pub fn gaps(&self) -> u64 {
        self.gaps.load(Ordering::Relaxed)
    }

    /// Commands a runner refused.
    pub fn refused_commands(&self) -> u64 {
        self.refused_commands.load(Ordering::Relaxed)
    }

    pub(super) fn drop_frame(&self, why: &str) {
        self.drop_frames(1, why);
    }

    pub(super) fn drop_frames(&self, count: usize, why: &str) {
        if count > 0 {
            self.dropped_frames.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
            tracing::debug!(count, why, "frames of a runner were dropped");
        }
    }

    pub(super) fn gap(&self, after: u64, found: u64) {
        self.gaps.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(after, found, "a runner's frames have a gap");
    }

    pub(super) fn refuse(&self, code: i32, why: &str) {
        self.refused_commands.fetch_add(1, Ordering::Relaxed);
        tracing::warn!(code, why, "a runner refused a command");
    }
}
