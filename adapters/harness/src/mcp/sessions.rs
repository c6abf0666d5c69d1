//! What was sent to the clients of one agent over HTTP, until it is known whether it got there.
//!
//! Nobody tells a server over HTTP that a client has read a result. What comes close: the next request of the same
//! session, if it began after the whole result was given away and does not cancel that very request, and if the
//! connection of the result did not break meanwhile. A client breaks it by closing it with a part of the result unread.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rmcp::model::RequestId;
use tokio::time::Instant;

use super::deliveries::{Carried, Deliveries};

/// How long other sessions leave messages to the one that a result was sent to.
const HOLD: Duration = Duration::from_mins(1);
/// How long a request waits for the receipts that it is the proof of.
const RECEIPTS: Duration = Duration::from_secs(5);

/// One request of a client. Clients without sessions count as one.
pub(super) struct Exchange {
    session: Option<String>,
    request: RequestId,
    cancelled: AtomicBool,
    is_broken: Box<IsBroken>,
}

/// Tells whether a connection broke.
pub type IsBroken = dyn Fn() -> bool + Send + Sync;

/// One agent's clients.
pub(super) struct Sessions {
    pub(super) deliveries: Deliveries,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: Vec<Arc<Exchange>>,
    sent: Option<Sent>,
}

/// A result on its way. There is one at a time, because it holds the turn.
struct Sent {
    exchange: Arc<Exchange>,
    carried: Carried,
    /// When the last of it was given away.
    whole: Option<Instant>,
}

impl Sessions {
    pub(super) fn new(deliveries: Deliveries) -> Self {
        Self { deliveries, state: Mutex::default() }
    }

    /// A request of `session` arrived, perhaps one that cancels another. Says what became of the result that was
    /// sent before, and waits a moment until that is acknowledged.
    pub(super) async fn heard(&self, session: Option<&str>, cancels: Option<&RequestId>) {
        let proven = {
            let mut state = self.state();
            if let Some(request) = cancels {
                state.cancel(session, request);
            }
            state.prove(session)
        };
        if let Some(carried) = proven
            && tokio::time::timeout(RECEIPTS, carried.got_there()).await.is_err()
        {
            tracing::warn!(seconds = RECEIPTS.as_secs(), "receipts did not leave in time");
        }
    }

    /// A call begins; it is open until the value is dropped.
    pub(super) fn open(
        self: &Arc<Self>,
        session: Option<String>,
        request: RequestId,
        is_broken: Box<IsBroken>,
    ) -> Open {
        let cancelled = AtomicBool::new(false);
        let exchange = Arc::new(Exchange { session, request, cancelled, is_broken });
        self.state().open.push(Arc::clone(&exchange));
        Open { sessions: Arc::clone(self), exchange }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves at worst messages that come again.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn cancel(&mut self, session: Option<&str>, request: &RequestId) {
        let meant = |of: &Exchange| of.session.as_deref() == session && of.request == *request;
        for exchange in self.open.iter().filter(|exchange| meant(exchange)) {
            exchange.cancelled.store(true, Ordering::Relaxed);
        }
        if self.sent.as_ref().is_some_and(|sent| meant(&sent.exchange)) {
            self.sent = None;
        }
    }

    /// What got there, now that `session` is heard of again.
    fn prove(&mut self, session: Option<&str>) -> Option<Carried> {
        let sent = self.sent.as_ref()?;
        let whole = sent.whole?;
        if (sent.exchange.is_broken)() {
            self.sent = None;
            return None;
        }
        if sent.exchange.session.as_deref() == session {
            return self.sent.take().map(|sent| sent.carried);
        }
        if whole.elapsed() >= HOLD {
            self.sent = None;
        }
        None
    }
}

/// An open call.
pub(super) struct Open {
    sessions: Arc<Sessions>,
    exchange: Arc<Exchange>,
}

impl Open {
    /// Its result leaves and carries messages; none if the client cancelled meanwhile.
    pub(super) fn send(&self, carried: Carried) -> Option<Leaving> {
        let mut state = self.sessions.state();
        if self.exchange.cancelled.load(Ordering::Relaxed) {
            return None;
        }
        let exchange = Arc::clone(&self.exchange);
        state.sent = Some(Sent { exchange: Arc::clone(&exchange), carried, whole: None });
        Some(Leaving { sessions: Arc::clone(&self.sessions), exchange })
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.sessions.state().open.retain(|open| !Arc::ptr_eq(open, &self.exchange));
    }
}

/// A result that is being written. Dropped before its end, what it carries comes again.
pub(super) struct Leaving {
    sessions: Arc<Sessions>,
    exchange: Arc<Exchange>,
}

impl Leaving {
    /// The last of it was given away.
    pub(super) fn is_whole(&self) {
        if let Some(sent) = self.sessions.state().sent.as_mut().filter(|sent| self.is(sent)) {
            sent.whole = Some(Instant::now());
        }
    }

    fn is(&self, sent: &Sent) -> bool {
        Arc::ptr_eq(&sent.exchange, &self.exchange)
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let mut state = self.sessions.state();
        if state.sent.as_ref().is_some_and(|sent| self.is(sent) && sent.whole.is_none()) {
            state.sent = None;
        }
    }
}
