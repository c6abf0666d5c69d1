//! SubscribeAgentSession: what a session does, as it happens.

use compass_comms::Caller;
use compass_hub::ports::StoredSession;
use compass_proto::v1::{self, AgentSessionFrame as Frame, AgentSessionState};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Status};

use super::Sessions;
use crate::{
    auth::{Ended, Identity, RECHECKED, caller, identity},
    error::DoorError,
    runner::{
        commands::wire_state,
        tails::{Watcher, is_last},
    },
    status::{self, status},
};

/// Frames that wait for a slow client beside those its watcher keeps.
const WAITING_FRAMES: usize = 16;

type Told = Result<Frame, Status>;

/// One open tail.
struct Tail {
    sessions: Sessions,
    caller: Caller,
    row: StoredSession,
    frames: mpsc::Sender<Told>,
}

impl Sessions {
    pub(crate) async fn tail(
        &self,
        request: Request<v1::SubscribeAgentSessionRequest>,
    ) -> Result<ReceiverStream<Told>, Status> {
        let (caller, identity) = (caller(&request)?, identity(&request)?.clone());
        let row = self.session(&caller, &request.get_ref().session_id).await?;
        self.watch(&caller, row.account, "session").await?;
        // Watched before its state is read, so that an end in between is not missed.
        let watcher = self.lanes.tails().watch(row.session);
        let live = self.hub.live_row(&caller.tenant, &row).await.map_err(|error| status(&error))?;
        let state = match live {
            Some(_) if self.hub.account_of(row.session).is_none() => {
                return Err(status(&DoorError::Elsewhere));
            }
            Some(live) => wire_state(live.state),
            None => AgentSessionState::Stopped,
        };
        let first = Frame { session_id: row.session.to_string(), event: None, state: state.into() };
        let (frames, receiver) = mpsc::channel(WAITING_FRAMES);
        let tail = Tail { sessions: self.clone(), caller, row, frames };
        self.streams.tasks.spawn(tail.run(identity, first, watcher));
        Ok(ReceiverStream::new(receiver))
    }
}

impl Tail {
    async fn run(self, identity: Identity, first: Frame, watcher: Watcher) {
        let ended = self.sessions.auth.clone().ended(identity, self.sessions.streams.stop.clone());
        tokio::select! {
            () = self.pump(first, watcher) => {}
            () = self.frames.closed() => {}
            refused = self.hidden() => drop(self.frames.try_send(Err(refused))),
            ended = ended => {
                let why = match ended {
                    Ended::Stopping => status::stopping(),
                    Ended::Refused(refused) => refused,
                };
                // A client that reads nothing is told by the end of the stream alone.
                drop(self.frames.try_send(Err(why)));
            }
        }
    }

    async fn pump(&self, first: Frame, mut watcher: Watcher) {
        let mut next = Some(first);
        while let Some(frame) = next {
            let last = is_last(&frame);
            if self.frames.send(Ok(frame)).await.is_err() || last {
                return;
            }
            next = watcher.next().await;
        }
        // A watcher that ends before its session was too slow.
        drop(self.frames.try_send(Err(status(&DoorError::TooFarBehind))));
    }

    /// Waits until the caller may not watch any more.
    async fn hidden(&self) -> Status {
        loop {
            tokio::time::sleep(RECHECKED).await;
            if let Err(refused) = self.sessions.watch(&self.caller, self.row.account, "session").await {
                return refused;
            }
        }
    }
}
