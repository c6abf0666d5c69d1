//! The comms stream: events as the use case yields them, until the token, the client or the server ends it.

use std::sync::Arc;

use compass_comms::{
    Caller, Comms,
    events::{Audiences, EventStream, StreamItem, SubscribeFrom, subscribe},
};
use compass_domain::Event;
use compass_ports::{Published, StorageError};
use compass_proto::v1::{SubscribeCommsRequest, SubscribeCommsResponse};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::Status;

use crate::{
    auth::{Auth, Ended, Identity},
    mapping::{self, Beside},
    status::status,
};

/// Frames that wait for a slow client, at the most; beyond that the event bus keeps them.
const WAITING_FRAMES: usize = 16;

type Frame = Result<SubscribeCommsResponse, Status>;

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
    pub(crate) async fn open(
        &self,
        comms: &Comms,
        caller: Caller,
        identity: Identity,
        from: &SubscribeCommsRequest,
    ) -> ReceiverStream<Frame> {
        let from = SubscribeFrom { since_seq: from.since_seq, epoch: from.instance_epoch };
        let events = subscribe(comms, &self.audiences, &caller, from).await;
        let (frames, receiver) = mpsc::channel(WAITING_FRAMES);
        let ended = self.auth.clone().ended(identity, self.stop.clone());
        let pump = Pump { comms: comms.clone(), audiences: Arc::clone(&self.audiences), frames };
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
}

struct Pump {
    comms: Comms,
    audiences: Arc<Audiences>,
    frames: mpsc::Sender<Frame>,
}

impl Pump {
    async fn run(&self, mut events: EventStream) {
        loop {
            let frame = match events.next().await {
                StreamItem::Boundary { snapshot, epoch } => Ok(Some(mapping::boundary(snapshot, epoch))),
                StreamItem::Resync { epoch } => Ok(Some(mapping::resync(epoch))),
                StreamItem::Event(published) => self.frame(&published).await,
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

    async fn frame(&self, published: &Published) -> Result<Option<SubscribeCommsResponse>, Status> {
        let beside = self.beside(published).await.map_err(|error| status(&error))?;
        Ok(mapping::frame(published, self.comms.bus.epoch(), beside))
    }

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
