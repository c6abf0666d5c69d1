//! Commands to runners on their streams, who waits for which result, and what was sent without waiting.

use std::collections::{HashMap, VecDeque};

use compass_domain::{ErrorKind, LifecycleState, MessageId, SessionId};
use compass_hub::{
    ports::{Command, LaunchError, Outcome, Reported},
    sessions::{RunnerKey, Ticket},
};
use compass_proto::v1::{
    self, AgentSessionState, RunnerErrorCode, sessions_request::Result as Answer,
    sessions_response::Command as Wire,
};
use tokio::sync::{
    mpsc::{self, error::TrySendError},
    watch,
};

/// Commands of one stream that wait for results, at the most.
const IN_FLIGHT: usize = 1024;
/// Operations sent without waiting that are remembered, at the most.
const REMEMBERED: usize = 16_384;

type Told = Option<Result<Outcome, LaunchError>>;

/// One stream's commands.
#[derive(Debug)]
struct Line {
    queue: mpsc::Sender<v1::SessionsResponse>,
    waiting: HashMap<String, watch::Sender<Told>>,
}

/// The streams of all runners, and which is whose.
#[derive(Debug, Default)]
pub(super) struct Lines {
    open: HashMap<Ticket, Line>,
    runners: HashMap<RunnerKey, Ticket>,
    sent: Sent,
}

/// What waits for one result.
#[derive(Debug)]
pub(super) struct Waiting(watch::Receiver<Told>);

impl Waiting {
    /// The result; the stream's end if that comes first.
    pub(super) async fn result(mut self) -> Result<Outcome, LaunchError> {
        match self.0.wait_for(Option::is_some).await {
            Ok(told) => told.clone().unwrap_or(Err(LaunchError::Detached)),
            Err(_) => Err(LaunchError::Detached),
        }
    }
}

impl Lines {
    /// Adds a runner's stream, in place of an earlier one, whose commands fail.
    pub(super) fn attach(
        &mut self,
        runner: &RunnerKey,
        ticket: Ticket,
        queue: mpsc::Sender<v1::SessionsResponse>,
    ) {
        if let RunnerKey::Named { .. } = runner
            && let Some(before) = self.runners.insert(runner.clone(), ticket)
        {
            self.open.remove(&before);
        }
        self.open.insert(ticket, Line { queue, waiting: HashMap::new() });
    }

    /// Ends a stream: whatever waits on it fails.
    pub(super) fn detach(&mut self, ticket: Ticket) {
        self.open.remove(&ticket);
        self.runners.retain(|_, current| *current != ticket);
    }

    pub(super) fn ticket(&self, runner: &RunnerKey) -> Option<Ticket> {
        self.runners.get(runner).copied()
    }

    pub(super) fn queue(&self, ticket: Ticket) -> Option<mpsc::Sender<v1::SessionsResponse>> {
        self.open.get(&ticket).map(|line| line.queue.clone())
    }

    pub(super) fn runners(&self) -> impl Iterator<Item = &RunnerKey> {
        self.runners.keys()
    }

    /// Puts a command on a stream, or joins the one with the same id that waits there.
    pub(super) fn send(
        &mut self,
        ticket: Ticket,
        request_id: &str,
        command: Command,
    ) -> Result<Waiting, LaunchError> {
        if request_id.is_empty() {
            return Err(LaunchError::NoRequestId);
        }
        let line = self.open.get_mut(&ticket).ok_or(LaunchError::NotAttached)?;
        if let Some(waiting) = line.waiting.get(request_id) {
            return Ok(Waiting(waiting.subscribe()));
        }
        if line.waiting.len() >= IN_FLIGHT {
            return Err(LaunchError::Busy);
        }
        let room = line.queue.try_reserve().map_err(|full| match full {
            TrySendError::Full(()) => LaunchError::Busy,
            TrySendError::Closed(()) => LaunchError::NotAttached,
        })?;
        room.send(v1::SessionsResponse { request_id: request_id.to_owned(), command: Some(wire(command)) });
        let (tell, waiting) = watch::channel(None);
        line.waiting.insert(request_id.to_owned(), tell);
        Ok(Waiting(waiting))
    }

    /// Hands a result to whoever waits for it; gives it back if nobody does.
    pub(super) fn answer(&mut self, ticket: Ticket, request_id: &str, answer: Answer) -> Option<Answer> {
        let line = self.open.get_mut(&ticket)?;
        let Some(waiting) = line.waiting.remove(request_id) else { return Some(answer) };
        // A caller that gave up meanwhile hears nothing.
        waiting.send_replace(Some(outcome(answer)));
        None
    }

    /// Remembers an operation that nobody waits for, so that its refusal is known for one.
    pub(super) fn note_sent(&mut self, ticket: Ticket, message: MessageId, session: SessionId) {
        self.sent.note((ticket, message), session);
    }

    /// To whom an operation was sent, if it was sent on this stream.
    pub(super) fn sent_to(&self, ticket: Ticket, request_id: &str) -> Option<SentTo> {
        let message: MessageId = request_id.parse().ok()?;
        self.sent.sessions.get(&(ticket, message)).copied()
    }
}

type Operation = (Ticket, MessageId);

/// To whom an operation was sent; its id is its message's, so sessions of one stream may share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SentTo {
    /// This session.
    One(SessionId),
    /// More than one.
    Several,
}

#[derive(Debug, Default)]
struct Sent {
    sessions: HashMap<Operation, SentTo>,
    order: VecDeque<Operation>,
}

impl Sent {
    fn note(&mut self, operation: Operation, session: SessionId) {
        match self.sessions.get_mut(&operation) {
            Some(SentTo::One(before)) if *before == session => return,
            Some(before) => {
                *before = SentTo::Several;
                return;
            }
            None => self.sessions.insert(operation, SentTo::One(session)),
        };
        self.order.push_back(operation);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.sessions.remove(&oldest);
        }
    }
}

/// The one table from what a runner says to what a caller can do about it.
pub(super) fn kind(code: RunnerErrorCode) -> ErrorKind {
    match code {
        RunnerErrorCode::AlreadyRunning => ErrorKind::Conflict,
        RunnerErrorCode::NotFound => ErrorKind::NotFound,
        RunnerErrorCode::FailedPrecondition => ErrorKind::FailedPrecondition,
        RunnerErrorCode::Unspecified | RunnerErrorCode::Internal | RunnerErrorCode::ResourceExhausted => {
            ErrorKind::Internal
        }
    }
}

fn outcome(answer: Answer) -> Result<Outcome, LaunchError> {
    Ok(match answer {
        Answer::Provision(made) => Outcome::Provisioned { container: made.container_name },
        Answer::Start(started) => Outcome::Started { session: started.session_id.parse().ok() },
        Answer::Stop(_) => Outcome::Stopped,
        Answer::Reload(_) => Outcome::Reloaded,
        Answer::Status(status) => Outcome::Status(status.statuses.iter().map(reported).collect()),
        Answer::Remove(_) => Outcome::Removed,
        Answer::Error(error) => {
            return Err(LaunchError::Refused { kind: kind(error.code()), message: error.message });
        }
    })
}

fn reported(status: &v1::AgentSessionStatus) -> Reported {
    Reported { session: status.session_id.parse().ok(), state: lifecycle(status.state()) }
}

fn wire(command: Command) -> Wire {
    match command {
        // An account here has neither persona nor role, and a client's word for them does not count.
        Command::Provision { account } => Wire::Provision(v1::ProvisionAgentWorkspaceRequest {
            agent_account_id: account.to_string(),
            ..Default::default()
        }),
        Command::Start { container, session, resume } => Wire::Start(v1::StartAgentSessionRequest {
            container_name: container,
            session_id: session.to_string(),
            resume_session_id: if resume { session.to_string() } else { String::new() },
        }),
        Command::Stop { session } => {
            Wire::Stop(v1::StopAgentSessionRequest { session_id: session.to_string() })
        }
        Command::Reload { session } => {
            Wire::Reload(v1::ReloadAgentSessionRequest { session_id: session.to_string() })
        }
        Command::Status { session } => Wire::Status(v1::GetAgentStatusRequest {
            session_id: session.map(|session| session.to_string()).unwrap_or_default(),
        }),
        Command::Remove { container } => {
            Wire::Remove(v1::RemoveAgentWorkspaceRequest { container_name: container, ..Default::default() })
        }
    }
}

/// A state as the domain knows it.
pub(crate) fn lifecycle(state: AgentSessionState) -> LifecycleState {
    match state {
        AgentSessionState::Unspecified => LifecycleState::Unspecified,
        AgentSessionState::Starting => LifecycleState::Starting,
        AgentSessionState::Ready => LifecycleState::Ready,
        AgentSessionState::Working => LifecycleState::Working,
        AgentSessionState::Stopped => LifecycleState::Stopped,
        AgentSessionState::Errored => LifecycleState::Errored,
        AgentSessionState::Disconnected => LifecycleState::Disconnected,
    }
}

/// A state as the wire has it.
pub(crate) fn wire_state(state: LifecycleState) -> AgentSessionState {
    match state {
        LifecycleState::Unspecified => AgentSessionState::Unspecified,
        LifecycleState::Starting => AgentSessionState::Starting,
        LifecycleState::Ready => AgentSessionState::Ready,
        LifecycleState::Working => AgentSessionState::Working,
        LifecycleState::Stopped => AgentSessionState::Stopped,
        LifecycleState::Errored => AgentSessionState::Errored,
        LifecycleState::Disconnected => AgentSessionState::Disconnected,
    }
}

#[cfg(test)]
mod tests {
    use compass_domain::TenantId;
    use compass_hub::sessions::Ticket;

    use super::*;

    fn runner() -> RunnerKey {
        RunnerKey::Named { tenant: TenantId::default_tenant(), name: "r1".into() }
    }

    fn session(byte: u8) -> SessionId {
        SessionId::from_bytes([byte; 16])
    }

    fn line() -> (Lines, Ticket, mpsc::Receiver<v1::SessionsResponse>) {
        let mut lines = Lines::default();
        let (queue, commands) = mpsc::channel(4);
        let ticket = Ticket::of(1);
        lines.attach(&runner(), ticket, queue);
        (lines, ticket, commands)
    }

    const STATUS: Command = Command::Status { session: None };

    #[test]
    fn runner_errors_have_their_kinds() {
        let table = [
            (RunnerErrorCode::Unspecified, ErrorKind::Internal),
            (RunnerErrorCode::AlreadyRunning, ErrorKind::Conflict),
            (RunnerErrorCode::NotFound, ErrorKind::NotFound),
            (RunnerErrorCode::Internal, ErrorKind::Internal),
            (RunnerErrorCode::ResourceExhausted, ErrorKind::Internal),
            (RunnerErrorCode::FailedPrecondition, ErrorKind::FailedPrecondition),
        ];
        for (code, expected) in table {
            assert_eq!(kind(code), expected, "{code:?}");
        }
    }

    #[tokio::test]
    async fn a_repeated_request_id_joins_and_both_get_the_result() {
        let (mut lines, ticket, mut commands) = line();
        let one = lines.send(ticket, "a", STATUS).unwrap();
        let two = lines.send(ticket, "a", STATUS).unwrap();
        let other = lines.send(ticket, "b", STATUS).unwrap();
        assert_eq!(commands.try_recv().unwrap().request_id, "a");
        assert_eq!(commands.try_recv().unwrap().request_id, "b");
        assert!(commands.try_recv().is_err(), "two were sent");
        let status = Answer::Status(v1::GetAgentStatusResponse::default());
        assert_eq!(lines.answer(ticket, "a", status), None);
        assert_eq!(one.result().await, Ok(Outcome::Status(Vec::new())));
        assert_eq!(two.result().await, Ok(Outcome::Status(Vec::new())));
        lines.detach(ticket);
        assert_eq!(other.result().await, Err(LaunchError::Detached));
    }

    #[tokio::test]
    async fn a_caller_that_gives_up_leaves_the_command_in_flight_for_a_later_one() {
        let (mut lines, ticket, mut commands) = line();
        drop(lines.send(ticket, "a", STATUS).unwrap());
        let later = lines.send(ticket, "a", STATUS).unwrap();
        lines.answer(ticket, "a", Answer::Stop(v1::StopAgentSessionResponse {}));
        assert_eq!(later.result().await, Ok(Outcome::Stopped));
        assert!(commands.try_recv().is_ok() && commands.try_recv().is_err(), "sent once");
    }

    #[test]
    fn a_command_without_an_id_is_an_error_and_an_unknown_result_is_ignored() {
        let (mut lines, ticket, _commands) = line();
        assert_eq!(lines.send(ticket, "", STATUS).unwrap_err(), LaunchError::NoRequestId);
        let answer = Answer::Stop(v1::StopAgentSessionResponse {});
        assert_eq!(lines.answer(ticket, "x", answer.clone()), Some(answer));
    }

    #[tokio::test]
    async fn a_later_stream_of_the_runner_fails_what_waits_on_the_earlier_one() {
        let (mut lines, ticket, _commands) = line();
        let waiting = lines.send(ticket, "a", STATUS).unwrap();
        let (queue, _later) = mpsc::channel(1);
        lines.attach(&runner(), Ticket::of(2), queue);
        assert_eq!(waiting.result().await, Err(LaunchError::Detached));
        lines.detach(ticket);
        assert_eq!(
            lines.ticket(&runner()),
            Some(Ticket::of(2)),
            "the end of the earlier one changes nothing"
        );
    }

    #[test]
    fn a_full_queue_is_told_at_once() {
        let (mut lines, ticket, _commands) = line();
        for id in ["a", "b", "c", "d"] {
            drop(lines.send(ticket, id, STATUS).unwrap());
        }
        assert_eq!(lines.send(ticket, "e", STATUS).unwrap_err(), LaunchError::Busy);
    }

    #[test]
    fn what_was_sent_without_waiting_is_remembered_within_a_bound() {
        let mut lines = Lines::default();
        let message = |number: usize| {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&number.to_be_bytes());
            MessageId::from_bytes(bytes)
        };
        for number in 0..=REMEMBERED {
            lines.note_sent(Ticket::of(1), message(number), session(1));
        }
        lines.note_sent(Ticket::of(1), message(REMEMBERED), session(2));
        assert_eq!(lines.sent.order.len(), REMEMBERED);
        assert_eq!(lines.sent_to(Ticket::of(1), &message(0).to_string()), None, "the oldest is forgotten");
        assert_eq!(lines.sent_to(Ticket::of(1), &message(1).to_string()), Some(SentTo::One(session(1))));
        assert_eq!(lines.sent_to(Ticket::of(1), &message(REMEMBERED).to_string()), Some(SentTo::Several));
        assert_eq!(lines.sent_to(Ticket::of(2), &message(1).to_string()), None, "another stream's");
        assert_eq!(lines.sent_to(Ticket::of(1), "nonsense"), None);
    }
}
