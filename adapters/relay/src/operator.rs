//! OperatorService: agents with all that keeps them from being reached, and what is wrong.

use std::sync::Arc;

use compass_domain::WakePolicy;
use compass_hub::{
    Hub,
    notes::Note,
    operator::{AgentView, Finding, FindingKind},
    ports::{AttachMode, LiveSession, Placement},
};
use compass_proto::v1::{self, operator_service_server::OperatorService};
use tonic::{Request, Response, Status};

use crate::{auth::caller, mapping, runner::commands::wire_state, status::status};

/// The door of operators.
pub(crate) struct OperatorDoor {
    pub(crate) hub: Arc<Hub>,
}

#[tonic::async_trait]
impl OperatorService for OperatorDoor {
    async fn list_agents(
        &self,
        request: Request<v1::ListAgentsRequest>,
    ) -> Result<Response<v1::ListAgentsResponse>, Status> {
        let caller = caller(&request)?;
        let agents = self.hub.agents(&caller.tenant, caller.actor).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::ListAgentsResponse { agents: agents.into_iter().map(overview).collect() }))
    }

    async fn diagnose(
        &self,
        request: Request<v1::DiagnoseRequest>,
    ) -> Result<Response<v1::DiagnoseResponse>, Status> {
        let caller = caller(&request)?;
        let found = self.hub.diagnose(&caller.tenant).await.map_err(|error| status(&error))?;
        let findings = found.findings.into_iter().map(finding).collect();
        Ok(Response::new(v1::DiagnoseResponse { findings, examined_messages: found.examined }))
    }
}

fn overview(view: AgentView) -> v1::AgentOverview {
    let AgentView { backlog, presence, sessions, placement, held, notes } = view;
    v1::AgentOverview {
        account_id: backlog.account.to_string(),
        handle: backlog.handle,
        owner_account_id: backlog.owner.to_string(),
        presence: mapping::presence(presence).into(),
        sessions: sessions.into_iter().map(session).collect(),
        placement: placement.map(placed),
        owed_delivers: backlog.delivers,
        owed_steers: backlog.steers,
        braked: backlog.braked,
        held,
        notes: notes.into_iter().map(note).collect(),
    }
}

fn session(session: LiveSession) -> v1::AgentSession {
    v1::AgentSession {
        session_id: session.session.to_string(),
        runner: session.runner,
        node_id: session.node.to_string(),
        takes_deliveries: session.mode == AttachMode::Deliveries,
        state: wire_state(session.state).into(),
    }
}

fn placed(placement: Placement) -> v1::AgentPlacement {
    let wake = match placement.wake {
        WakePolicy::Mention => v1::WakePolicy::Mention,
        WakePolicy::Any => v1::WakePolicy::Any,
        WakePolicy::Never => v1::WakePolicy::Never,
    };
    v1::AgentPlacement {
        runner: placement.runner,
        container_name: placement.container,
        wake: wake.into(),
        failures: placement.wake_failures,
        next_wake_unix_ms: placement.wake_not_before.map_or(0, |at| at.0),
        error: placement.wake_error.unwrap_or_default(),
    }
}

fn note(note: Note) -> v1::AgentNote {
    v1::AgentNote { at_unix_ms: note.at.0, text: note.text, times: note.times }
}

fn finding(finding: Finding) -> v1::Finding {
    let kind = match finding.kind {
        FindingKind::Corrupt => v1::FindingKind::Corrupt,
        FindingKind::FailingWake => v1::FindingKind::FailingWake,
        FindingKind::NoRunner => v1::FindingKind::NoRunner,
        FindingKind::Overdue => v1::FindingKind::Overdue,
    };
    v1::Finding {
        kind: kind.into(),
        text: finding.text,
        account_id: finding.account.map(|id| id.to_string()).unwrap_or_default(),
        message_id: finding.message.map(|id| id.to_string()).unwrap_or_default(),
    }
}
