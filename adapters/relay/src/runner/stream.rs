//! Sessions: commands to a runner, and their results.

use std::{sync::Arc, time::Duration};

use compass_domain::{Classified as _, SessionId};
use compass_hub::sessions::{Attached, RunnerKey, StartOrder, Ticket};
use compass_proto::v1::{
    self, RunnerErrorCode, sessions_request::Result as Outcome, sessions_response::Command,
};
use futures::{Stream, StreamExt as _, stream, stream::BoxStream};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Status, Streaming};

use super::{RunnerDoor, commands::SentTo, key};
use crate::{
    auth::{Ended, Identity},
    error::DoorError,
    status::{self, status},
};

/// Commands that wait for a stream at the most.
const QUEUE: usize = 1024;
/// How long a stream may stay without its first frame.
const FIRST_FRAME: Duration = Duration::from_secs(10);

type Commands = BoxStream<'static, Result<v1::SessionsResponse, Status>>;

/// One open stream of a runner.
struct Open {
    door: RunnerDoor,
    runner: RunnerKey,
    instance: String,
    ticket: Ticket,
    /// The start that was sent and not answered.
    start: Option<(String, SessionId)>,
}

impl RunnerDoor {
    pub(super) async fn open_sessions(
        &self,
        request: Request<Streaming<v1::SessionsRequest>>,
    ) -> Result<Commands, Status> {
        let (identity, runner) = key::runner(&request)?;
        let mut results = request.into_inner();
        let first = tokio::time::timeout(FIRST_FRAME, results.message()).await;
        let first = first.map_err(|_| status(&DoorError::TooSlow(FIRST_FRAME.as_secs())))??;
        let instance = first.unwrap_or_default().instance_id;
        let attached = self.hub.open_stream(&runner, &instance).map_err(|error| status(&error))?;

        let (queue, commands) = mpsc::channel(QUEUE);
        let (end, ended) = oneshot::channel();
        self.lanes.attach(&runner, attached.ticket, queue.clone());
        let start = attached.start.as_ref().map(|order| {
            self.lanes.bind(order.session, attached.ticket);
            let request_id = self.comms.ids.session().to_string();
            // The queue is new, so there is room.
            drop(queue.try_send(start_command(&request_id, order)));
            (request_id, order.session)
        });
        let open = Open { door: self.clone(), runner, instance, ticket: attached.ticket, start };
        self.tasks.spawn(open.run(identity, attached, results, queue, end));
        Ok(outgoing(commands, ended).boxed())
    }
}

impl Open {
    async fn run(
        mut self,
        identity: Identity,
        attached: Attached,
        mut results: Streaming<v1::SessionsRequest>,
        queue: mpsc::Sender<v1::SessionsResponse>,
        end: oneshot::Sender<Status>,
    ) {
        let over = CancellationToken::new();
        if let RunnerKey::Named { .. } = self.runner {
            self.rebind(over.clone());
        }
        let why = tokio::select! {
            biased;
            () = attached.superseded.cancelled() => {
                Some(status::aborted("another process or stream took the place of this one"))
            }
            ended = self.door.auth.clone().ended(identity, self.door.stop.clone()) => Some(match ended {
                Ended::Stopping => status::stopping(),
                Ended::Refused(status) => status,
            }),
            () = queue.closed() => None,
            why = self.take_results(&mut results) => why,
        };
        over.cancel();
        self.door.lanes.detach(attached.ticket);
        if let Some(why) = why {
            // A runner that hung up needs no reason.
            drop(end.send(why));
        }
        self.door.hub.close_stream(&self.runner, &self.instance, attached.ticket).await;
    }

    /// Finds out what the runner runs, beside everything else.
    fn rebind(&self, over: CancellationToken) {
        let (hub, runner, instance) =
            (Arc::clone(&self.door.hub), self.runner.clone(), self.instance.clone());
        let ticket = self.ticket;
        self.door.tasks.spawn(async move {
            over.run_until_cancelled(hub.rebind(&runner, &instance, ticket)).await;
        });
    }

    /// Takes results until the runner ends the stream, or until one ends it.
    async fn take_results(&mut self, results: &mut Streaming<v1::SessionsRequest>) -> Option<Status> {
        loop {
            match results.message().await {
                Ok(Some(result)) => {
                    if let Err(refused) = self.take_result(result).await {
                        return Some(refused);
                    }
                }
                Ok(None) => return None,
                Err(broken) => {
                    tracing::debug!(error = %broken, "a runner's stream broke");
                    return None;
                }
            }
        }
    }

    async fn take_result(&mut self, result: v1::SessionsRequest) -> Result<(), Status> {
        let Some(outcome) = result.result else { return Ok(()) };
        let Some((_, session)) = self.start.take_if(|(id, _)| *id == result.request_id) else {
            let unasked = self.door.lanes.answer(self.ticket, &result.request_id, outcome);
            if let Some(Outcome::Error(error)) = unasked {
                self.take_refusal(&result.request_id, &error);
            }
            return Ok(());
        };
        match outcome {
            Outcome::Start(started) if started.session_id == session.to_string() => self.bind(session).await,
            // It runs this very session already: the process is the one that was given it before.
            Outcome::Error(error) if error.code() == RunnerErrorCode::AlreadyRunning => {
                self.bind(session).await
            }
            Outcome::Error(error) => {
                self.door.counters.refuse(error.code, &error.message);
                Ok(())
            }
            _ => Err(status(&DoorError::NotFound("session"))),
        }
    }

    /// Nobody waits for what an operation came to: a refusal is counted and told to an operator.
    fn take_refusal(&self, request_id: &str, error: &v1::RunnerError) {
        self.door.counters.refuse(error.code, &error.message);
        if let Some(SentTo::One(session)) = self.door.lanes.sent_to(self.ticket, request_id) {
            tracing::warn!(
                session.id = %session, message.id = request_id,
                "a message was refused by its session's runner and is sent again later"
            );
            self.door.hub.refused(session, &error.message);
        }
    }

    async fn bind(&self, session: SessionId) -> Result<(), Status> {
        match self.door.hub.started(&self.runner, session).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(status(&DoorError::NotFound("session"))),
            Err(error) => {
                tracing::warn!(session.id = %session, kind = ?error.kind(), "a started session was not bound");
                Err(status(&error))
            }
        }
    }
}

fn start_command(request_id: &str, order: &StartOrder) -> v1::SessionsResponse {
    let start = v1::StartAgentSessionRequest {
        container_name: order.container.clone(),
        session_id: order.session.to_string(),
        ..Default::default()
    };
    v1::SessionsResponse { request_id: request_id.to_owned(), command: Some(Command::Start(start)) }
}

/// The commands, until the end comes; it does not wait for what is queued.
fn outgoing(
    commands: mpsc::Receiver<v1::SessionsResponse>,
    end: oneshot::Receiver<Status>,
) -> impl Stream<Item = Result<v1::SessionsResponse, Status>> + Send + 'static {
    stream::unfold(Some((commands, end)), |state| async move {
        let (mut commands, mut end) = state?;
        tokio::select! {
            biased;
            why = &mut end => why.ok().map(|why| (Err(why), None)),
            next = commands.recv() => next.map(|command| (Ok(command), Some((commands, end)))),
        }
    })
}
