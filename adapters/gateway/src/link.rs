//! The dial-out link of a process that is its own runner: enroll, the command stream, the upstream frames.
//!
//! A lost connection is retried with full jitter for as long as the process lives. Frames that were not sent wait
//! in a bounded queue; an acknowledgement that is lost is asked for again by the server's next delivery.

use std::time::Duration;

use async_trait::async_trait;
use compass_agent::ports::{CallError, Link, LinkEvent, SessionEvent, TurnState};
use compass_proto::v1::{self, AgentSessionState, AttachMode, agent_frame::Frame};
use compass_runner::PublishSequence;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_stream::StreamExt as _;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::Status;

use crate::{
    agent::wire_event,
    calls,
    commands::{self, Handled, SessionChange},
    dial::{self, Client, Lost, Opened, QUEUE, Redial, lost},
    endpoint::Endpoint,
};

/// How a process attaches.
#[derive(Debug, Clone)]
pub struct Attach {
    /// Random per process.
    pub instance_id: String,
    /// What for.
    pub mode: Mode,
}

/// What a process attaches for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Messages.
    Deliveries {
        /// Takes the agent over from another process that is attached.
        take_over: bool,
    },
    /// To be seen; messages reach the agent in another way.
    PresenceOnly,
}

/// The events and receipts of a link. Dropping it ends the link.
pub struct RunnerLink {
    events: mpsc::Receiver<LinkEvent>,
    frames: mpsc::Sender<Queued>,
    stop: CancellationToken,
}

/// What waits for the upstream.
enum Queued {
    Frame(v1::AgentFrame),
    /// Close the upstream, and say when the server has taken everything before.
    Finish(oneshot::Sender<()>),
}

/// Calls over a link.
#[derive(Clone)]
pub struct LinkHandle {
    client: Client,
    session: watch::Receiver<Option<String>>,
}

impl RunnerLink {
    /// Starts a link on a task of `tasks`.
    pub fn start(endpoint: &Endpoint, attach: Attach, tasks: &TaskTracker) -> (Self, LinkHandle) {
        let (tell, events) = mpsc::channel(QUEUE);
        let (frames, queued) = mpsc::channel(QUEUE);
        let (set_session, session) = watch::channel(None);
        let client = dial::client(endpoint);
        let stop = CancellationToken::new();
        let dialer = Dialer {
            client: client.clone(),
            attach,
            tell,
            frames: queued,
            session: set_session,
            sequence: PublishSequence::default(),
        };
        tasks.spawn(dialer.run(stop.clone()));
        (Self { events, frames, stop }, LinkHandle { client, session })
    }
}

#[async_trait]
impl Link for RunnerLink {
    async fn next(&mut self) -> Option<LinkEvent> {
        self.events.recv().await
    }

    async fn acknowledge(&mut self, message_id: String) {
        self.publish(Frame::DeliveryAck(v1::DeliveryAck { message_id })).await;
    }

    async fn report(&mut self, state: TurnState) {
        let state = match state {
            TurnState::Ready => AgentSessionState::Ready,
            TurnState::Working => AgentSessionState::Working,
        };
        self.publish(Frame::Session(v1::SessionFrame { state: state.into(), typed_event: None })).await;
    }

    async fn show(&mut self, event: SessionEvent) {
        let typed_event = Some(wire_event(event));
        let frame = Frame::Session(v1::SessionFrame { typed_event, ..v1::SessionFrame::default() });
        // Nobody waits for it: what finds no room is lost.
        drop(self.frames.try_send(Queued::Frame(v1::AgentFrame { frame: Some(frame) })));
    }
}

impl RunnerLink {
    /// Ends the link after the server took every queued frame, or after `patience`.
    pub async fn finish(self, patience: Duration) {
        let (done, finished) = oneshot::channel();
        let finish = async {
            if self.frames.send(Queued::Finish(done)).await.is_ok() {
                drop(finished.await);
            }
        };
        // What did not leave in time is asked for again by the server's next delivery.
        drop(tokio::time::timeout(patience, finish).await);
    }

    async fn publish(&self, frame: Frame) {
        // A link that is over says so through its events.
        drop(self.frames.send(Queued::Frame(v1::AgentFrame { frame: Some(frame) })).await);
    }
}

impl Drop for RunnerLink {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl LinkHandle {
    pub(crate) fn session(&self) -> Option<String> {
        self.session.borrow().clone()
    }

    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }
}

struct Dialer {
    client: Client,
    attach: Attach,
    tell: mpsc::Sender<LinkEvent>,
    frames: mpsc::Receiver<Queued>,
    session: watch::Sender<Option<String>>,
    sequence: PublishSequence,
}

impl Dialer {
    async fn run(mut self, stop: CancellationToken) {
        let mut redial = Redial::default();
        loop {
            redial.begin();
            let lost = tokio::select! {
                () = stop.cancelled() => return,
                lost = self.connection() => lost,
            };
            self.session.send_replace(None);
            let event = match lost {
                Lost::Unheard => return,
                Lost::Ended(status) => ended(&status),
                Lost::Retry(reason) => LinkEvent::Detached { reason },
            };
            let over = matches!(event, LinkEvent::Ended { .. });
            if self.tell.send(event).await.is_err() || over {
                return;
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = redial.pause() => {}
            }
        }
    }

    async fn connection(&mut self) -> Lost {
        let (mode, take_over) = match self.attach.mode {
            Mode::Deliveries { take_over } => (AttachMode::Deliveries, take_over),
            Mode::PresenceOnly => (AttachMode::PresenceOnly, false),
        };
        let enroll = v1::EnrollRequest {
            runner_id: String::new(),
            mode: mode.into(),
            take_over,
            instance_id: self.attach.instance_id.clone(),
            wake: Vec::new(),
        };
        let Opened { mut commands, results, upstream, publishing } =
            match dial::open(&self.client, enroll).await {
                Ok(opened) => opened,
                Err(lost) => return lost,
            };
        tokio::pin!(publishing);
        loop {
            let sent = tokio::select! {
                command = commands.next() => match command {
                    None => return Lost::Retry("the server closed the stream".into()),
                    Some(Err(status)) => return lost(status),
                    Some(Ok(command)) => self.obey(command, &results).await,
                },
                Some(queued) = self.frames.recv() => match queued {
                    Queued::Frame(frame) => self.send_frame(frame, &upstream).await,
                    Queued::Finish(done) => {
                        drop(upstream);
                        // The response comes when the server has taken the last frame.
                        drop(publishing.await);
                        let _ = done.send(());
                        return Lost::Unheard;
                    }
                },
                ended = &mut publishing => match ended {
                    Ok(()) => return Lost::Retry("the server closed the upstream".into()),
                    Err(status) => return lost(status),
                },
            };
            if let Err(lost) = sent {
                return lost;
            }
        }
    }

    async fn obey(
        &mut self,
        command: v1::SessionsResponse,
        results: &mpsc::Sender<v1::SessionsRequest>,
    ) -> Result<(), Lost> {
        let session = self.session.borrow().clone();
        let Handled { reply, event, session } = commands::handle(command.command, session.as_deref());
        match session {
            SessionChange::Unchanged => {}
            SessionChange::Started(session) => drop(self.session.send_replace(Some(session))),
            SessionChange::Ended => drop(self.session.send_replace(None)),
        }
        if let Some(reply) = reply {
            let result = v1::SessionsRequest {
                request_id: command.request_id,
                result: Some(reply),
                ..v1::SessionsRequest::default()
            };
            results.send(result).await.map_err(|_| Lost::Retry("the stream closed".into()))?;
        }
        match event {
            Some(event) => self.tell.send(event).await.map_err(|_| Lost::Unheard),
            None => Ok(()),
        }
    }

    async fn send_frame(
        &mut self,
        frame: v1::AgentFrame,
        upstream: &mpsc::Sender<v1::PublishEventsRequest>,
    ) -> Result<(), Lost> {
        let Some(session_id) = self.session.borrow().clone() else {
            // The frame belongs to a session that is over; the server sends again what it still owes.
            return Ok(());
        };
        let request = v1::PublishEventsRequest {
            runner_seq: self.sequence.next(),
            session_id,
            frame: Some(frame),
            idempotency_key: String::new(),
        };
        upstream.send(request).await.map_err(|_| Lost::Retry("the upstream closed".into()))?;
        self.sequence.sent();
        Ok(())
    }
}

fn ended(status: &Status) -> LinkEvent {
    match calls::failure(status) {
        CallError::Refused { code, message } => LinkEvent::Ended { code, reason: message },
        CallError::Unreachable(reason) | CallError::OutcomeUnknown(reason) => {
            LinkEvent::Ended { code: "aborted".to_owned(), reason }
        }
    }
}
