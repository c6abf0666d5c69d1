//! The door of runners: enrolment, the command stream, frames of sessions and the calls they relay.

mod ack;
pub(crate) mod commands;
mod counters;
mod enroll;
mod key;
mod lanes;
mod publish;
mod relayed;
mod stream;
pub(crate) mod tails;

use std::sync::Arc;

use compass_comms::Comms;
use compass_hub::Hub;
use compass_proto::v1::{self, runner_service_server::RunnerService};
use futures::stream::BoxStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::{Request, Response, Status, Streaming};

pub use counters::Counters;
pub use lanes::RunnerLanes;

use crate::auth::Auth;

/// RunnerService: for runners, and for agents that are their own runner.
#[derive(Clone)]
pub struct RunnerDoor {
    comms: Comms,
    hub: Arc<Hub>,
    lanes: Arc<RunnerLanes>,
    auth: Auth,
    tasks: TaskTracker,
    stop: CancellationToken,
    counters: Arc<Counters>,
}

impl RunnerDoor {
    /// A door whose streams run on `tasks` and end when `stop` is cancelled. The hub sends through `lanes`.
    pub fn new(
        comms: Comms,
        hub: Arc<Hub>,
        lanes: Arc<RunnerLanes>,
        auth: Auth,
        stop: CancellationToken,
    ) -> Self {
        let tasks = comms.tasks.clone();
        Self { comms, hub, lanes, auth, tasks, stop, counters: Arc::default() }
    }

    /// What was dropped, for diagnosis.
    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }
}

#[tonic::async_trait]
impl RunnerService for RunnerDoor {
    type SessionsStream = BoxStream<'static, Result<v1::SessionsResponse, Status>>;

    async fn enroll(
        &self,
        request: Request<v1::EnrollRequest>,
    ) -> Result<Response<v1::EnrollResponse>, Status> {
        self.enroll_process(request).await.map(Response::new)
    }

    async fn sessions(
        &self,
        request: Request<Streaming<v1::SessionsRequest>>,
    ) -> Result<Response<Self::SessionsStream>, Status> {
        self.open_sessions(request).await.map(Response::new)
    }

    async fn publish_events(
        &self,
        request: Request<Streaming<v1::PublishEventsRequest>>,
    ) -> Result<Response<v1::PublishEventsResponse>, Status> {
        self.take_frames(request).await.map(Response::new)
    }

    async fn relay_comms_call(
        &self,
        request: Request<v1::RelayCommsCallRequest>,
    ) -> Result<Response<v1::RelayCommsCallResponse>, Status> {
        self.relay_call(request).await.map(Response::new)
    }
}
