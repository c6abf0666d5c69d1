//! PublishEvents: what sessions report and acknowledge.

use std::sync::Arc;

use compass_domain::{AccountId, SessionId};
use compass_hub::sessions::RunnerKey;
use compass_proto::v1::{self, AgentSessionState, agent_frame::Frame, session_event::Event};
use tokio::sync::mpsc;
use tonic::{Request, Status, Streaming};

use super::{RunnerDoor, ack, commands::lifecycle, key};
use crate::{
    auth::{Ended, Identity},
    status,
};

/// The frames of one stream.
struct Frames {
    door: RunnerDoor,
    runner: RunnerKey,
    receipts: mpsc::Sender<ack::Receipt>,
    last_seq: u64,
}

impl RunnerDoor {
    pub(super) async fn take_frames(
        &self,
        request: Request<Streaming<v1::PublishEventsRequest>>,
    ) -> Result<v1::PublishEventsResponse, Status> {
        let (identity, runner) = key::runner(&request)?;
        let (receipts, queue) = mpsc::channel(ack::QUEUE);
        let tenant = runner.tenant().clone();
        let acknowledging =
            self.tasks.spawn(ack::run(Arc::clone(&self.hub), Arc::clone(&self.counters), tenant, queue));
        let frames = Frames { door: self.clone(), runner, receipts, last_seq: 0 };
        let taken = frames.take_all(identity, request.into_inner()).await;
        // The answer says that every frame was taken in, receipts included.
        if let Err(failed) = acknowledging.await {
            tracing::error!(error = %failed, "the task that keeps receipts failed");
        }
        taken.map(|()| v1::PublishEventsResponse {})
    }
}

impl Frames {
    async fn take_all(
        mut self,
        identity: Identity,
        mut frames: Streaming<v1::PublishEventsRequest>,
    ) -> Result<(), Status> {
        let ended = self.door.auth.clone().ended(identity, self.door.stop.clone());
        tokio::pin!(ended);
        loop {
            tokio::select! {
                biased;
                why = &mut ended => return Err(match why {
                    Ended::Stopping => status::stopping(),
                    Ended::Refused(refused) => refused,
                }),
                next = frames.message() => match next? {
                    Some(frame) => self.take(frame).await,
                    None => return Ok(()),
                },
            }
        }
    }

    async fn take(&mut self, request: v1::PublishEventsRequest) {
        if is_gap(self.last_seq, request.runner_seq) {
            self.door.counters.gap(self.last_seq, request.runner_seq);
        }
        self.last_seq = self.last_seq.max(request.runner_seq);
        let counters = &self.door.counters;
        let Some(frame) = request.frame.and_then(|frame| frame.frame) else {
            return counters.drop_frame("it is empty");
        };
        let Ok(session) = request.session_id.parse::<SessionId>() else {
            return counters.drop_frame("it names no session");
        };
        match frame {
            Frame::Session(frame) => self.take_session(session, frame).await,
            Frame::DeliveryAck(receipt) => self.take_receipt(session, &receipt.message_id).await,
            Frame::ReplayCompleteAck(_) | Frame::ControlAck(_) => {
                counters.drop_frame("it is for the runner itself");
            }
        }
    }

    async fn take_session(&self, session: SessionId, frame: v1::SessionFrame) {
        let state = frame.state();
        if state == AgentSessionState::Unspecified && frame.typed_event.is_none() {
            return self.door.counters.drop_frame("it is empty");
        }
        let Some(account) = self.owner(session).await else {
            return self.door.counters.drop_frame("its session is not the sender's");
        };
        if let Some(reason) = failure(&frame) {
            self.door.hub.failed(self.runner.tenant(), account, reason);
        }
        let shown = v1::AgentSessionFrame {
            session_id: session.to_string(),
            event: frame.typed_event,
            state: state.into(),
        };
        self.door.lanes.tails().relay(session, &shown);
        match self.door.hub.report_state(&self.runner, session, lifecycle(state)).await {
            Ok(true) => {}
            Ok(false) => self.door.counters.drop_frame("its session is not the sender's"),
            Err(error) => tracing::warn!(session.id = %session, %error, "a reported state was not recorded"),
        }
    }

    /// Whose session it is. One that is unknown may be about to be bound again.
    async fn owner(&self, session: SessionId) -> Option<AccountId> {
        let hub = &self.door.hub;
        if let Some(account) = hub.owner_for(&self.runner, session) {
            return Some(account);
        }
        hub.settled(&self.runner).await;
        let account = hub.owner_for(&self.runner, session);
        if account.is_none() {
            hub.foreign(&self.runner, session);
        }
        account
    }

    async fn take_receipt(&self, session: SessionId, message: &str) {
        let Some(account) = self.owner(session).await else {
            return self.door.counters.drop_frame("its session is not the sender's");
        };
        let Ok(message) = message.parse() else {
            return self.door.counters.drop_frame("it acknowledges no message");
        };
        if self.receipts.send((account, message)).await.is_err() {
            tracing::error!("the task that keeps receipts is gone");
        }
    }
}

/// Why a session failed, if a frame says so.
fn failure(frame: &v1::SessionFrame) -> Option<&str> {
    let fails = matches!(frame.state(), AgentSessionState::Errored | AgentSessionState::Disconnected);
    match frame.typed_event.as_ref().filter(|_| fails)?.event.as_ref()? {
        Event::Notice(notice) => Some(&notice.text),
        _ => None,
    }
}

/// True if numbers are missing between two frames; the first frame of a stream has none before it.
fn is_gap(last: u64, next: u64) -> bool {
    last != 0 && next > last.saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_a_gap_and_a_repeat_is_none() {
        for (last, next, expected) in
            [(0, 1, false), (0, 9, false), (1, 2, false), (2, 2, false), (2, 1, false), (2, 4, true)]
        {
            assert_eq!(is_gap(last, next), expected, "{next} after {last}");
        }
    }
}
