//! SubscribeEvents: the server's own state, and the states of the sessions the caller may see.

use compass_comms::events::Feed;
use compass_domain::{Event, Position};
use compass_ports::Published;
use compass_proto::v1::{
    self, ServerState, SubscribeEventsResponse as Frame, subscribe_events_response::Payload,
};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Status};

use super::{Sessions, commands::session_status};
use crate::{
    auth::{caller, identity},
    stream::{Framing, From},
};

struct SessionFrames {
    epoch: u64,
}

impl Sessions {
    pub(crate) async fn events(
        &self,
        request: Request<v1::SubscribeEventsRequest>,
    ) -> Result<ReceiverStream<Result<Frame, Status>>, Status> {
        let (caller, identity) = (caller(&request)?, identity(&request)?.clone());
        let request = request.into_inner();
        let from = From { since_seq: request.since_seq, epoch: request.instance_epoch };
        let framing = SessionFrames { epoch: self.comms.bus.epoch() };
        Ok(self.streams.open(&self.comms, caller, identity, from, framing).await)
    }
}

impl Framing for SessionFrames {
    type Frame = Frame;

    const FEED: Feed = Feed::Sessions;

    fn boundary(&self, snapshot: Position, epoch: u64) -> Frame {
        let ready = v1::ServerStatus { state: ServerState::Ready.into() };
        let payload = Some(Payload::ServerStatus(ready));
        Frame { instance_epoch: epoch, snapshot_seq: snapshot.0, payload, ..Default::default() }
    }

    fn resync(&self, epoch: u64) -> Frame {
        let payload = Some(Payload::ResyncRequired(v1::ResyncRequired {}));
        Frame { instance_epoch: epoch, payload, ..Default::default() }
    }

    async fn event(&self, published: &Published) -> Result<Option<Frame>, Status> {
        let Event::AgentSessionChanged { session, agent, state } = published.event else { return Ok(None) };
        Ok(Some(Frame {
            seq: published.seq,
            at_unix_ms: published.at.0,
            instance_epoch: self.epoch,
            snapshot_seq: 0,
            payload: Some(Payload::AgentSessionStatus(session_status(session, agent, state))),
        }))
    }
}
