//! Streams of events as the use case yields them, until the token, the client or the server ends them.

use std::sync::Arc;

use compass_comms::{
    Caller, Comms,
    events::{Audiences, EventStream, Feed, StreamItem, SubscribeFrom, subscribe_to},
};
use compass_domain::{Event, Position};
use compass_ports::{Published, StorageError};
use compass_proto::v1::SubscribeCommsResponse;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::Status;

use crate::{
    auth::{Auth, Ended, Identity},
    mapping::{self, Beside},
    status::status,
};

pub(crate) use compass_comms::events::SubscribeFrom as From;

/// Frames that wait for a slow client, at the most; beyond that the event bus keeps them.
const WAITING_FRAMES: usize = 16;

/// How one feed of events reads on the wire.
pub(crate) trait Framing: Send + Sync + 'static {
    /// Its frames.
    type Frame: Send + 'static;

    /// Which feed.
    const FEED: Feed;

    /// The frame that marks where the stream begins.
    fn boundary(&self, snapshot: Position, epoch: u64) -> Self::Frame;

    /// The frame that says that events were lost.
    fn resync(&self, epoch: u64) -> Self::Frame;

    /// The frame of an event; none for what is not told to subscribers.
    fn event(
        &self,
        published: &Published,
    ) -> impl Future<Output = Result<Option<Self::Frame>, Status>> + Send;
}

/// What open streams need.
#[derive(Clone)]
pub(crate) struct Streams {
    pub(crate) auth: Auth,
    pub(crate) audiences: Arc<Audiences>,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}

impl Streams {
    /// Opens a stream for a caller.
    pub(crate) async fn open<F: Framing>(
        &self,
        comms: &Comms,
        caller: Caller,
        identity: Identity,
        from: SubscribeFrom,
        framing: F,
    ) -> ReceiverStream<Result<F::Frame, Status>> {
        let events = subscribe_to(F::FEED, comms, &self.audiences, &caller, from).await;
        let (frames, receiver) = mpsc::channel(WAITING_FRAMES);
        let ended = self.auth.clone().ended(identity, self.stop.clone());
        let pump = Pump { framing, frames };
        self.tasks.spawn(async move {
            tokio::select! {
                () = pump.run(events) => {}
                () = pump.frames.closed() => {}
                ended = ended => if let Ended::Refused(refused) = ended {
                    // A client that reads nothing is told by the end of the stream alone.
                    drop(pump.frames.try_send(Err(refused)));
                },
            }
        });
        ReceiverStream::new(receiver)
    }

    /// How the conversation reads.
    pub(crate) fn conversation(&self, comms: &Comms) -> CommsFrames {
        CommsFrames { comms: comms.clone(), audiences: Arc::clone(&self.audiences) }
    }
}

struct Pump<F: Framing> {
    framing: F,
    frames: mpsc::Sender<Result<F::Frame, Status>>,
}

impl<F: Framing> Pump<F> {
    async fn run(&self, mut events: EventStream) {
        loop {
            let frame = match events.next().await {
                StreamItem::Boundary { snapshot, epoch } => Ok(Some(self.framing.boundary(snapshot, epoch))),
                StreamItem::Resync { epoch } => Ok(Some(self.framing.resync(epoch))),
                StreamItem::Event(published) => self.framing.event(&published).await,
                StreamItem::Failed(error) => Err(status(&error)),
                StreamItem::End => return,
            };
            let failed = frame.is_err();
            let Some(frame) = frame.transpose() else { continue };
            if self.frames.send(frame).await.is_err() || failed {
                return;
            }
        }
    }
}

/// Frames of the conversation.
pub(crate) struct CommsFrames {
    comms: Comms,
    audiences: Arc<Audiences>,
}

impl Framing for CommsFrames {
    type Frame = SubscribeCommsResponse;

    const FEED: Feed = Feed::Conversation;

    fn boundary(&self, snapshot: Position, epoch: u64) -> SubscribeCommsResponse {
        mapping::boundary(snapshot, epoch)
    }

    fn resync(&self, epoch: u64) -> SubscribeCommsResponse {
        mapping::resync(epoch)
    }

    async fn event(&self, published: &Published) -> Result<Option<SubscribeCommsResponse>, Status> {
        let beside = self.beside(published).await.map_err(|error| status(&error))?;
        Ok(mapping::frame(published, self.comms.bus.epoch(), beside))
    }
}

impl CommsFrames {
    /// What is counted when it is read and kept nowhere: open asks of a topic, a person's unread messages.
    async fn beside(&self, published: &Published) -> Result<Beside, StorageError> {
        match &published.event {
            Event::TopicUpserted(_) | Event::TopicMerged { .. } => {
                let open = self.audiences.open_asks(&*self.comms.storage, published).await?;
                Ok(Beside::OpenAsks(open))
            }
            Event::ReadPositionChanged { account, topic, .. } => {
                let mut unit = self.comms.storage.read(&published.tenant).await?;
                Ok(Beside::Place(unit.find_read_position(*account, *topic).await?))
            }
            _ => Ok(Beside::Nothing),
        }
    }
}
