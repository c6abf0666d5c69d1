//! What the server asks of a runner that is one agent's own process.

use compass_agent::ports::LinkEvent;
use compass_proto::v1::{
    self, AgentSessionState, RunnerErrorCode, agent_control::Control, sessions_request::Result as Reply,
    sessions_response::Command,
};

use crate::mapping;

/// What a command changes and what is answered.
#[derive(Debug, Default)]
pub(crate) struct Handled {
    /// The result to send back; a delivered operation has none.
    pub(crate) reply: Option<Reply>,
    /// What the agent is told.
    pub(crate) event: Option<LinkEvent>,
    /// What becomes of the session.
    pub(crate) session: SessionChange,
}

/// What a command does to the session this process runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum SessionChange {
    /// Nothing.
    #[default]
    Unchanged,
    /// This one runs from now on.
    Started(String),
    /// None runs from now on.
    Ended,
}

/// Handles one command of the stream, for the session this process runs now.
pub(crate) fn handle(command: Option<Command>, session: Option<&str>) -> Handled {
    match command {
        Some(Command::Start(start)) => {
            let session_id = start.session_id;
            Handled {
                reply: Some(Reply::Start(v1::StartAgentSessionResponse { session_id: session_id.clone() })),
                event: Some(LinkEvent::Attached { session_id: session_id.clone() }),
                session: SessionChange::Started(session_id),
            }
        }
        Some(Command::Stop(stop)) if Some(stop.session_id.as_str()) == session => Handled {
            reply: Some(Reply::Stop(v1::StopAgentSessionResponse {})),
            event: Some(LinkEvent::Stopped),
            session: SessionChange::Ended,
        },
        Some(Command::Reload(reload)) if Some(reload.session_id.as_str()) == session => Handled {
            reply: Some(Reply::Reload(v1::ReloadAgentSessionResponse { session_id: reload.session_id })),
            ..Handled::default()
        },
        Some(Command::Status(_)) => {
            Handled { reply: Some(Reply::Status(status(session))), ..Handled::default() }
        }
        Some(Command::DeliverControl(control)) => deliver(control, session),
        Some(Command::Stop(_) | Command::Reload(_)) => {
            refused(RunnerErrorCode::NotFound, "this process does not run that session")
        }
        Some(Command::Provision(_) | Command::Remove(_)) => {
            refused(RunnerErrorCode::FailedPrecondition, "an attached process is its own only placement")
        }
        None => refused(RunnerErrorCode::Unspecified, "a command this version does not know"),
    }
}

fn deliver(control: v1::DispatchControl, session: Option<&str>) -> Handled {
    if Some(control.session_id.as_str()) != session {
        return refused(RunnerErrorCode::NotFound, "this process does not run that session");
    }
    match control.op.and_then(|op| op.control) {
        Some(Control::Deliver(op)) => told(LinkEvent::Delivery(Box::new(mapping::deliver(op)))),
        Some(Control::Steer(op)) => told(LinkEvent::Delivery(Box::new(mapping::steer(op)))),
        Some(Control::ReplayComplete(_)) => Handled::default(),
        Some(Control::Prompt(_)) | None => {
            refused(RunnerErrorCode::FailedPrecondition, "an attached process takes messages only")
        }
    }
}

fn told(event: LinkEvent) -> Handled {
    Handled { event: Some(event), ..Handled::default() }
}

fn refused(code: RunnerErrorCode, message: &str) -> Handled {
    let error = v1::RunnerError { code: code.into(), message: message.to_owned() };
    Handled { reply: Some(Reply::Error(error)), ..Handled::default() }
}

fn status(session: Option<&str>) -> v1::GetAgentStatusResponse {
    let statuses = session.map(|session_id| v1::AgentSessionStatus {
        session_id: session_id.to_owned(),
        state: AgentSessionState::Ready.into(),
        agent_account_id: String::new(),
    });
    v1::GetAgentStatusResponse { statuses: statuses.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(session_id: &str, control: Control) -> Command {
        let op = v1::AgentControl { control: Some(control), control_seq: 0 };
        Command::DeliverControl(v1::DispatchControl { session_id: session_id.into(), op: Some(op) })
    }

    #[test]
    fn a_start_adopts_the_session_the_server_minted() {
        let start = v1::StartAgentSessionRequest { session_id: "s".into(), ..Default::default() };
        let handled = handle(Some(Command::Start(start)), None);
        assert_eq!(handled.session, SessionChange::Started("s".into()));
        assert!(matches!(handled.reply, Some(Reply::Start(reply)) if reply.session_id == "s"));
    }

    #[test]
    fn a_message_for_this_session_is_told_and_for_another_refused() {
        let message = || Control::Deliver(v1::DeliverControl::default());
        let handled = handle(Some(control("s", message())), Some("s"));
        assert!(matches!(handled.event, Some(LinkEvent::Delivery(_))));
        assert!(handled.reply.is_none());
        let handled = handle(Some(control("other", message())), Some("s"));
        assert!(handled.event.is_none());
        assert!(matches!(handled.reply, Some(Reply::Error(_))));
    }

    #[test]
    fn a_steer_says_that_it_interrupts() {
        let handled = handle(Some(control("s", Control::Steer(v1::SteerControl::default()))), Some("s"));
        assert!(matches!(handled.event, Some(LinkEvent::Delivery(delivery)) if delivery.steer));
    }

    #[test]
    fn status_lists_the_session_that_runs() {
        for (session, count) in [(None, 0), (Some("s"), 1)] {
            let handled = handle(Some(Command::Status(v1::GetAgentStatusRequest::default())), session);
            assert!(matches!(handled.reply, Some(Reply::Status(reply)) if reply.statuses.len() == count));
        }
    }

    #[test]
    fn an_unknown_command_is_refused_not_dropped() {
        assert!(matches!(handle(None, Some("s")).reply, Some(Reply::Error(_))));
    }
}
