//! Frames on the wire.

use async_trait::async_trait;
use compass_agent::ports::{
    Activity, FileDiff, Frame, PlanStep, PlanStepStatus, PublishError, Publisher, SessionEvent, SessionState,
    ToolCallStatus,
};
use compass_proto::v1::{
    self, AgentPlanEntryStatus, AgentSessionState, AgentToolCallStatus, agent_frame::Frame as WireFrame,
    session_event::Event as WireEvent,
};

use super::AgentSocket;

#[async_trait]
impl Publisher for AgentSocket {
    async fn publish(&self, frames: &[Frame]) -> Result<(), PublishError> {
        let requests: Vec<_> = frames.iter().cloned().map(request).collect();
        let published = self.client().publish(tokio_stream::iter(requests)).await;
        let failed =
            |status: tonic::Status| PublishError(format!("{:?}: {}", status.code(), status.message()));
        published.map(drop).map_err(failed)
    }
}

fn request(frame: Frame) -> v1::PublishFrameRequest {
    let frame = match frame {
        Frame::State(state) => {
            WireFrame::Session(v1::SessionFrame { state: wire_state(state).into(), typed_event: None })
        }
        Frame::Event(event) => {
            let typed_event = Some(wire_event(event));
            WireFrame::Session(v1::SessionFrame { typed_event, ..v1::SessionFrame::default() })
        }
        Frame::DeliveryAck { message_id } => WireFrame::DeliveryAck(v1::DeliveryAck { message_id }),
        Frame::ControlAck { acked_seq, applied_above } => {
            WireFrame::ControlAck(v1::ControlAck { acked_seq, applied_above })
        }
        Frame::ReplayCompleteAck => WireFrame::ReplayCompleteAck(v1::ReplayCompleteAck {}),
    };
    v1::PublishFrameRequest { frame: Some(v1::AgentFrame { frame: Some(frame) }) }
}

fn wire_state(state: SessionState) -> AgentSessionState {
    match state {
        SessionState::Starting => AgentSessionState::Starting,
        SessionState::Ready => AgentSessionState::Ready,
        SessionState::Working => AgentSessionState::Working,
        SessionState::Stopped => AgentSessionState::Stopped,
        SessionState::Errored => AgentSessionState::Errored,
    }
}

pub(crate) fn wire_event(event: SessionEvent) -> v1::SessionEvent {
    let message_id = event.id.clone();
    let activity = match event.activity {
        Activity::Text { text } => WireEvent::AssistantText(v1::SessionAssistantText { text, message_id }),
        Activity::Thinking { text } => WireEvent::Thinking(v1::SessionThinking { text, message_id }),
        Activity::ToolCall { id, title, status } => {
            let status = wire_status(status).into();
            WireEvent::ToolCall(v1::SessionToolCall { tool_call_id: id, title, status })
        }
        Activity::ToolCallUpdate { id, status, output, diffs } => {
            let status = wire_status(status).into();
            let diffs = diffs.into_iter().map(wire_diff).collect();
            WireEvent::ToolCallUpdate(v1::SessionToolCallUpdate { tool_call_id: id, status, output, diffs })
        }
        Activity::Plan { steps } => {
            WireEvent::Plan(v1::SessionPlan { entries: steps.into_iter().map(wire_step).collect() })
        }
        Activity::Notice { text } => WireEvent::Notice(v1::SessionNotice { text, link: None }),
    };
    v1::SessionEvent { event_id: event.id, at_unix_ms: event.at_unix_ms, event: Some(activity) }
}

fn wire_diff(diff: FileDiff) -> v1::SessionFileDiff {
    let FileDiff { path, old_text, new_text } = diff;
    v1::SessionFileDiff { path, old_text, new_text }
}

fn wire_step(step: PlanStep) -> v1::AgentPlanEntry {
    let status = match step.status {
        PlanStepStatus::Pending => AgentPlanEntryStatus::Pending,
        PlanStepStatus::InProgress => AgentPlanEntryStatus::InProgress,
        PlanStepStatus::Completed => AgentPlanEntryStatus::Completed,
    };
    v1::AgentPlanEntry { content: step.content, status: status.into() }
}

fn wire_status(status: ToolCallStatus) -> AgentToolCallStatus {
    match status {
        ToolCallStatus::Pending => AgentToolCallStatus::Pending,
        ToolCallStatus::InProgress => AgentToolCallStatus::InProgress,
        ToolCallStatus::Completed => AgentToolCallStatus::Completed,
        ToolCallStatus::Failed => AgentToolCallStatus::Failed,
    }
}
