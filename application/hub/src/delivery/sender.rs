//! The one task that sends to a session: first what it is owed, then what becomes ready, then what was not
//! acknowledged.

use std::{sync::Arc, time::Duration};

use compass_domain::{MessageId, delivery::Lane};
use tokio_util::sync::CancellationToken;

use super::mailbox::{Hint, Leftover, Mailbox, PinPlan, Plan, ReadPlan, Refused};
use crate::{
    HubPorts,
    notes::{NoteKind, Notes},
    ports::{Dispatch, LaneError, Pending, PendingQuery, PinQuery},
    sessions::Who,
    timing::spread,
};

/// After a storage failure, or without a stream.
const RETRY: Duration = Duration::from_secs(1);
/// After the stream's queue was full.
const FULL_RETRY: Duration = Duration::from_millis(50);

/// A session's sender task.
pub(crate) struct Sender {
    ports: HubPorts,
    notes: Arc<Notes>,
    who: Who,
    mailbox: Arc<Mailbox>,
    closed: CancellationToken,
}

/// How far a batch went.
#[derive(Debug, Default)]
struct Progress {
    sent: usize,
    left: Leftover,
    stopped: bool,
}

impl Sender {
    pub(crate) fn new(
        ports: HubPorts,
        notes: Arc<Notes>,
        who: Who,
        mailbox: Arc<Mailbox>,
        closed: CancellationToken,
    ) -> Self {
        Self { ports, notes, who, mailbox, closed }
    }

    pub(crate) async fn run(self) {
        let closed = self.closed.clone();
        closed.run_until_cancelled(self.work()).await;
    }

    async fn work(&self) {
        loop {
            match self.mailbox.plan() {
                Plan::Send(hints) => {
                    let progress = self.send(&hints, &[]);
                    self.mailbox.leave(progress.left);
                }
                Plan::Read(plan) => self.read(plan).await,
                Plan::Pins(plan) => self.sweep_pins(plan).await,
                Plan::Wait(None) => self.mailbox.left().await,
                Plan::Wait(Some(until)) => tokio::select! {
                    () = self.mailbox.left() => {}
                    () = tokio::time::sleep_until(until) => {}
                },
            }
        }
    }

    fn note(&self, kind: NoteKind, text: &str) {
        self.notes.put(self.who.clone(), self.ports.clock.now(), kind, text);
    }

    async fn read(&self, plan: ReadPlan) {
        let (tenant, agent) = &self.who;
        let query = PendingQuery {
            agent: *agent,
            include_unrouted: plan.is_sweep,
            include_braked: plan.is_start,
            answers_ask: None,
            skip: plan.skip,
            limit: plan.limit,
        };
        match self.ports.audience.pending(tenant, &query).await {
            Ok(page) => self.send_page(page, &plan.due),
            Err(error) => {
                tracing::warn!(session.id = %self.mailbox.session, %error, "owed messages could not be read");
                self.note(NoteKind::Failed, &format!("owed messages could not be read: {error}"));
                self.mailbox.repeat_read(spread(RETRY, &*self.ports.ids));
            }
        }
    }

    /// Sends a page of pins; one that was not put on the stream is read and tried again.
    async fn sweep_pins(&self, plan: PinPlan) {
        let (tenant, agent) = &self.who;
        let query = PinQuery { agent: *agent, after: plan.after, limit: plan.limit };
        let page = match self.ports.audience.pins(tenant, &query).await {
            Ok(page) => page,
            Err(error) => {
                tracing::warn!(session.id = %self.mailbox.session, %error, "pins could not be read");
                self.note(NoteKind::Failed, &format!("pins could not be read: {error}"));
                self.mailbox.repeat_pins(spread(RETRY, &*self.ports.ids));
                return;
            }
        };
        for message in &page.corrupt {
            self.note(NoteKind::Skipped, &format!("pinned message {message} cannot be read"));
        }
        let mut progress = Progress::default();
        for message in page.messages {
            let hint = Hint { lane: Lane::Deliver, message };
            if let Ok(lane) = self.mailbox.begin_pin(&hint) {
                self.dispatch(&hint, lane, &mut progress);
            }
            if progress.stopped {
                return;
            }
        }
        self.mailbox.pinned(page.next);
    }

    fn send_page(&self, page: Pending, due: &[MessageId]) {
        for message in &page.corrupt {
            tracing::error!(message.id = %message, "an owed message cannot be read and is skipped");
            self.note(NoteKind::Skipped, &format!("message {message} cannot be read and stays owed"));
        }
        let complete = page.waiting == 0;
        let items: Vec<Hint> =
            page.items.into_iter().map(|item| Hint { lane: item.lane, message: item.message }).collect();
        let is_in_page = |id: &MessageId| items.iter().any(|item| item.message.message.id() == *id);
        let missing: Vec<MessageId> = due.iter().copied().filter(|id| !is_in_page(id)).collect();
        self.mailbox.settle_due(&missing, complete, RETRY);
        let batch = if complete { in_order(items, self.mailbox.take_delivers()) } else { items };
        let mut progress = self.send(&batch, due);
        progress.left.delivers |= !complete;
        if progress.stopped {
            return;
        }
        if !progress.left.any() {
            self.mailbox.swept();
        } else if progress.sent == 0 {
            self.mailbox.leave_all(progress.left, RETRY);
        } else {
            self.mailbox.leave(progress.left);
        }
    }

    /// Sends in order; a lane whose window is full is left, and the other goes on.
    fn send(&self, hints: &[Hint], due: &[MessageId]) -> Progress {
        let mut progress = Progress::default();
        for hint in hints {
            let left = match hint.lane {
                Lane::Deliver => progress.left.delivers,
                Lane::Steer => progress.left.steers,
            };
            if left || progress.stopped {
                continue;
            }
            match self.mailbox.begin(hint, due) {
                Ok(lane) => self.dispatch(hint, lane, &mut progress),
                Err(Refused::Known) => {}
                Err(Refused::Full) => match hint.lane {
                    Lane::Deliver => progress.left.delivers = true,
                    Lane::Steer => progress.left.steers = true,
                },
            }
        }
        progress
    }

    fn dispatch(&self, hint: &Hint, lane: Lane, progress: &mut Progress) {
        let dispatch = Dispatch { lane, message: Arc::clone(&hint.message) };
        let pause = match self.ports.lanes.dispatch(self.mailbox.session, dispatch) {
            Ok(()) => {
                progress.sent += 1;
                return;
            }
            Err(LaneError::Full) => FULL_RETRY,
            Err(LaneError::Detached) => RETRY,
        };
        self.mailbox.failed(hint.message.message.id(), pause);
        progress.stopped = true;
    }
}

/// The page's steers, then its delivers and the hinted ones by place in their channels.
fn in_order(items: Vec<Hint>, hinted: Vec<Hint>) -> Vec<Hint> {
    let (mut steers, mut delivers): (Vec<Hint>, Vec<Hint>) =
        items.into_iter().partition(|item| item.lane == Lane::Steer);
    if !hinted.is_empty() {
        delivers.extend(hinted);
        delivers.sort_by_key(|hint| (hint.message.message.channel(), hint.message.message.seq()));
    }
    steers.append(&mut delivers);
    steers
}
