//! Agents that run on runners: placing, starting, watching and ending them.

use std::time::Duration;

use compass_proto::v1::{
    self as pb, AgentPlanEntryStatus, AgentSessionState, AgentToolCallStatus, session_event::Event as Wire,
};
use tonic::{Request, Streaming};

use crate::{
    Client, ClientError, DEADLINE,
    connect::within_deadline,
    model::{PlanStep, SessionEvent, SessionFrame, SessionStatus, Spawned},
};

/// How long a call may take that waits for a runner: the server asks it two things at the most.
const COMMAND_DEADLINE: Duration = Duration::from_secs(150);

/// What a session does, as it happens.
#[derive(Debug)]
pub struct SessionTail {
    stream: Streaming<pb::AgentSessionFrame>,
}

impl Client {
    /// Places an agent on a runner, if it is not there, and starts it. `runner` is needed if several are attached and
    /// the agent is on none. `key` makes sending it again safe.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; `already_exists` if the agent is live.
    pub async fn spawn_agent(
        &self,
        account_id: &str,
        runner: Option<&str>,
        key: &str,
    ) -> Result<Spawned, ClientError> {
        let request = patient(pb::SpawnAgentRequest {
            agent_account_id: account_id.into(),
            client_request_id: key.into(),
            runner_id: runner.unwrap_or_default().into(),
        });
        let reply = self.take(self.compass().spawn_agent(request).await?);
        Ok(Spawned { session_id: reply.session_id, container_name: reply.container_name })
    }

    /// Ends a session; ending it twice is fine.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn stop_session(&self, session_id: &str) -> Result<(), ClientError> {
        let request = patient(pb::StopAgentSessionRequest { session_id: session_id.into() });
        self.take(self.compass().stop_agent_session(request).await?);
        Ok(())
    }

    /// Restarts the program of a session; the session goes on.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn reload_session(&self, session_id: &str) -> Result<(), ClientError> {
        let request = patient(pb::ReloadAgentSessionRequest { session_id: session_id.into() });
        self.take(self.compass().reload_agent_session(request).await?);
        Ok(())
    }

    /// Gives up an agent's place on its runner; a session in it ends.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; `not_found` if there is no such place.
    pub async fn remove_container(&self, container_name: &str) -> Result<(), ClientError> {
        let request = patient(pb::RemoveAgentWorkspaceRequest {
            container_name: container_name.into(),
            client_request_id: String::new(),
        });
        self.take(self.compass().remove_agent_workspace(request).await?);
        Ok(())
    }

    /// The live sessions of the agents whose home channels the caller takes part in.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn sessions_now(&self) -> Result<Vec<SessionStatus>, ClientError> {
        let request = within_deadline(pb::GetAgentStatusRequest::default());
        let reply = self.take(self.compass().get_agent_status(request).await?);
        Ok(reply.statuses.into_iter().map(SessionStatus::from).collect())
    }

    /// Follows a session from now on.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; a server that does not begin to reply within [`DEADLINE`] is unreachable.
    pub async fn tail_session(&self, session_id: &str) -> Result<SessionTail, ClientError> {
        let request = pb::SubscribeAgentSessionRequest { session_id: session_id.into() };
        let mut compass = self.compass();
        let opened = tokio::time::timeout(DEADLINE, compass.subscribe_agent_session(request));
        let reply = opened.await.map_err(|_| {
            ClientError::Unreachable("the session's stream did not open in time".to_owned())
        })??;
        Ok(SessionTail { stream: self.take(reply) })
    }
}

impl SessionTail {
    /// The next frame; `None` after the session's last one.
    ///
    /// # Errors
    ///
    /// [`ClientError`] when the stream broke.
    pub async fn next(&mut self) -> Result<Option<SessionFrame>, ClientError> {
        Ok(self.stream.message().await?.map(SessionFrame::from))
    }
}

/// A request that both sides give up after [`COMMAND_DEADLINE`].
fn patient<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(COMMAND_DEADLINE);
    request
}

pub(crate) fn state(wire: AgentSessionState) -> Option<&'static str> {
    Some(match wire {
        AgentSessionState::Unspecified => return None,
        AgentSessionState::Starting => "starting",
        AgentSessionState::Ready => "ready",
        AgentSessionState::Working => "working",
        AgentSessionState::Stopped => "stopped",
        AgentSessionState::Errored => "errored",
        AgentSessionState::Disconnected => "disconnected",
    })
}

fn tool_status(wire: AgentToolCallStatus) -> &'static str {
    match wire {
        AgentToolCallStatus::Unspecified => "unknown",
        AgentToolCallStatus::Pending => "pending",
        AgentToolCallStatus::InProgress => "in progress",
        AgentToolCallStatus::Completed => "completed",
        AgentToolCallStatus::Failed => "failed",
    }
}

impl From<pb::AgentSessionStatus> for SessionStatus {
    fn from(wire: pb::AgentSessionStatus) -> Self {
        Self {
            state: state(wire.state()).unwrap_or("unknown"),
            session_id: wire.session_id,
            agent_account_id: wire.agent_account_id,
        }
    }
}

impl From<pb::AgentSessionFrame> for SessionFrame {
    fn from(wire: pb::AgentSessionFrame) -> Self {
        Self {
            state: state(wire.state()),
            at_unix_ms: wire.event.as_ref().map(|event| event.at_unix_ms).filter(|at| *at != 0),
            event: wire.event.map(|event| event.event.map_or(SessionEvent::Other, SessionEvent::from)),
        }
    }
}

impl From<Wire> for SessionEvent {
    fn from(wire: Wire) -> Self {
        match wire {
            Wire::AssistantText(part) => Self::Text { text: part.text },
            Wire::Thinking(part) => Self::Thinking { text: part.text },
            Wire::ToolCall(call) => Self::ToolCall {
                status: tool_status(call.status()),
                id: call.tool_call_id,
                title: call.title,
            },
            Wire::ToolCallUpdate(update) => Self::ToolCallUpdate {
                status: tool_status(update.status()),
                id: update.tool_call_id,
                output: update.output,
                changed_paths: update.diffs.into_iter().map(|diff| diff.path).collect(),
            },
            Wire::Plan(plan) => Self::Plan { steps: plan.entries.into_iter().map(PlanStep::from).collect() },
            Wire::Notice(notice) => Self::Notice { text: notice.text, link: notice.link },
        }
    }
}

impl From<pb::AgentPlanEntry> for PlanStep {
    fn from(wire: pb::AgentPlanEntry) -> Self {
        let status = match wire.status() {
            AgentPlanEntryStatus::Unspecified => "unknown",
            AgentPlanEntryStatus::Pending => "pending",
            AgentPlanEntryStatus::InProgress => "in progress",
            AgentPlanEntryStatus::Completed => "completed",
        };
        Self { content: wire.content, status }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_without_a_statement_has_no_state_and_an_unknown_kind_is_other() {
        let frame = pb::AgentSessionFrame { event: Some(pb::SessionEvent::default()), ..Default::default() };
        let frame = SessionFrame::from(frame);
        assert_eq!(frame, SessionFrame { state: None, at_unix_ms: None, event: Some(SessionEvent::Other) });
    }
}
