//! Who watches which session, live. A watcher that does not keep up is dropped alone.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use compass_domain::SessionId;
use compass_proto::v1::{AgentSessionFrame, AgentSessionState};
use tokio::sync::mpsc;

/// Frames that wait for one watcher, at the most.
const WAITING: usize = 256;

/// The watchers of all sessions.
#[derive(Debug, Default)]
pub(crate) struct Tails {
    watchers: Mutex<HashMap<SessionId, Vec<mpsc::Sender<AgentSessionFrame>>>>,
}

/// One watcher's view.
#[derive(Debug)]
pub(crate) struct Watcher(mpsc::Receiver<AgentSessionFrame>);

impl Watcher {
    /// The next frame; none after the last one, or if the watcher was dropped.
    pub(crate) async fn next(&mut self) -> Option<AgentSessionFrame> {
        self.0.recv().await
    }
}

impl Tails {
    /// Watches a session from now on.
    pub(crate) fn watch(&self, session: SessionId) -> Watcher {
        let (frames, watcher) = mpsc::channel(WAITING);
        let mut watchers = self.watchers();
        let of_session = watchers.entry(session).or_default();
        of_session.retain(|other| !other.is_closed());
        of_session.push(frames);
        Watcher(watcher)
    }

    /// Hands a frame to a session's watchers; the last frame of a session ends them.
    pub(crate) fn relay(&self, session: SessionId, frame: &AgentSessionFrame) {
        let mut watchers = self.watchers();
        let Some(of_session) = watchers.get_mut(&session) else { return };
        of_session.retain(|watcher| watcher.try_send(frame.clone()).is_ok());
        if of_session.is_empty() || is_last(frame) {
            watchers.remove(&session);
        }
    }

    /// Ends a session's watchers, because the server knows that it is over.
    pub(crate) fn finish(&self, session: SessionId) {
        let state = AgentSessionState::Stopped.into();
        self.relay(session, &AgentSessionFrame { session_id: session.to_string(), event: None, state });
    }

    fn watchers(&self) -> MutexGuard<'_, HashMap<SessionId, Vec<mpsc::Sender<AgentSessionFrame>>>> {
        // Each change is a few map operations, so a poisoned map is whole.
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// True if nothing comes after this frame. A session that is disconnected may come back.
pub(crate) fn is_last(frame: &AgentSessionFrame) -> bool {
    matches!(frame.state(), AgentSessionState::Stopped | AgentSessionState::Errored)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(byte: u8) -> SessionId {
        SessionId::from_bytes([byte; 16])
    }

    fn frame(state: AgentSessionState) -> AgentSessionFrame {
        AgentSessionFrame { state: state.into(), ..Default::default() }
    }

    #[tokio::test]
    async fn watchers_are_apart_by_session_and_the_last_frame_ends_them_after_it_came() {
        let tails = Tails::default();
        let (mut one, mut other) = (tails.watch(session(1)), tails.watch(session(2)));
        for state in [AgentSessionState::Working, AgentSessionState::Disconnected, AgentSessionState::Errored]
        {
            tails.relay(session(1), &frame(state));
        }
        tails.relay(session(1), &frame(AgentSessionState::Ready));
        for state in [AgentSessionState::Working, AgentSessionState::Disconnected, AgentSessionState::Errored]
        {
            assert_eq!(one.next().await.unwrap().state(), state);
        }
        assert_eq!(one.next().await, None);
        tails.finish(session(2));
        assert_eq!(
            other.next().await.unwrap().state(),
            AgentSessionState::Stopped,
            "and nothing of the first"
        );
        assert_eq!(other.next().await, None);
        assert!(tails.watchers().is_empty());
    }

    #[tokio::test]
    async fn a_slow_watcher_is_dropped_alone() {
        let tails = Tails::default();
        let (mut slow, mut quick) = (tails.watch(session(1)), tails.watch(session(1)));
        for _ in 0..=WAITING {
            tails.relay(session(1), &frame(AgentSessionState::Working));
            assert!(quick.next().await.is_some());
        }
        for _ in 0..WAITING {
            assert!(slow.next().await.is_some());
        }
        assert_eq!(slow.next().await, None, "it ended where it fell behind");
        tails.relay(session(1), &frame(AgentSessionState::Ready));
        assert_eq!(quick.next().await.unwrap().state(), AgentSessionState::Ready);
    }
}
